package conformance_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func quantity(n any) object {
	return object{"request": object{"quantity": n}}
}

func TestDecisionsPart5_TheQuantityOfARequest(t *testing.T) {
	proves(t, "decisions 5 PATCH request: changes the quantity, not below num_allocated", "2.4 fields",
		"decisions 4 quantity", "decisions 1 422")
	c, driver, buses := school.Booker(t), school.User(t), school.ResourceGroup(t)
	school.Administrator(t, buses, driver)
	made := school.Event(t, c, nil, buses)
	id := made.Int(t, "event.requests.0.id")
	a := c.Patch(t, requestPath(id), quantity(3))
	school.Golden(t, a, http.StatusOK, "request_changed.json", "50001", id, "10001", buses.ID, "Sample minibuses",
		buses.Name, "20001", buses.EntityID)
	school.Login(t, driver).Patch(t, requestPath(id), quantity("1000")).WantCode(t, http.StatusOK)
	for _, n := range []any{0, -1, 1001, 1.5, "many", nil, true} {
		a := c.Patch(t, requestPath(id), quantity(n))
		equal(t, "quantity "+jsonText(n), fmt.Sprint(a.Code, " ", a.Keys(t, "request.errors")), "422 quantity")
		equal(t, "its id and valid", a.At(t, "request.id")+" "+a.At(t, "request.valid"), fmt.Sprintf("%d false", id))
	}
	for message, n := range map[string]any{"must be at least 1": 0, "must be at most 1000": 1001,
		"is not a number": "many", "can't be blank": nil} {
		c.Patch(t, requestPath(id), quantity(n)).Equal(t, "request.errors", `{"quantity":["`+message+`"]}`)
	}
	equal(t, "the quantity", c.Get(t, pathIn(t, made)).At(t, "event.requests.0.quantity"), 1000)
	for _, body := range []string{`{}`, `{"request":null}`, `{"quantity":2}`, `{`} {
		c.Do(t, http.MethodPatch, requestPath(id), body).WantCode(t, http.StatusBadRequest)
	}
	c.Patch(t, requestPath(noSuchID), quantity(1)).Want(t, http.StatusNotFound,
		missing("Not found", "Request", noSuchID))
}

func TestDecisionsPart5_DeletingARequest(t *testing.T) {
	proves(t, "decisions 5 DELETE request: OK, with its allocations",
		"decisions 1 404 records: missing element, event, note, request, category, user: 404",
		"decisions 1 exception: exception body: RecordNotFound, Couldn't find Commitment with 'id'=344; for Event, "+
			"Commitment, Request, Note")
	c, buses, room := school.Booker(t), school.ResourceGroup(t), school.Location(t)
	made := school.Event(t, c, nil, buses, room, buses)
	id := made.Int(t, "event.requests.0.id")
	c.Delete(t, requestPath(id)).Want(t, http.StatusOK, `{"status":"OK"}`)
	a := c.Get(t, pathIn(t, made))
	equal(t, "what is left", a.At(t, "event.requests")+a.At(t, "event.commitments"),
		"[]"+made.At(t, "event.commitments"))
	for range 2 {
		c.Delete(t, requestPath(id)).Want(t, http.StatusNotFound, missing("Not found", "Request", id))
	}
	equal(t, "asked for again", add(t, c, made.Int(t, "event.id"), buses).At(t, "event.requests.0.quantity"), 1)
}

// garage is a resource group with minibuses, and a user who allocates them.
type garage struct {
	driver User
	client *servicetest.Client // the driver's
	group  Element
	buses  []Element
}

func (s *School) garage(t *testing.T, buses int) garage {
	t.Helper()
	g := garage{driver: s.User(t)}
	for range buses {
		g.buses = append(g.buses, s.Element(t, object{"entity_type": "Service", "name": s.Unique("Minibus")}))
	}
	g.group = s.ResourceGroup(t, g.buses...)
	s.Administrator(t, g.group, g.driver)
	g.client = s.Login(t, g.driver)
	return g
}

