package suite

import (
	"fmt"
	"net/http"
	"slices"
)

func addingChecks() []Check {
	return []Check{
		prove("TestPart4_2_Rule02_ElementsAreProcessedInOrder", inOrder, "4.2 rule 2", "decisions 4 elements"),
		prove("TestPart4_2_Rule03_AnOrdinaryElementYieldsACommitment", ordinaryElements, "4.2 rule 3", "3.1 uncontrolled", "decisions 4 one minibus", "2.4 resource groups"),
		prove("TestPart4_2_Rule04_AResourceGroupYieldsARequest", resourceGroupYieldsRequest, "4.2 rule 4", "3.2 start"),
		prove("TestPart4_2_Rule05_RepeatedResourceGroupRaisesQuantity", repeatedResourceGroupRaisesQuantity, "4.2 rule 5"),
		prove("TestPart4_2_Rule06_StatusStaysWhenAdditionsFail", statusStays, "4.2 rule 6", "7.3 partial failures"),
		prove("TestPart4_2_Rule07_EachFailedAdditionIsOnceInFailures", eachFailureOnce, "4.2 rule 7", "2.8 index", "2.8 element_id"),
		prove("TestPart4_2_Rule08_AnElementOnTheEventFailsAsCommitment", alreadyTaken, "4.2 rule 8", "2.8 record", "2.2 errors"),
		prove("TestPart4_2_Rule09_AnIDOfNothingFailsAsHash", noSuchElement, "4.2 rule 9", "2.8 hash", "7.1 Not found", "decisions 4 submitted value"),
		prove("TestDecisionsPart4_ElementsAreAnArrayOrOneBareID", bareID, "decisions 4 elements", "decisions 1 400 elements"),
		prove("TestDecisionsPart4_AtMost1000Elements", atMost1000, "decisions 4 elements"),
		prove("TestDecisionsPart4_AQuantityIsAtMost1000", atMost1000Items, "decisions 4 quantity", "2.8 record"),
		prove("TestPart4_2_Rule03_ElementsOfThePastCanBeAdded", pastElements, "4.2 rule 3"),
	}
}

func inOrder(t *T) {
	c, made := t.Booker(), []Element{t.Staff(), t.Location(), t.Pupil(), t.Group(), t.Property()}
	slices.Reverse(made)
	ids := []int64{}
	for _, e := range made {
		ids = append(ids, e.ID)
	}
	a := t.Event(c, nil, made...)
	t.Equal("the order of commitments", decode[booked](a).elements(), ids)
	t.Equal("the order as get shows it", decode[booked](c.Get(eventPath(a.Int("event.id")))).elements(), ids)
	rising := decode[booked](a).Event.Commitments
	for i := range rising[1:] {
		t.Equal("a later entry has a greater id", rising[i+1].ID > rising[i].ID, true)
	}
	a = c.Post("/api/events", map[string]any{"event": map[string]any{"body": "x", "event_category_id": t.School.Category.ID, "starts_at_text": "2019-04-10"}, "elements": ids}).Must(http.StatusOK)
	t.Equal("ids as numbers", decode[booked](a).elements(), ids) // decisions, part 1
}

func ordinaryElements(t *T) {
	c, bus := t.Booker(), t.Element(map[string]any{"entity_type": "Service", "name": t.Unique("Minibus")})
	t.ResourceGroup(bus)
	all := []Element{t.Staff(), t.Pupil(), t.Location(), t.Group(), t.Property(), t.Element(map[string]any{"entity_type": "Subject", "name": t.Unique("Maths")}), bus}
	a := t.Event(c, nil, all...)
	t.Equal("statuses", statuses(a), "uncontrolled uncontrolled uncontrolled uncontrolled uncontrolled uncontrolled uncontrolled")
	t.Equal("requests", a.At("event.requests"), "[]")
	for i, e := range all {
		t.Equal("element", a.At(fmt.Sprintf("event.commitments.%d.element", i)), e.List())
	}
}

func resourceGroupYieldsRequest(t *T) {
	c, buses, rooms := t.Booker(), t.ResourceGroup(t.Property()), t.ResourceGroup()
	t.Administrator(rooms, t.User()) // controlled or not
	a := t.Event(c, nil, rooms, buses)
	t.Equal("commitments", a.At("event.commitments"), "[]")
	t.Equal("requests", a.At("event.requests"), fmt.Sprintf(`[{"id":%d,"quantity":1,"num_allocated":0,"element":%s,"valid":true},{"id":%d,"quantity":1,"num_allocated":0,"element":%s,"valid":true}]`,
		a.Int("event.requests.0.id"), rooms.List(), a.Int("event.requests.1.id"), buses.List()))
}

