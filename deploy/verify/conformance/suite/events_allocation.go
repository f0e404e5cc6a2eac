package suite

import (
	"fmt"
	"net/http"
	"strings"
)

func allocationChecks() []Check {
	return []Check{
		prove("TestDecisionsPart5_TheQuantityOfARequest", quantityOfARequest, "decisions 5 PATCH request", "2.4 fields", "decisions 4 quantity", "decisions 1 422"),
		prove("TestDecisionsPart5_DeletingARequest", deletingARequest, "decisions 5 DELETE request", "decisions 1 404 records", "decisions 1 exception"),
		prove("TestDecisionsPart5_Allocating", allocating, "decisions 5 allocate", "decisions 5 over quantity", "3.2 start"),
		prove("TestDecisionsPart5_MembersByTheDayOfTheEvent", allocatingByDay, "decisions 5 allocate"),
		prove("TestDecisionsPart5_OnlyAdministratorsOfTheGroupAllocate", whoAllocates, "decisions 5 allocate", "decisions 8 not implied", "decisions 1 400 elements"),
		prove("TestDecisionsPart5_DeletingAnAllocationLowersNumAllocated", deallocating, "decisions 5 deallocate", "decisions 5 PATCH request", "decisions 5 DELETE request"),
		prove("TestDecisionsPart5_ParallelAllocationsNeverExceedTheQuantity", parallelAllocations, "decisions 5 over quantity", "decisions 5 allocate"),
		prove("TestDecisionsPart5_TheInboxOfDecisions", inboxOfDecisions, "decisions 5 inbox"),
		prove("TestDecisionsPart5_TheInboxOfAllocations", inboxOfAllocations, "decisions 5 outstanding"),
	}
}

func requestPath(id int64) string { return fmt.Sprintf("/api/requests/%d", id) }

func quantity(n any) map[string]any {
	return map[string]any{"request": map[string]any{"quantity": n}}
}

func quantityOfARequest(t *T) {
	c, driver, buses := t.Booker(), t.User(), t.ResourceGroup()
	t.Administrator(buses, driver)
	made := t.Event(c, nil, buses)
	id := made.Int("event.requests.0.id")
	a := c.Patch(requestPath(id), quantity(3))
	t.Golden(a, http.StatusOK, "request_changed.json", "50001", id, "10001", buses.ID, "Sample minibuses", buses.Name, "20001", buses.EntityID)
	t.Login(driver).Patch(requestPath(id), quantity("1000")).WantCode(http.StatusOK)
	for _, n := range []any{0, -1, 1001, 1.5, "many", nil, true} {
		a := c.Patch(requestPath(id), quantity(n))
		t.Equal("quantity "+jsonText(n), fmt.Sprint(a.Code, " ", a.Keys("request.errors")), "422 quantity")
		t.Equal("its id and valid", a.At("request.id")+" "+a.At("request.valid"), fmt.Sprintf("%d false", id))
	}
	for _, other := range []*Client{t.As(), t.As("can_add_events"), t.Login(t.UserWith(map[string]any{"kind": "pupil"}, "can_api"))} {
		other.Patch(requestPath(id), quantity(1)).Want(http.StatusForbidden, forbidden)
	}
	t.Equal("the quantity", c.Get(eventPath(made.Int("event.id"))).At("event.requests.0.quantity"), 1000)
	for _, body := range []string{`{}`, `{"request":null}`, `{"quantity":2}`, `{`} {
		c.Do(http.MethodPatch, requestPath(id), body).WantCode(http.StatusBadRequest)
	}
	c.Patch(requestPath(noSuchID), quantity(1)).Want(http.StatusNotFound, missing("Not found", "Request", noSuchID))
}

func deletingARequest(t *T) {
	c, buses, room := t.Booker(), t.ResourceGroup(), t.Location()
	made := t.Event(c, nil, buses, room, buses)
	id := made.Int("event.requests.0.id")
	c.Delete(requestPath(id)).Want(http.StatusOK, `{"status":"OK"}`)
	a := c.Get(eventPath(made.Int("event.id")))
	t.Equal("what is left", a.At("event.requests")+a.At("event.commitments"), "[]"+made.At("event.commitments"))
	for range 2 {
		c.Delete(requestPath(id)).Want(http.StatusNotFound, missing("Not found", "Request", id))
	}
	t.Equal("asked for again", add(c, made.Int("event.id"), buses).At("event.requests.0.quantity"), 1)
}

// garage is a resource group with minibuses, and a user who allocates them.
type garage struct {
	driver User
	client *Client // the driver's
	group  Element
	buses  []Element
}

