package suite

import (
	"fmt"
	"net/http"
	"strings"
)

func changingChecks() []Check {
	return []Check{
		prove("TestPart4_2_Rule10_PatchChangesTheBasicFieldsAlone", patchChangesBasicFields, "4.2 rule 10", "4.2 PATCH event", "decisions 4 PATCH answer", "decisions 1 unknown fields"),
		prove("TestPart4_2_Rule10_FieldsNotGivenKeepTheirValues", patchKeeps, "4.2 PATCH event", "4.2 rule 10"),
		prove("TestPart4_2_Rule10_TimesOfASubset", patchTimes, "4.2 rule 10", "4.2 PATCH event", "decisions 4 reversed"),
		prove("TestDecisionsPart4_PutIsPatch", putIsPatch, "decisions 4 PUT"),
		prove("TestPart4_2_Rule11_DeletingAnEventDeletesWhatIsOnIt", deletingAnEvent, "4.2 rule 11", "4.2 DELETE event", "decisions 4 delete", "decisions 1 exception"),
		prove("TestPart4_2_Rule12_DeletingACommitment", deletingACommitment, "4.2 rule 12", "4.2 DELETE commitment", "7.1 Bad request", "7.2 commitment", "7.2 body", "decisions 1 400 commitment"),
		prove("TestDecisionsPart4_RetimingAsksForApprovalAgain", reapproval, "decisions 4 re-approval"),
		prove("TestDecisionsPart4_RetimingByTheElementsAdministratorKeepsTheStatus", reapprovalOwn, "decisions 4 re-approval own"),
	}
}

func patchChangesBasicFields(t *T) {
	c, one, other, room := t.Booker(), t.Staff(), t.Staff(), t.Location()
	a := t.Event(c, map[string]any{"organiser_id": one.ID}, room)
	id, path := a.Int("event.id"), eventPath(a.Int("event.id"))
	change := map[string]any{
		"body": "changed", "organiser_id": other.Sent(), "event_category_id": t.category(nil), "all_day": true, "starts_at": "2019-04-11", "ends_at": "2019-04-13",
		"id": 1, "owner_id": 1, "owner": map[string]any{"id": 1}, "elements": []string{one.Sent()}, "commitments": []any{}, "requests": []any{}, "valid": false, "nonsense": "x",
	}
	got := c.Patch(path, map[string]any{"event": change, "elements": []string{one.Sent()}}).Must(http.StatusOK)
	t.Equal("the answer is as GET's", got.Body, c.Get(path).Body)
	t.Equal("the summary", strings.HasPrefix(got.At("event"), strings.TrimSuffix(t.summary(id, "changed", "2019-04-11 00:00", "2019-04-13 00:00", true), `"valid":true}`)), true)
	t.Equal("the organiser", got.At("event.organiser"), other.List())
	t.Equal("the commitments", got.At("event.commitments"), a.At("event.commitments"))
	t.Equal("the event that is found", listed(on(c, room, "start_date=2019-04-10"))+listed(on(c, room, "start_date=2019-04-12")), "changed")
	t.Equal("the organiser taken away", c.Patch(path, map[string]any{"event": map[string]any{"organiser_id": nil}}).Has("event.organiser"), false)
}

func patchKeeps(t *T) {
	c, staff := t.Booker(), t.Staff()
	a := t.Event(c, map[string]any{"body": "first", "organiser_id": staff.ID}, staff)
	path := eventPath(a.Int("event.id"))
	whole := c.Get(path).Body
	c.Patch(path, map[string]any{"event": map[string]any{}}).Want(http.StatusOK, whole)
	c.Patch(path, map[string]any{"event": map[string]any{"body": "second"}}).Want(http.StatusOK, strings.Replace(whole, `"first"`, `"second"`, 1))
	c.Patch(path, map[string]any{"event": map[string]any{"starts_at": "2019-04-10 09:30"}}).Must(http.StatusOK)
	got := c.Patch(path, map[string]any{"event": map[string]any{"event_category_id": t.category(nil)}}).Must(http.StatusOK)
	t.Equal("all but the start", got.At("event.body")+got.At("event.ends_at")+got.At("event.organiser"), `"second"`+quoted(t.Wire("2019-04-10 10:00"))+staff.List())
	for _, body := range []string{`{}`, `{"event":null}`, `{"event":[]}`, `{"body":"x"}`, `{"event":{}`, `[]`} {
		c.Do(http.MethodPatch, path, body).WantCode(http.StatusBadRequest)
	}
}