func repeatedResourceGroupRaisesQuantity(t *T) {
	c, buses, room := t.Booker(), t.ResourceGroup(), t.Location()
	a := t.Event(c, nil, buses, room, buses)
	request := fmt.Sprintf(`[{"id":%d,"quantity":%%d,"num_allocated":0,"element":%s,"valid":true}]`, a.Int("event.requests.0.id"), buses.List())
	t.Equal("failures", a.At("failures"), "[]")
	t.Equal("requests after creating with the group twice", a.At("event.requests"), fmt.Sprintf(request, 2))
	a = add(c, a.Int("event.id"), buses).Must(http.StatusOK)
	t.Equal("requests after adding it once more", a.At("event.requests"), fmt.Sprintf(request, 3))
	t.Equal("failures", a.At("failures"), "[]")
	t.Equal("requests as get shows them", c.Get(eventPath(a.Int("event.id"))).At("event.requests"), fmt.Sprintf(request, 3))
}

func statusStays(t *T) {
	c, room := t.Booker(), t.Location()
	a := c.Post("/api/events", map[string]any{
		"event":    map[string]any{"body": "x", "event_category_id": t.School.Category.ID, "starts_at_text": "2019-04-10 09:00"},
		"elements": []string{"nobody", room.Sent(), room.Sent()},
	}).Must(http.StatusOK)
	t.Equal("the status of create", a.String("status"), "Created")
	t.Equal("the failures of create", decode[booked](a).failures(), fmt.Sprintf("0 nobody Hash, 2 %d Commitment", room.ID))
	t.Equal("what was added", decode[booked](a).elements(), []int64{room.ID})
	a = c.Post(eventPath(a.Int("event.id"))+"/add", map[string]any{"elements": []string{room.Sent()}}).Must(http.StatusOK)
	t.Equal("the status of add when all fail", a.String("status"), "OK")
	t.Equal("the failures of add", decode[booked](a).failures(), fmt.Sprintf("0 %d Commitment", room.ID))
}

func eachFailureOnce(t *T) {
	c, room, staff, buses := t.Booker(), t.Location(), t.Staff(), t.ResourceGroup()
	none := fmt.Sprint(noSuchID)
	a := c.Post("/api/events", map[string]any{
		"event":    map[string]any{"body": "x", "event_category_id": t.School.Category.ID, "starts_at_text": "2019-04-10 09:00"},
		"elements": []string{none, room.Sent(), "", room.Sent(), buses.Sent(), none, staff.Sent(), room.Sent(), buses.Sent()},
	}).Must(http.StatusOK)
	t.Equal("failures", decode[booked](a).failures(), fmt.Sprintf("0 %[1]s Hash, 2  Hash, 3 %[2]d Commitment, 5 %[1]s Hash, 7 %[2]d Commitment", none, room.ID))
	t.Equal("added", decode[booked](a).elements(), []int64{room.ID, staff.ID})
	t.Equal("keys of a failure", a.Keys("failures.0"), "index,element_id,item_type,item")
	t.Equal("failures when all succeed", t.Event(c, nil, room, staff).At("failures"), "[]")
}

func alreadyTaken(t *T) {
	c, calendar := t.Booker(), t.Controlled()
	failure := func(index int) string {
		return fmt.Sprintf(`[{"index":%d,"element_id":"%d","item_type":"Commitment","item":{"id":null,"status":"requested","element":%s,"valid":false,"errors":{"element_id":["has already been taken"]}}}]`,
			index, calendar.ID, calendar.List())
	}
	a := t.Event(c, nil, calendar, calendar)
	t.Equal("failures of create", a.At("failures"), failure(1))
	t.Equal("failures of add", add(c, a.Int("event.id"), calendar).At("failures"), failure(0))
	t.Equal("commitments", c.Get(eventPath(a.Int("event.id"))).Len("event.commitments"), 1)
	c.Delete(fmt.Sprintf("/api/commitments/%d", a.Int("event.commitments.0.id"))).Must(http.StatusOK)
	t.Equal("failures of add once it is off the event", add(c, a.Int("event.id"), calendar).At("failures"), "[]")
}