func (t *T) garage(buses int) garage {
	g := garage{driver: t.User()}
	for range buses {
		g.buses = append(g.buses, t.Element(map[string]any{"entity_type": "Service", "name": t.Unique("Minibus")}))
	}
	g.group = t.ResourceGroup(g.buses...)
	t.Administrator(g.group, g.driver)
	g.client = t.Login(g.driver)
	return g
}

// allocate gives elements to a request.
func allocate(c *Client, request int64, elements ...Element) Answer {
	return c.Post(requestPath(request)+"/allocations", map[string]any{"elements": sent(elements...)})
}

func allocating(t *T) {
	c, g, stranger := t.Booker(), t.garage(4), t.Location()
	made := t.Event(c, nil, g.group, g.group, g.buses[3]) // two asked for, one taken directly
	request := made.Int("event.requests.0.id")
	form := func(allocated int) string {
		return fmt.Sprintf(`[{"id":%d,"quantity":2,"num_allocated":%d,"element":%s,"valid":true}]`, request, allocated, g.group.List())
	}
	a := allocate(g.client, request, g.buses[0]).Must(http.StatusOK)
	t.Equal("keys of the answer", a.Keys("")+": "+a.Keys("event"), "status,event,failures: id,body,starts_at,ends_at,all_day,commitments,requests,valid")
	t.Equal("the status", a.String("status"), "OK")
	t.Equal("the commitment", a.At("event.commitments.1"), fmt.Sprintf(`{"id":%d,"status":"uncontrolled","element":%s,"valid":true}`, a.Int("event.commitments.1.id"), g.buses[0].List()))
	t.Equal("the request", a.At("event.requests"), form(1))

	a = g.client.Post(requestPath(request)+"/allocations", map[string]any{
		"elements": []any{g.buses[0].Sent(), "nobody", stranger.ID, g.buses[3].ID, g.buses[1].Sent(), g.buses[2].Sent()},
	}).Must(http.StatusOK)
	b := decode[booked](a)
	t.Equal("failures", b.failures(), fmt.Sprintf("0 %d Commitment, 1 nobody Hash, 2 %d Commitment, 3 %d Commitment, 5 %d Commitment", g.buses[0].ID, stranger.ID, g.buses[3].ID, g.buses[2].ID))
	for _, i := range []int{0, 3} {
		t.Equal("of what is on the event", a.At(fmt.Sprintf("failures.%d.item.errors", i)), `{"element_id":["has already been taken"]}`)
	}
	for _, i := range []int{0, 2, 3, 4} {
		t.Equal("id and valid of a failed one", a.At(fmt.Sprintf("failures.%d.item.id", i))+" "+a.At(fmt.Sprintf("failures.%d.item.valid", i)), "null false")
	}
	t.Equal("committed", b.elements(), []int64{g.buses[3].ID, g.buses[0].ID, g.buses[1].ID})
	t.Equal("the request", c.Get(eventPath(made.Int("event.id"))).At("event.requests"), form(2))
	t.Equal("the minibus's day", listed(on(c, g.buses[1], "start_date=2019-04-10")), made.String("event.body"))
	t.Equal("the listing of the group", g.client.Get(elementPath(g.group)+"/requests?start_date=2019-04-10").At("requests.0.num_allocated"), 2)
}

// allocatingByDay: what counts is who or what is in the group on the day of the event, not today; directly or through a group in it.
func allocatingByDay(t *T) {
	c, g := t.Booker(), t.garage(0)
	then, before, after, nested := t.Property(), t.Property(), t.Property(), t.Property()
	t.Member(g.group, then, "2019-04-10", "2019-04-10")
	t.Member(g.group, before, "", "2019-04-09")
	t.Member(g.group, after, "2019-04-11", "")
	t.Member(g.group, t.Group(nested), "", "")
	gone := t.Property()
	t.Member(g.group, gone, "", "")
	t.Admin().Delete(fmt.Sprintf("/api/admin/elements/%d", gone.ID)).Must(http.StatusOK)
	made := t.Event(c, nil, g.group, g.group, g.group, g.group, g.group)
	a := allocate(g.client, made.Int("event.requests.0.id"), before, then, after, nested, gone).Must(http.StatusOK)
	t.Equal("allocated", decode[booked](a).elements(), []int64{then.ID, nested.ID})
	t.Equal("failures", decode[booked](a).failures(), fmt.Sprintf("0 %d Commitment, 2 %d Commitment, 4 %d Commitment", before.ID, after.ID, gone.ID))
}