// allocate allocates elements to a request.
func allocate(t *testing.T, c *servicetest.Client, request int64, elements ...Element) servicetest.Answer {
	t.Helper()
	return c.Post(t, requestPath(request)+"/allocations", object{"elements": sent(elements...)})
}

func TestDecisionsPart5_Allocating(t *testing.T) {
	proves(t, "decisions 5 allocate", "decisions 5 over quantity", "3.2 start")
	c, g, stranger := school.Booker(t), school.garage(t, 4), school.Location(t)
	pool := school.ResourceGroup(t)
	made := school.Event(t, c, nil, g.group, g.group, g.buses[3], pool) // two asked for, one taken directly
	request := made.Int(t, "event.requests.0.id")
	form := func(allocated int) string {
		return fmt.Sprintf(`[{"id":%d,"quantity":2,"num_allocated":%d,"element":%s,"valid":true},`+
			`{"id":%d,"quantity":1,"num_allocated":0,"element":%s,"valid":true}]`, request, allocated, g.group.List(),
			made.Int(t, "event.requests.1.id"), pool.List())
	}
	a := allocate(t, g.client, request, g.buses[0]).Must(t, http.StatusOK)
	equal(t, "keys of the answer", a.Keys(t, "")+": "+a.Keys(t, "event"),
		"status,event,failures: id,body,starts_at,ends_at,all_day,commitments,requests,valid")
	equal(t, "the status", a.Text(t, "status"), "OK")
	equal(t, "the commitment", a.At(t, "event.commitments.1"),
		fmt.Sprintf(`{"id":%d,"status":"uncontrolled","element":%s,"valid":true}`, a.Int(t, "event.commitments.1.id"),
			g.buses[0].List()))
	equal(t, "the request", a.At(t, "event.requests"), form(1))

	a = g.client.Post(t, requestPath(request)+"/allocations", object{
		"elements": []any{g.buses[0].Sent(), "no-id", stranger.ID, g.buses[3].ID, g.buses[1].Sent(), g.buses[2].Sent()},
	}).Must(t, http.StatusOK)
	b := decode[booked](t, a)
	equal(t, "failures", b.failures(),
		fmt.Sprintf("0 %d Commitment, 1 no-id Hash, 2 %d Commitment, 3 %d Commitment, 5 %d Commitment", g.buses[0].ID,
			stranger.ID, g.buses[3].ID, g.buses[2].ID))
	for _, i := range []int{0, 3} {
		equal(t, "of what is on the event", a.At(t, fmt.Sprintf("failures.%d.item.errors", i)),
			`{"element_id":["has already been taken"]}`)
	}
	for _, i := range []int{0, 2, 3, 4} {
		equal(t, "id and valid of a failed one", a.At(t,
			fmt.Sprintf("failures.%d.item.id", i))+" "+a.At(t, fmt.Sprintf("failures.%d.item.valid", i)), "null false")
	}
	equal(t, "committed", b.elements(), []int64{g.buses[3].ID, g.buses[0].ID, g.buses[1].ID})
	equal(t, "the request", c.Get(t, pathIn(t, made)).At(t, "event.requests"), form(2))
	equal(t, "the minibus's day", listed(t, on(t, c, g.buses[1], "start_date=2019-04-10")), made.Text(t, "event.body"))
	equal(t, "the listing of the group",
		g.client.Get(t, elementPath(g.group)+"/requests?start_date=2019-04-10").At(t, "requests.0.num_allocated"), 2)
}