func noSuchElement(t *T) {
	c := t.Booker()
	values := []struct {
		sent any
		text string
	}{
		{noSuchID, "9223372036854775807"}, {"9223372036854775807", "9223372036854775807"}, {"nobody", "nobody"}, {"", ""}, {" ", " "}, {"-1", "-1"}, {"1.0", "1.0"}, {"0", "0"}, {0, "0"},
		{"9223372036854775808", "9223372036854775808"}, {"Größe \u2028", "Größe \u2028"}, {1.5, "1.5"}, {true, "true"}, {nil, "null"}, {[]any{1, "a"}, `[1,"a"]`}, {map[string]any{"id": 1}, `{"id":1}`},
	}
	elements, want := []any{}, ""
	for i, v := range values {
		elements = append(elements, v.sent)
		if i > 0 {
			want += ","
		}
		want += fmt.Sprintf(`{"index":%d,"element_id":%s,"item_type":"Hash","item":{"status":"Not found"}}`, i, quoted(v.text))
	}
	a := c.Post(eventPath(t.Event(c, nil).Int("event.id"))+"/add", map[string]any{"elements": elements}).Must(http.StatusOK)
	t.Equal("failures", a.At("failures"), "["+want+"]")
	t.Equal("commitments", a.At("event.commitments"), "[]")
}

func bareID(t *T) {
	c, room, staff := t.Booker(), t.Location(), t.Staff()
	event := map[string]any{"body": "x", "event_category_id": t.School.Category.ID, "starts_at_text": "2019-04-10 09:00"}
	a := c.Post("/api/events", map[string]any{"event": event, "elements": room.Sent()}).Must(http.StatusOK)
	t.Equal("one bare string on create", decode[booked](a).elements(), []int64{room.ID})
	path := eventPath(a.Int("event.id")) + "/add"
	a = c.Post(path, map[string]any{"elements": staff.ID}).Must(http.StatusOK)
	t.Equal("one bare number on add", decode[booked](a).elements(), []int64{room.ID, staff.ID})
	a = c.Post(path, map[string]any{"elements": "nobody"}).Must(http.StatusOK)
	t.Equal("one bare id of nothing", decode[booked](a).failures(), "0 nobody Hash")
	for _, body := range []any{map[string]any{}, map[string]any{"elements": nil}, map[string]any{"element": []string{}}} {
		a := c.Post(path, body)
		a.WantCode(http.StatusBadRequest)
		t.Equal("the status", a.String("status"), "Bad request")
	}
}

func atMost1000(t *T) {
	c, buses := t.Booker(), t.ResourceGroup()
	path := eventPath(t.Event(c, nil).Int("event.id")) + "/add"
	a := c.Post(path, map[string]any{"elements": slices.Repeat([]string{buses.Sent()}, 1000)}).Must(http.StatusOK)
	t.Equal("the quantity of 1,000", a.Int("event.requests.0.quantity"), 1000)
	c.Post(path, map[string]any{"elements": slices.Repeat([]string{buses.Sent()}, 1001)}).WantCode(http.StatusUnprocessableEntity)
	event := map[string]any{"body": "x", "event_category_id": t.School.Category.ID, "starts_at_text": "2019-04-10 09:00"}
	c.Post("/api/events", map[string]any{"event": event, "elements": slices.Repeat([]string{"x"}, 1001)}).WantCode(http.StatusUnprocessableEntity)
	a = c.Post("/api/events", map[string]any{"event": event, "elements": slices.Repeat([]string{"x"}, 1000)}).Must(http.StatusOK)
	t.Equal("the failures of 1,000", a.Len("failures"), 1000)
}

func atMost1000Items(t *T) {
	c, buses := t.Booker(), t.ResourceGroup()
	a := t.Event(c, nil, slices.Repeat([]Element{buses}, 1000)...)
	t.Equal("failures of 1,000", a.At("failures"), "[]")
	a = add(c, a.Int("event.id"), buses).Must(http.StatusOK)
	t.Equal("the failure of one more", a.At("failures"), t.golden("event_request_failure.json", "10001", buses.ID, "Sample minibuses", buses.Name, "20001", buses.EntityID))
	t.Equal("the quantity", a.Int("event.requests.0.quantity"), 1000)
}

// pastElements: who or what is no longer current can still be put onto an event, as past events have to stay correctable (api-decisions).
func pastElements(t *T) {
	c, staff := t.Booker(), t.Staff()
	t.Admin().Delete(fmt.Sprintf("/api/admin/elements/%d", staff.ID)).Must(http.StatusOK)
	t.Equal("the element", t.Event(c, map[string]any{"organiser_id": staff.ID}, staff).At("event.commitments.0.element"), staff.List())
}
