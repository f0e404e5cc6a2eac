package conformance_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

func TestPart4_2_Rule02_ElementsAreProcessedInOrder(t *testing.T) {
	proves(t, "4.2 rule 2: elements are ids as strings, processed in order", "decisions 4 elements")
	c, made := school.Booker(t), []Element{school.Staff(t), school.Location(t), school.Pupil(t), school.Group(t),
		school.Property(t)}
	slices.Reverse(made)
	ids := sequence.Map(made, func(e Element) int64 { return e.ID })
	a := school.Event(t, c, nil, made...)
	equal(t, "the order of commitments", decode[booked](t, a).elements(), ids)
	equal(t, "the order as get shows it", decode[booked](t, c.Get(t, pathIn(t, a))).elements(), ids)
	rising := decode[booked](t, a).Event.Commitments
	for i := range rising[1:] {
		equal(t, "a later entry has a greater id", rising[i+1].ID > rising[i].ID, true)
	}
	a = c.Post(t, "/api/events", school.booking(ids)).Must(t, http.StatusOK)
	equal(t, "ids as numbers", decode[booked](t, a).elements(), ids) // decisions, part 1
}

func TestPart4_2_Rule03_AnOrdinaryElementYieldsACommitment(t *testing.T) {
	proves(t, "4.2 rule 3", "3.1 uncontrolled",
		"decisions 4 one minibus: an element of a resource group is an ordinary element", "2.4 resource groups")
	c, bus := school.Booker(t), school.Element(t, object{"entity_type": "Service", "name": school.Unique("Minibus")})
	school.ResourceGroup(t, bus)
	all := []Element{school.Staff(t), school.Pupil(t), school.Location(t), school.Group(t), school.Property(t),
		school.Element(t, object{"entity_type": "Subject", "name": school.Unique("Maths")}), bus}
	a := school.Event(t, c, nil, all...)
	equal(t, "statuses", statuses(t, a),
		"uncontrolled uncontrolled uncontrolled uncontrolled uncontrolled uncontrolled uncontrolled")
	equal(t, "requests", a.At(t, "event.requests"), "[]")
	for i, e := range all {
		equal(t, "element", a.At(t, fmt.Sprintf("event.commitments.%d.element", i)), e.List())
	}
}

func TestPart4_2_Rule04_AResourceGroupYieldsARequest(t *testing.T) {
	proves(t, "4.2 rule 4: a resource group yields a request of quantity 1, none allocated",
		"3.2 start: a request starts with num_allocated 0")
	c, buses, rooms := school.Booker(t), school.ResourceGroup(t, school.Property(t)), school.ResourceGroup(t)
	school.Administrator(t, rooms, school.User(t)) // controlled or not
	a := school.Event(t, c, nil, rooms, buses)
	equal(t, "commitments", a.At(t, "event.commitments"), "[]")
	equal(t, "requests", a.At(t, "event.requests"),
		fmt.Sprintf(`[{"id":%d,"quantity":1,"num_allocated":0,"element":%s,"valid":true},`+
			`{"id":%d,"quantity":1,"num_allocated":0,"element":%s,"valid":true}]`,
			a.Int(t, "event.requests.0.id"), rooms.List(), a.Int(t, "event.requests.1.id"), buses.List()))
}

func TestPart4_2_Rule05_RepeatedResourceGroupRaisesQuantity(t *testing.T) {
	proves(t, "4.2 rule 5: a resource group again raises the quantity of its request")
	c, buses, room := school.Booker(t), school.ResourceGroup(t), school.Location(t)
	a := school.Event(t, c, nil, buses, room, buses)
	request := fmt.Sprintf(`[{"id":%d,"quantity":%%d,"num_allocated":0,"element":%s,"valid":true}]`,
		a.Int(t, "event.requests.0.id"), buses.List())
	equal(t, "failures", a.At(t, "failures"), "[]")
	equal(t, "requests after creating with the group twice", a.At(t, "event.requests"), fmt.Sprintf(request, 2))
	a = add(t, c, a.Int(t, "event.id"), buses).Must(t, http.StatusOK)
	equal(t, "requests after adding it once more", a.At(t, "event.requests"), fmt.Sprintf(request, 3))
	equal(t, "failures", a.At(t, "failures"), "[]")
	equal(t, "requests as get shows them", c.Get(t, pathIn(t, a)).At(t, "event.requests"), fmt.Sprintf(request, 3))
}