// TestDecisionsPart5_MembersByTheDayOfTheEvent: an element must be in the group on the day of the event, not today,
// directly or through a nested group.
func TestDecisionsPart5_MembersByTheDayOfTheEvent(t *testing.T) {
	proves(t,
		"decisions 5 allocate: POST allocations by an administrator of the group: current members, not on the "+
			"event: an uncontrolled commitment; num_allocated rises")
	c, g := school.Booker(t), school.garage(t, 0)
	then, before, after, nested := school.Property(t), school.Property(t), school.Property(t), school.Property(t)
	school.Member(t, g.group, then, "2019-04-10", "2019-04-10")
	school.Member(t, g.group, before, "", "2019-04-09")
	school.Member(t, g.group, after, "2019-04-11", "")
	inner := school.Group(t, nested) // no item, but what is in it is one
	school.Member(t, g.group, inner, "", "")
	gone := school.Property(t)
	school.Member(t, g.group, gone, "", "")
	school.Admin().Delete(t, elementAdmin(gone)).Must(t, http.StatusOK)
	made := school.Event(t, c, nil, g.group, g.group, g.group, g.group, g.group)
	a := allocate(t, g.client, made.Int(t, "event.requests.0.id"), before, then, after, nested, gone,
		inner).Must(t, http.StatusOK)
	equal(t, "allocated", decode[booked](t, a).elements(), []int64{then.ID, nested.ID})
	equal(t, "failures", decode[booked](t, a).failures(),
		fmt.Sprintf("0 %d Commitment, 2 %d Commitment, 4 %d Commitment, 5 %d Commitment", before.ID, after.ID, gone.ID,
			inner.ID))
	for i, ends := range []string{"2019-04-11 00:01", "2019-04-11 00:00"} { // then is a member on the first day alone
		long := school.Event(t, c, object{"starts_at": "2019-04-10 11:00", "ends_at": ends}, g.group)
		a := allocate(t, g.client, long.Int(t, "event.requests.0.id"), then)
		equal(t, "allocated to an event until "+ends, a.At(t, "event.requests.0.num_allocated"), i)
	}
}

func TestDecisionsPart5_AnAllocationThatCannotBeRead(t *testing.T) {
	proves(t, "decisions 5 allocate", "decisions 1 400 elements")
	g := school.garage(t, 2)
	made := school.Event(t, school.Booker(t), nil, g.group)
	path := requestIn(t, made) + "/allocations"
	for _, body := range []string{`{}`, `{"elements":null}`, `[]`, `{`} {
		g.client.Do(t, http.MethodPost, path, body).WantCode(t, http.StatusBadRequest)
	}
	allocate(t, g.client, noSuchID, g.buses[0]).Want(t, http.StatusNotFound, missing("Not found", "Request", noSuchID))
	equal(t, "allocated so far", school.Admin().Get(t, pathIn(t, made)).At(t, "event.requests.0.num_allocated"), 0)
	// one bare id, as for add
	a := g.client.Post(t, path, object{"elements": g.buses[1].ID})
	equal(t, "allocated by the administrator", a.Must(t, http.StatusOK).At(t, "event.requests.0.num_allocated"), 1)
}

func TestDecisionsPart5_DeletingAnAllocationLowersNumAllocated(t *testing.T) {
	proves(t, "decisions 5 deallocate: deleting such a commitment lowers num_allocated", "decisions 5 PATCH request",
		"decisions 5 DELETE request")
	c, g := school.Booker(t), school.garage(t, 3)
	made := school.Event(t, c, nil, g.group, g.group, g.group)
	path, request := pathIn(t, made), made.Int(t, "event.requests.0.id")
	a := allocate(t, g.client, request, g.buses...).Must(t, http.StatusOK)
	c.Delete(t, commitmentIn(t, a, 0)).Want(t, http.StatusOK, `{"status":"OK"}`)
	equal(t, "num_allocated", c.Get(t, path).At(t, "event.requests.0.num_allocated"), 2)
	below := c.Patch(t, requestPath(request), quantity(1))
	equal(t, "a quantity below num_allocated", fmt.Sprint(below.Code, " ", below.Keys(t, "request.errors")),
		"422 quantity")
	equal(t, "a quantity of num_allocated",
		c.Patch(t, requestPath(request), quantity(2)).Must(t, http.StatusOK).At(t, "request.num_allocated"), 2)
	c.Delete(t, requestPath(request)).Want(t, http.StatusOK, `{"status":"OK"}`)
	a = c.Get(t, path)
	equal(t, "after the request is deleted", a.At(t, "event.commitments")+a.At(t, "event.requests"), "[][]")
	equal(t, "the minibus's day", listed(t, on(t, c, g.buses[2], "start_date=2019-04-10")), "")
}