// patchTimes: a time field that is not given keeps its value (api-decisions).
func patchTimes(t *T) {
	c := t.Booker()
	for _, step := range []struct {
		name         string
		change       map[string]any
		starts, ends string
		allDay       bool
		errors       string
	}{
		{"only the start", map[string]any{"starts_at": "2019-04-10 08:00"}, "2019-04-10 08:00", "2019-04-10 10:00", false, ""},
		{"only the start, set A", map[string]any{"starts_at_text": "2019-04-10 08:00"}, "2019-04-10 08:00", "2019-04-10 10:00", false, ""},
		{"only the end", map[string]any{"ends_at": "2019-04-10 12:00"}, "2019-04-10 09:00", "2019-04-10 12:00", false, ""},
		{"only the end, set A", map[string]any{"ends_at_text": "2019-04-10 12:00"}, "2019-04-10 09:00", "2019-04-10 12:00", false, ""},
		{"a blank end, set A", map[string]any{"ends_at_text": ""}, "2019-04-10 09:00", "2019-04-10 09:00", false, ""},
		{"both", map[string]any{"starts_at": "2019-06-10 08:00", "ends_at": "2019-06-10 09:00"}, "2019-06-10 08:00", "2019-06-10 09:00", false, ""},
		{"all-day", map[string]any{"all_day": true}, "2019-04-10 00:00", "2019-04-11 00:00", true, ""},
		{"all-day, set A", map[string]any{"all_day_field": true}, "2019-04-10 00:00", "2019-04-11 00:00", true, ""},
		{"all-day to another day", map[string]any{"all_day_field": true, "starts_at_text": "2019-04-08", "ends_at_text": "2019-04-09"}, "2019-04-08 00:00", "2019-04-10 00:00", true, ""},
		{"the start after the end", map[string]any{"starts_at": "2019-04-10 11:00"}, "", "", false, `{"ends_at":["is before the start"]}`},
		{"the end before the start", map[string]any{"ends_at_text": "2019-04-10 08:59"}, "", "", false, `{"ends_at":["is before the start"]}`},
		{"no date", map[string]any{"starts_at": "then"}, "", "", false, `{"starts_at":["is not a date"]}`},
		{"a blank start", map[string]any{"starts_at_text": ""}, "", "", false, `{"starts_at":["can't be blank"]}`},
	} {
		made := t.Event(c, nil)
		path := eventPath(made.Int("event.id"))
		a := c.Patch(path, map[string]any{"event": step.change})
		if step.errors != "" {
			a.wantInvalid(made.At("event.id"), step.errors)
			step.starts, step.ends = "2019-04-10 09:00", "2019-04-10 10:00"
		}
		a = c.Get(path)
		t.Equal(step.name, a.String("event.starts_at")+" "+a.String("event.ends_at")+" "+a.At("event.all_day"), fmt.Sprintf("%s %s %t", t.Wire(step.starts), t.Wire(step.ends), step.allDay))
	}
}

func putIsPatch(t *T) {
	c, room := t.Booker(), t.Location()
	made := t.Event(c, map[string]any{"body": "first"}, room)
	path := eventPath(made.Int("event.id"))
	want := strings.Replace(c.Get(path).Body, `"first"`, `"second"`, 1)
	c.Put(path, map[string]any{"event": map[string]any{"body": "second"}}).Want(http.StatusOK, want)
	c.Get(path).Want(http.StatusOK, want)
	c.Put(path, map[string]any{"event": map[string]any{"body": ""}}).wantInvalid(made.At("event.id"), `{"body":["can't be blank"]}`)
	t.As().Put(path, map[string]any{"event": map[string]any{"body": "third"}}).Want(http.StatusForbidden, forbidden)
	c.Put(path, map[string]any{}).WantCode(http.StatusBadRequest)
}