func whoAllocates(t *T) {
	owner, g := t.User("can_add_events"), t.garage(2)
	made := t.Event(t.Login(owner), nil, g.group)
	request := made.Int("event.requests.0.id")
	elsewhere := t.garage(1)
	for role, c := range map[string]*Client{
		"owner": t.Login(owner), "admin": t.As("admin"), "editor": t.As("edit_all_events"), "stranger": t.As(), "administrator of another group": elsewhere.client,
	} {
		a := allocate(c, request, g.buses[0])
		t.Equal("allocating by "+role, fmt.Sprint(a.Code, " ", a.Body), "403 "+forbidden)
	}
	for _, body := range []string{`{}`, `{"elements":null}`, `[]`, `{`} {
		g.client.Do(http.MethodPost, requestPath(request)+"/allocations", body).WantCode(http.StatusBadRequest)
	}
	allocate(g.client, noSuchID, g.buses[0]).Want(http.StatusNotFound, missing("Not found", "Request", noSuchID))
	t.Equal("allocated so far", t.Admin().Get(eventPath(made.Int("event.id"))).At("event.requests.0.num_allocated"), 0)
	a := g.client.Post(requestPath(request)+"/allocations", map[string]any{"elements": g.buses[1].ID}) // one bare id, as for add
	t.Equal("allocated by the administrator", a.Must(http.StatusOK).At("event.requests.0.num_allocated"), 1)
}

func deallocating(t *T) {
	c, g := t.Booker(), t.garage(3)
	made := t.Event(c, nil, g.group, g.group, g.group)
	path, request := eventPath(made.Int("event.id")), made.Int("event.requests.0.id")
	a := allocate(g.client, request, g.buses...).Must(http.StatusOK)
	c.Delete(fmt.Sprintf("/api/commitments/%d", a.Int("event.commitments.0.id"))).Want(http.StatusOK, `{"status":"OK"}`)
	t.Equal("num_allocated", c.Get(path).At("event.requests.0.num_allocated"), 2)
	below := c.Patch(requestPath(request), quantity(1))
	t.Equal("a quantity below num_allocated", fmt.Sprint(below.Code, " ", below.Keys("request.errors")), "422 quantity")
	t.Equal("a quantity of num_allocated", c.Patch(requestPath(request), quantity(2)).Must(http.StatusOK).At("request.num_allocated"), 2)
	c.Delete(requestPath(request)).Want(http.StatusOK, `{"status":"OK"}`)
	a = c.Get(path)
	t.Equal("after the request is deleted", a.At("event.commitments")+a.At("event.requests"), "[][]")
	t.Equal("the minibus's day", listed(on(c, g.buses[2], "start_date=2019-04-10")), "")
}

func parallelAllocations(t *T) {
	c, g := t.Booker(), t.garage(10)
	made := t.Event(c, nil, g.group, g.group, g.group, g.group)
	request := made.Int("event.requests.0.id")
	succeeded := 0
	for _, a := range t.Parallel(40, func(i int) (string, string, any) {
		return http.MethodPost, requestPath(request) + "/allocations", map[string]any{"elements": sent(g.buses[i%len(g.buses)])}
	}, g.client, t.Login(g.driver)) {
		if len(decode[booked](a.Must(http.StatusOK)).Failures) == 0 {
			succeeded++
		}
	}
	b := decode[booked](c.Get(eventPath(made.Int("event.id"))))
	distinct := map[int64]bool{}
	for _, id := range b.elements() {
		distinct[id] = true
	}
	t.Equal("successes, num_allocated, commitments, minibuses", fmt.Sprint(succeeded, b.Event.Requests[0].NumAllocated, len(b.Event.Commitments), len(distinct)), "4 4 4 4")
}