func TestDecisionsPart5_ParallelAllocationsNeverExceedTheQuantity(t *testing.T) {
	proves(t, "decisions 5 over quantity: allocating over the quantity: a failure", "decisions 5 allocate")
	c, g := school.Booker(t), school.garage(t, 10)
	made := school.Event(t, c, nil, g.group, g.group, g.group, g.group)
	request := made.Int(t, "event.requests.0.id")
	succeeded := 0
	for _, a := range atOnce(t, 40, func(i int) (string, string, any) {
		return http.MethodPost, requestPath(request) + "/allocations", object{"elements": sent(g.buses[i%len(g.buses)])}
	}, g.client, school.Login(t, g.driver)) {
		if len(decode[booked](t, a.Must(t, http.StatusOK)).Failures) == 0 {
			succeeded++
		}
	}
	b := decode[booked](t, c.Get(t, pathIn(t, made)))
	distinct := map[int64]bool{}
	for _, id := range b.elements() {
		distinct[id] = true
	}
	equal(t, "successes, num_allocated, commitments, minibuses",
		fmt.Sprint(succeeded, b.Event.Requests[0].NumAllocated, len(b.Event.Commitments), len(distinct)), "4 4 4 4")
}

// busy makes a busy category, and returns the fields of an event in it.
func (s *School) busy(t *testing.T) object {
	t.Helper()
	made := s.Admin().Post(t, "/api/admin/eventcategories",
		object{"eventcategory": object{"name": s.Unique("Outing"), "busy": true}})
	return object{"event_category_id": made.Must(t, http.StatusCreated).Int(t, "eventcategory.id")}
}

func TestDecisionsPart5_AnElementIsAllocatedToOneEventAtATime(t *testing.T) {
	proves(t, "decisions 5 allocation clash", "decisions 5 allocate")
	c, g := school.Booker(t), school.garage(t, 2)
	fields := school.busy(t)
	first := school.Event(t, c, fields, g.group)
	allocate(t, g.client, first.Int(t, "event.requests.0.id"), g.buses[0]).Must(t, http.StatusOK)
	second := school.Event(t, c, fields, g.group, g.group)
	request := second.Int(t, "event.requests.0.id")
	a := allocate(t, g.client, request, g.buses...).Must(t, http.StatusOK)
	equal(t, "failures", decode[booked](t, a).failures(), fmt.Sprintf("0 %d Commitment", g.buses[0].ID))
	equal(t, "why", a.At(t, "failures.0.item.errors"), `{"element_id":["is already booked"]}`)
	equal(t, "allocated", decode[booked](t, a).elements(), []int64{g.buses[1].ID})
	a = g.client.Post(t, requestPath(request)+"/allocations", object{
		"elements": sent(g.buses[0]), "clashes": "allow"}).Must(t, http.StatusOK)
	equal(t, "failures when clashes are ignored", a.At(t, "failures"), "[]")
	equal(t, "num_allocated", a.At(t, "event.requests.0.num_allocated"), 2)
}

func TestDecisionsPart5_ParallelAllocationsOfOneElementToManyEventsSucceedOnce(t *testing.T) {
	proves(t,
		"decisions 5 allocation clash: an element that a busy event holds at that time: a failure, unless the "+
			`request says "clashes": "allow"`)
	c, g := school.Booker(t), school.garage(t, 1)
	fields, requests := school.busy(t), make([]int64, 12)
	for i := range requests {
		requests[i] = school.Event(t, c, fields, g.group).Int(t, "event.requests.0.id")
	}
	succeeded := 0
	for _, a := range atOnce(t, len(requests), func(i int) (string, string, any) {
		return http.MethodPost, requestPath(requests[i]) + "/allocations", object{"elements": sent(g.buses[0])}
	}, g.client, school.Login(t, g.driver)) {
		if len(decode[booked](t, a.Must(t, http.StatusOK)).Failures) == 0 {
			succeeded++
		}
	}
	equal(t, "successes", succeeded, 1)
}