func TestPart4_2_Rule06_StatusStaysWhenAdditionsFail(t *testing.T) {
	proves(t, "4.2 rule 6: the status stays Created (add: OK) when additions fail",
		"7.3 partial failures: additions that fail are in failures and no error")
	c, room := school.Booker(t), school.Location(t)
	a := c.Post(t, "/api/events", school.booking([]string{"no-id", room.Sent(), room.Sent()})).Must(t, http.StatusOK)
	equal(t, "the status of create", a.Text(t, "status"), "Created")
	equal(t, "the failures of create", decode[booked](t, a).failures(),
		fmt.Sprintf("0 no-id Hash, 2 %d Commitment", room.ID))
	equal(t, "what was added", decode[booked](t, a).elements(), []int64{room.ID})
	a = c.Post(t, pathIn(t, a)+"/add", object{"elements": []string{room.Sent()}}).Must(t, http.StatusOK)
	equal(t, "the status of add when all fail", a.Text(t, "status"), "OK")
	equal(t, "the failures of add", decode[booked](t, a).failures(), fmt.Sprintf("0 %d Commitment", room.ID))
}

func TestPart4_2_Rule07_EachFailedAdditionIsOnceInFailures(t *testing.T) {
	proves(t, "4.2 rule 7: each failed addition appears once in failures, which is [] when all succeed",
		"2.8 index: index is the place in the submitted array, from 0",
		"2.8 element_id: element_id is the value as submitted, as a string")
	c, room, staff, buses := school.Booker(t), school.Location(t), school.Staff(t), school.ResourceGroup(t)
	none := fmt.Sprint(noSuchID)
	a := c.Post(t, "/api/events", school.booking([]string{none, room.Sent(), "", room.Sent(), buses.Sent(), none,
		staff.Sent(), room.Sent(), buses.Sent()})).Must(t, http.StatusOK)
	equal(t, "failures", decode[booked](t, a).failures(),
		fmt.Sprintf("0 %[1]s Hash, 2  Hash, 3 %[2]d Commitment, 5 %[1]s Hash, 7 %[2]d Commitment", none, room.ID))
	equal(t, "added", decode[booked](t, a).elements(), []int64{room.ID, staff.ID})
	equal(t, "keys of a failure", a.Keys(t, "failures.0"), "index,element_id,item_type,item")
	equal(t, "failures when all succeed", school.Event(t, c, nil, room, staff).At(t, "failures"), "[]")
}

func TestPart4_2_Rule08_AnElementOnTheEventFailsAsCommitment(t *testing.T) {
	proves(t, "4.2 rule 8", "2.8 record", "2.2 errors: errors only in failed items: field → array of messages")
	c, calendar := school.Booker(t), school.Controlled(t)
	failure := func(index int) string {
		return fmt.Sprintf(`[{"index":%d,"element_id":"%d","item_type":"Commitment",`+
			`"item":{"id":null,"status":"requested","element":%s,"valid":false,`+
			`"errors":{"element_id":["has already been taken"]}}}]`, index, calendar.ID, calendar.List())
	}
	a := school.Event(t, c, nil, calendar, calendar)
	equal(t, "failures of create", a.At(t, "failures"), failure(1))
	equal(t, "failures of add", add(t, c, a.Int(t, "event.id"), calendar).At(t, "failures"), failure(0))
	equal(t, "commitments", c.Get(t, pathIn(t, a)).Len(t, "event.commitments"), 1)
	c.Delete(t, commitmentIn(t, a, 0)).Must(t, http.StatusOK)
	equal(t, "failures of add once it is off the event", add(t, c, a.Int(t, "event.id"), calendar).At(t, "failures"),
		"[]")
}

func TestPart4_2_Rule09_AnIDOfNothingFailsAsHash(t *testing.T) {
	proves(t, "4.2 rule 9: an unknown id, or one that is not a number, fails as Hash: Not found",
		"2.8 hash: item of type Hash: an object with only a status",
		"7.1 Not found: Not found: a search without a hit, a missing note, an element id in an add",
		"decisions 4 submitted value: a failure's element_id is the submitted value as a string; any other JSON "+
			"value: its text")
	c := school.Booker(t)
	values := []struct {
		sent any
		text string
	}{
		{noSuchID, "9223372036854775807"}, {"9223372036854775807", "9223372036854775807"}, {"no-id", "no-id"},
		{"", ""}, {" ", " "}, {"-1", "-1"}, {"01", "01"}, {"1.0", "1.0"}, {"0", "0"}, {0, "0"},
		{"9223372036854775808", "9223372036854775808"}, {"Größe \u2028", "Größe \u2028"}, {1.5, "1.5"}, {true, "true"},
		{nil, "null"}, {[]any{1, "a"}, `[1,"a"]`}, {object{"id": 1}, `{"id":1}`},
	}
	elements, want := []any{}, ""
	for i, v := range values {
		elements = append(elements, v.sent)
		if i > 0 {
			want += ","
		}
		want += fmt.Sprintf(`{"index":%d,"element_id":%s,"item_type":"Hash","item":{"status":"Not found"}}`, i,
			quoted(v.text))
	}
	a := c.Post(t, pathIn(t, school.Event(t, c, nil))+"/add", object{"elements": elements}).Must(t, http.StatusOK)
	equal(t, "failures", a.At(t, "failures"), "["+want+"]")
	equal(t, "commitments", a.At(t, "event.commitments"), "[]")
}