func deletingAnEvent(t *T) {
	c, room, buses := t.Booker(), t.Location(), t.ResourceGroup()
	a := t.Event(c, nil, room, buses)
	id, commitment, request := a.Int("event.id"), a.Int("event.commitments.0.id"), a.Int("event.requests.0.id")
	path := eventPath(id)
	note := c.Post(path+"/notes", map[string]any{"note": map[string]any{"contents": "x"}}).Int("note.id")
	kept := t.book(c, "kept", "2019-04-10 11:00", "2019-04-10 12:00", room)
	c.Delete(path).Want(http.StatusOK, `{"status":"OK"}`)
	for _, gone := range []Answer{c.Get(path), c.Delete(path), c.Get(path + "/notes"), add(c, id, room), c.Patch(path, map[string]any{"event": map[string]any{}})} {
		gone.Want(http.StatusNotFound, missing("Not found", "Event", id))
	}
	c.Delete(fmt.Sprintf("/api/commitments/%d", commitment)).Want(http.StatusBadRequest, missing("Bad request", "Commitment", commitment))
	c.Patch(fmt.Sprintf("/api/commitments/%d", commitment), map[string]any{"commitment": map[string]any{"status": "confirmed"}}).
		Want(http.StatusNotFound, missing("Not found", "Commitment", commitment))
	c.Delete(fmt.Sprintf("/api/requests/%d", request)).Want(http.StatusNotFound, missing("Not found", "Request", request))
	c.Get(fmt.Sprintf("/api/notes/%d", note)).Want(http.StatusNotFound, missing("Not found", "Note", note))
	t.Equal("the room's day", listed(on(c, room, "start_date=2019-04-10")), "kept")
	c.Get(elementPath(buses)+"/requests?start_date=2019-04-10").Want(http.StatusOK, `{"status":"OK","requests":[]}`)
	c.Get(eventPath(kept)).WantCode(http.StatusOK)
}

func deletingACommitment(t *T) {
	c, room, staff := t.Booker(), t.Location(), t.Staff()
	a := t.Event(c, nil, room, staff)
	commitment := a.Int("event.commitments.0.id")
	path := fmt.Sprintf("/api/commitments/%d", commitment)
	c.Delete(path).Want(http.StatusOK, `{"status":"OK"}`)
	t.Equal("what is left", decode[booked](c.Get(eventPath(a.Int("event.id")))).elements(), []int64{staff.ID})
	t.Equal("the room's day", listed(on(c, room, "start_date=2019-04-10")), "")
	for range 2 {
		c.Delete(path).Want(http.StatusBadRequest, missing("Bad request", "Commitment", commitment))
	}
	c.Delete(fmt.Sprintf("/api/commitments/%d", noSuchID)).Want(http.StatusBadRequest, missing("Bad request", "Commitment", noSuchID))
}

// decided is an event with four commitments to a controlled element each: requested, confirmed, rejected and noted. Its owner is the booker.
func (t *T) decided(booker *Client, keeper User) Answer {
	elements := []Element{}
	for range 4 {
		e := t.Property()
		t.Administrator(e, keeper)
		elements = append(elements, e)
	}
	a := t.Event(booker, nil, append(elements, t.Location())...)
	k := t.Login(keeper)
	for i, status := range []string{"requested", "confirmed", "rejected", "noted"} {
		if status != "requested" {
			decide(k, a.Int(fmt.Sprintf("event.commitments.%d.id", i)), status).Must(http.StatusOK)
		}
	}
	return a
}

func reapproval(t *T) {
	const decided, again = "requested confirmed rejected noted uncontrolled", "requested requested requested requested uncontrolled"
	for name, change := range map[string]struct {
		fields map[string]any
		want   string
	}{
		"set A, another start":       {map[string]any{"starts_at_text": "2019-04-10 09:30"}, again},
		"set B, another end":         {map[string]any{"ends_at": "2019-04-10 10:30"}, again},
		"set A, all-day":             {map[string]any{"all_day_field": true}, again},
		"set B, all-day":             {map[string]any{"all_day": true, "starts_at": "2019-04-10", "ends_at": "2019-04-11"}, again},
		"a title":                    {map[string]any{"body": "another"}, decided},
		"nothing":                    {map[string]any{}, decided},
		"the times that it has":      {map[string]any{"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00"}, decided},
		"a change that is not valid": {map[string]any{"starts_at": "2019-04-10 09:30", "body": ""}, decided},
	} {
		c := t.Booker()
		path := eventPath(t.decided(c, t.User()).Int("event.id"))
		t.Equal("before", statuses(c.Get(path)), decided)
		c.Patch(path, map[string]any{"event": change.fields})
		t.Equal("after "+name, statuses(c.Get(path)), change.want)
	}
}

func reapprovalOwn(t *T) {
	keeper := t.User("edit_all_events")
	other := t.Property()
	t.Administrator(other, t.User())
	path := eventPath(t.decided(t.Booker(), keeper).Int("event.id"))
	a := t.Login(keeper).Patch(path, map[string]any{"event": map[string]any{"starts_at": "2019-04-10 09:30"}}).Must(http.StatusOK)
	t.Equal("re-timed by the elements' administrator", statuses(a), "requested confirmed rejected noted uncontrolled")
	a = t.Admin().Patch(path, map[string]any{"event": map[string]any{"starts_at": "2019-04-10 09:15"}}).Must(http.StatusOK)
	t.Equal("re-timed by an admin, who administers none of them", statuses(a), "requested requested requested requested uncontrolled")
}