func inboxOfDecisions(t *T) {
	c, keeper, calendar, hall := t.Booker(), t.User("can_add_events"), t.Property(), t.Location()
	t.Administrator(calendar, keeper)
	t.Administrator(hall, keeper)
	k := t.Login(keeper)
	list := func(query string) Answer { return k.Get("/api/commitments" + query) }
	list("?status=requested").Want(http.StatusOK, `{"status":"OK","commitments":[],"next":null}`)
	made := map[string]Answer{}
	for title, starts := range map[string]string{"third": "2019-04-12 09:00", "first": "2019-04-10 09:00", "second": "2019-04-11 09:00"} {
		made[title] = t.Event(c, map[string]any{"body": title, "starts_at": starts, "ends_at": starts}, calendar, t.Controlled(), t.Staff())
	}
	t.Event(k, map[string]any{"body": "own"}, calendar) // uncontrolled: nothing to decide
	a := list("?status=requested").Must(http.StatusOK)
	t.Equal("requested", listed(a), strings.ReplaceAll("first@C, second@C, third@C", "C", calendar.Sent()))
	first := made["first"]
	t.Equal("the first", a.At("commitments.0"), fmt.Sprintf(`{"id":%d,"status":"requested","element":%s,"event":%s,"valid":true}`,
		first.Int("event.commitments.0.id"), calendar.List(), t.summary(first.Int("event.id"), "first", "2019-04-10 09:00", "2019-04-10 09:00", false)))
	decide(k, made["second"].Int("event.commitments.0.id"), "noted").Must(http.StatusOK)
	decide(k, made["third"].Int("event.commitments.0.id"), "rejected").Must(http.StatusOK)
	for query, want := range map[string]string{
		"?status=requested": "first", "?status=noted": "second", "?status=rejected": "third", "?status=confirmed": "", "?status=requested,noted": "first, second",
		"?status=requested,noted,rejected,confirmed": "first, second, third",
	} {
		t.Equal(query, strings.ReplaceAll(listed(list(query)), "@"+calendar.Sent(), ""), want)
	}
	page := list("?status=requested,noted,rejected&limit=2").Must(http.StatusOK)
	t.Equal("the first page", strings.ReplaceAll(listed(page), "@"+calendar.Sent(), ""), "first, second")
	page = list("?status=requested,noted,rejected&limit=2&after=" + page.String("next")).Must(http.StatusOK)
	t.Equal("the last page", strings.ReplaceAll(listed(page), "@"+calendar.Sent(), "")+" "+page.At("next"), "third null")
	for _, query := range []string{"?status=maybe", "?status=requested&limit=0", "?status=requested&limit=1001", "?status=requested&limit=x", "?status=requested&after=x"} {
		list(query).WantCode(http.StatusBadRequest)
	}
	for _, other := range []*Client{c, t.As("admin"), t.As()} { // who decides nothing has an empty one
		other.Get("/api/commitments?status=requested,noted,rejected").Want(http.StatusOK, `{"status":"OK","commitments":[],"next":null}`)
	}
	c.Delete(eventPath(first.Int("event.id"))).Must(http.StatusOK)
	t.Equal("after the event is deleted", listed(list("?status=requested")), "")
}

func inboxOfAllocations(t *T) {
	c, g := t.Booker(), t.garage(2)
	list := func(query string) Answer { return g.client.Get("/api/requests?status=outstanding" + query) }
	list("").Want(http.StatusOK, `{"status":"OK","requests":[],"next":null}`)
	later := t.Event(c, map[string]any{"body": "later", "starts_at": "2019-04-11 09:00", "ends_at": "2019-04-11 10:00"}, g.group)
	sooner := t.Event(c, map[string]any{"body": "sooner"}, g.group, g.group, t.ResourceGroup())
	form := func(made Answer, quantity, allocated int, title, starts, ends string) string {
		return fmt.Sprintf(`{"id":%d,"quantity":%d,"num_allocated":%d,"element":%s,"event":%s,"valid":true}`, made.Int("event.requests.0.id"), quantity, allocated, g.group.List(),
			t.summary(made.Int("event.id"), title, starts, ends, false))
	}
	last := form(later, 1, 0, "later", "2019-04-11 09:00", "2019-04-11 10:00")
	t.Equal("outstanding", list("").At("requests"), "["+form(sooner, 2, 0, "sooner", "2019-04-10 09:00", "2019-04-10 10:00")+","+last+"]")
	allocate(g.client, sooner.Int("event.requests.0.id"), g.buses[0]).Must(http.StatusOK)
	t.Equal("one of two allocated", list("").At("requests.0"), form(sooner, 2, 1, "sooner", "2019-04-10 09:00", "2019-04-10 10:00"))
	page := list("&limit=1").Must(http.StatusOK)
	t.Equal("the first page", page.Len("requests"), 1)
	t.Equal("the second page", list("&limit=1&after="+page.String("next")).At("requests"), "["+last+"]")
	allocate(g.client, sooner.Int("event.requests.0.id"), g.buses[1]).Must(http.StatusOK)
	t.Equal("all allocated", list("").At("requests"), "["+last+"]")
	c.Patch(requestPath(sooner.Int("event.requests.0.id")), quantity(3)).Must(http.StatusOK)
	t.Equal("one more asked for", list("").Len("requests"), 2)
	for _, other := range []*Client{c, t.As("admin")} {
		other.Get("/api/requests?status=outstanding").Want(http.StatusOK, `{"status":"OK","requests":[],"next":null}`)
	}
	g.client.Get("/api/requests?status=maybe").WantCode(http.StatusBadRequest)
}