func TestDecisionsPart4_ElementsAreAnArrayOrOneBareID(t *testing.T) {
	proves(t, "decisions 4 elements", "decisions 1 400 elements: add without elements: 400")
	c, room, staff := school.Booker(t), school.Location(t), school.Staff(t)
	a := c.Post(t, "/api/events", school.booking(room.Sent())).Must(t, http.StatusOK)
	equal(t, "one bare string on create", decode[booked](t, a).elements(), []int64{room.ID})
	path := pathIn(t, a) + "/add"
	a = c.Post(t, path, object{"elements": staff.ID}).Must(t, http.StatusOK)
	equal(t, "one bare number on add", decode[booked](t, a).elements(), []int64{room.ID, staff.ID})
	a = c.Post(t, path, object{"elements": "no-id"}).Must(t, http.StatusOK)
	equal(t, "one bare unknown id", decode[booked](t, a).failures(), "0 no-id Hash")
	a = c.Post(t, path, object{"elements": 1.5}).Must(t, http.StatusOK)
	equal(t, "one bare number that is not an id", decode[booked](t, a).failures(), "0 1.5 Hash")
	for _, body := range []any{"{", object{}, object{"elements": nil}, object{"elements": true},
		object{"element": []string{}}} {
		a := c.Post(t, path, body)
		a.WantCode(t, http.StatusBadRequest)
		equal(t, "the status", a.Text(t, "status"), "Bad request")
	}
	c.Post(t, "/api/events", school.booking(object{})).WantCode(t, http.StatusBadRequest)
}

func TestDecisionsPart4_AtMost1000Elements(t *testing.T) {
	proves(t, "decisions 4 elements: an array, or one bare id; at most 1,000")
	c, buses := school.Booker(t), school.ResourceGroup(t)
	path := pathIn(t, school.Event(t, c, nil)) + "/add"
	a := c.Post(t, path, object{"elements": slices.Repeat([]string{buses.Sent()}, 1000)}).Must(t, http.StatusOK)
	equal(t, "the quantity of 1,000", a.Int(t, "event.requests.0.quantity"), 1000)
	c.Post(t, path, object{"elements": slices.Repeat([]string{buses.Sent()}, 1001)}).
		Want(t, http.StatusUnprocessableEntity,
			`{"status":"Unprocessable entity","errors":{"elements":["has more than 1000 entries"]}}`)
	many := c.Post(t, "/api/events", school.booking(slices.Repeat([]string{"x"}, 1001)))
	wantInvalid(t, many, "null", `{"elements":["has more than 1000 entries"]}`)
	a = c.Post(t, "/api/events", school.booking(slices.Repeat([]string{"x"}, 1000))).Must(t, http.StatusOK)
	equal(t, "the failures of 1,000", a.Len(t, "failures"), 1000)
}

func TestDecisionsPart4_AQuantityIsAtMost1000(t *testing.T) {
	proves(t, "decisions 4 quantity: 1 to 1,000; more: a failure of type Request with errors on quantity",
		"2.8 record: item of type Commitment or Request: the record with id null, valid false and errors")
	c, buses := school.Booker(t), school.ResourceGroup(t)
	a := school.Event(t, c, nil, slices.Repeat([]Element{buses}, 1000)...)
	equal(t, "failures of 1,000", a.At(t, "failures"), "[]")
	a = add(t, c, a.Int(t, "event.id"), buses).Must(t, http.StatusOK)
	equal(t, "the failure of one more", a.At(t, "failures"), school.golden(t,
		"event_request_failure.json", "10001", buses.ID, "Sample minibuses", buses.Name, "20001", buses.EntityID))
	equal(t, "the quantity", a.Int(t, "event.requests.0.quantity"), 1000)
}

// TestPart4_2_Rule03_ElementsOfThePastCanBeAdded: an element that is no longer current can still be added to an
// event, so that past events can be corrected (createEvent).
func TestPart4_2_Rule03_ElementsOfThePastCanBeAdded(t *testing.T) {
	proves(t, "4.2 rule 3: an ordinary element yields a commitment")
	c, staff := school.Booker(t), school.Staff(t)
	school.Admin().Delete(t, elementAdmin(staff)).Must(t, http.StatusOK)
	equal(t, "the element", school.Event(t, c, object{"organiser_id": staff.ID}, staff).At(t,
		"event.commitments.0.element"), staff.List())
}