func TestDecisionsPart5_TheInboxOfDecisions(t *testing.T) {
	proves(t, "decisions 5 inbox: GET /api/commitments?status=: those the caller may decide, oldest event first, paged")
	c, keeper, calendar, hall := school.Booker(t), school.User(t, "can_add_events"), school.Property(t),
		school.Location(t)
	school.Administrator(t, calendar, keeper)
	school.Administrator(t, hall, keeper)
	k := school.Login(t, keeper)
	list := func(query string) servicetest.Answer { return k.Get(t, "/api/commitments"+query) }
	list("?status=requested").Want(t, http.StatusOK, `{"status":"OK","commitments":[],"next":null}`)
	made := map[string]servicetest.Answer{}
	for title, starts := range map[string]string{"third": "2019-04-12 09:00", "first": "2019-04-10 09:00",
		"second": "2019-04-11 09:00"} {
		made[title] = school.Event(t, c, object{"body": title, "starts_at": starts, "ends_at": starts},
			calendar, school.Controlled(t), school.Staff(t))
	}
	school.Event(t, k, object{"body": "own"}, calendar) // uncontrolled: nothing to decide
	a := list("?status=requested").Must(t, http.StatusOK)
	equal(t, "requested", listed(t, a), strings.ReplaceAll("first@C, second@C, third@C", "C", calendar.Sent()))
	first := made["first"]
	equal(t, "the first", a.At(t, "commitments.0"),
		fmt.Sprintf(`{"id":%d,"status":"requested","element":%s,"event":%s,"valid":true}`,
			first.Int(t, "event.commitments.0.id"), calendar.List(),
			school.summary(t, first.Int(t, "event.id"), "first", "2019-04-10 09:00", "2019-04-10 09:00", false)))
	decide(t, k, made["second"].Int(t, "event.commitments.0.id"), "noted").Must(t, http.StatusOK)
	decide(t, k, made["third"].Int(t, "event.commitments.0.id"), "rejected").Must(t, http.StatusOK)
	for query, want := range map[string]string{
		"?status=requested": "first", "?status=noted": "second", "?status=rejected": "third", "?status=confirmed": "",
		"?status=requested,noted":                                "first, second",
		"?status=requested,noted,rejected,confirmed":             "first, second, third",
		"?status=requested,noted,rejected&start_date=2019-04-11": "second, third",
		"?status=requested,noted&start_date=2019-04-12":          "",
	} {
		equal(t, query, strings.ReplaceAll(listed(t, list(query)), "@"+calendar.Sent(), ""), want)
	}
	page := list("?status=requested,noted,rejected&limit=2").Must(t, http.StatusOK)
	equal(t, "the first page", strings.ReplaceAll(listed(t, page), "@"+calendar.Sent(), ""), "first, second")
	page = list("?status=requested,noted,rejected&limit=2&after="+page.Text(t, "next")).Must(t, http.StatusOK)
	equal(t, "the last page", strings.ReplaceAll(listed(t, page), "@"+calendar.Sent(), "")+" "+page.At(t, "next"),
		"third null")
	// Two entries of an event that starts as another one does are in the order of ids, and each is on one page.
	both := school.Event(t, c, object{"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 09:00"}, hall, calendar)
	all := list("?status=requested,noted")
	equal(t, "events in order", slices.IsSorted(all.Ints(t, "commitments.#.event.id")[:3]), true)
	var paged []int64
	for page := list("?status=requested,noted&limit=1"); ; {
		paged = append(paged, page.Must(t, http.StatusOK).Int(t, "commitments.0.id"))
		if page.At(t, "next") == "null" {
			break
		}
		page = list("?status=requested,noted&limit=1&after=" + page.Text(t, "next"))
	}
	equal(t, "page by page", paged, all.Ints(t, "commitments.#.id"))
	c.Delete(t, pathIn(t, both)).Must(t, http.StatusOK)
	for _, query := range []string{"?status=maybe", "?status=requested,", "?status=requested&limit=0",
		"?status=requested&limit=1001", "?status=requested&limit=x", "?status=requested&after=x", "?start_date=x"} {
		list(query).WantCode(t, http.StatusBadRequest)
	}
	// an empty list for users who decide nothing
	for _, other := range []*servicetest.Client{c, school.As(t, "admin"), school.As(t)} {
		other.Get(t, "/api/commitments?status=requested,noted,rejected").Want(t, http.StatusOK,
			`{"status":"OK","commitments":[],"next":null}`)
	}
	c.Delete(t, pathIn(t, first)).Must(t, http.StatusOK)
	equal(t, "after the event is deleted", listed(t, list("?status=requested")), "")
}

func TestDecisionsPart5_TheInboxOfAllocations(t *testing.T) {
	proves(t, "decisions 5 outstanding: GET /api/requests?status=outstanding: those the caller may allocate")
	c, g := school.Booker(t), school.garage(t, 2)
	list := func(query string) servicetest.Answer {
		return g.client.Get(t, "/api/requests?status=outstanding"+query)
	}
	list("").Want(t, http.StatusOK, `{"status":"OK","requests":[],"next":null}`)
	later := school.Event(t, c, object{"body": "later", "starts_at": "2019-04-11 09:00",
		"ends_at": "2019-04-11 10:00"}, g.group)
	sooner := school.Event(t, c, object{"body": "sooner"}, g.group, g.group, school.ResourceGroup(t))
	form := func(made servicetest.Answer, quantity, allocated int, title, starts, ends string) string {
		return fmt.Sprintf(`{"id":%d,"quantity":%d,"num_allocated":%d,"element":%s,"event":%s,"valid":true}`,
			made.Int(t, "event.requests.0.id"), quantity, allocated, g.group.List(),
			school.summary(t, made.Int(t, "event.id"), title, starts, ends, false))
	}
	last := form(later, 1, 0, "later", "2019-04-11 09:00", "2019-04-11 10:00")
	equal(t, "outstanding", list("").At(t, "requests"),
		"["+form(sooner, 2, 0, "sooner", "2019-04-10 09:00", "2019-04-10 10:00")+","+last+"]")
	allocate(t, g.client, sooner.Int(t, "event.requests.0.id"), g.buses[0]).Must(t, http.StatusOK)
	equal(t, "one of two allocated", list("").At(t, "requests.0"),
		form(sooner, 2, 1, "sooner", "2019-04-10 09:00", "2019-04-10 10:00"))
	page := list("&limit=1").Must(t, http.StatusOK)
	equal(t, "the first page", page.Len(t, "requests"), 1)
	equal(t, "the second page", list("&limit=1&after="+page.Text(t, "next")).At(t, "requests"), "["+last+"]")
	school.Event(t, c, object{"body": "long", "starts_at": "2019-04-09 09:00", "ends_at": "2019-04-11 00:00"}, g.group)
	for day, want := range map[string]int{"2019-04-09": 3, "2019-04-10": 3, "2019-04-11": 1, "2020-04-09": 0} {
		equal(t, "from "+day+" on", list("&start_date="+day).Len(t, "requests"), want)
	}
	page = list("&start_date=2019-04-10&limit=2").Must(t, http.StatusOK)
	equal(t, "the second page from a day on",
		list("&start_date=2019-04-10&limit=2&after="+page.Text(t, "next")).At(t, "requests"), "["+last+"]")
	c.Delete(t, eventPath(list("").Int(t, "requests.0.event.id"))).Must(t, http.StatusOK)
	allocate(t, g.client, sooner.Int(t, "event.requests.0.id"), g.buses[1]).Must(t, http.StatusOK)
	equal(t, "all allocated", list("").At(t, "requests"), "["+last+"]")
	c.Patch(t, requestIn(t, sooner), quantity(3)).Must(t, http.StatusOK)
	equal(t, "one more asked for", list("").Len(t, "requests"), 2)
	for _, other := range []*servicetest.Client{c, school.As(t, "admin")} {
		other.Get(t, "/api/requests?status=outstanding").Want(t, http.StatusOK,
			`{"status":"OK","requests":[],"next":null}`)
	}
	for _, query := range []string{"status=maybe", "status=requested", "limit=x", "after=AAAA"} {
		g.client.Get(t, "/api/requests?"+query).WantCode(t, http.StatusBadRequest)
	}
}
