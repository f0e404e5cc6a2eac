package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestPart4_2_Rule10_PatchChangesTheBasicFieldsAlone(t *testing.T) {
	proves(t, "4.2 rule 10", "4.2 PATCH event",
		"decisions 4 PATCH answer: status OK and the full event as GET shows it", "decisions 1 unknown fields")
	c, one, other, room := school.Booker(t), school.Staff(t), school.Staff(t), school.Location(t)
	a := school.Event(t, c, object{"organiser_id": one.ID}, room)
	id, path := a.Int(t, "event.id"), pathIn(t, a)
	change := object{
		"body": "changed", "organiser_id": other.Sent(), "event_category_id": school.category(t, nil), "all_day": true,
		"starts_at": "2019-04-11", "ends_at": "2019-04-13",
		"id": 1, "owner_id": 1, "owner": object{"id": 1}, "elements": []string{one.Sent()},
		"commitments": []any{}, "requests": []any{}, "valid": false, "nonsense": "x",
	}
	got := c.Patch(t, path, object{"event": change, "elements": []string{one.Sent()}}).Must(t, http.StatusOK)
	equal(t, "the answer is as GET's", got.Body, c.Get(t, path).Body)
	equal(t, "the summary", strings.HasPrefix(got.At(t, "event"),
		strings.TrimSuffix(school.summary(t, id, "changed", "2019-04-11 00:00", "2019-04-13 00:00", true),
			`"valid":true}`)), true)
	equal(t, "the organiser", got.At(t, "event.organiser"), other.List())
	equal(t, "the commitments", got.At(t, "event.commitments"), a.At(t, "event.commitments"))
	equal(t, "the event that is found",
		listed(t, on(t, c, room, "start_date=2019-04-10"))+listed(t, on(t, c, room, "start_date=2019-04-12")),
		"changed")
	equal(t, "the organiser taken away",
		c.Patch(t, path, object{"event": object{"organiser_id": nil}}).Has("event.organiser"), false)
}

func TestPart4_2_Rule10_FieldsNotGivenKeepTheirValues(t *testing.T) {
	proves(t, "4.2 PATCH event: changes a subset of the fields; the answer: see decisions 4", "4.2 rule 10")
	c, staff := school.Booker(t), school.Staff(t)
	a := school.Event(t, c, object{"body": "first", "organiser_id": staff.ID}, staff)
	path := pathIn(t, a)
	whole := c.Get(t, path).Body
	c.Patch(t, path, object{"event": object{}}).Want(t, http.StatusOK, whole)
	c.Patch(t, path, object{"event": object{"body": "second"}}).Want(t, http.StatusOK,
		strings.Replace(whole, `"first"`, `"second"`, 1))
	c.Patch(t, path, object{"event": object{"starts_at": "2019-04-10 09:30"}}).Must(t, http.StatusOK)
	got := c.Patch(t, path, object{"event": object{"event_category_id": school.category(t,
		nil)}}).Must(t, http.StatusOK)
	equal(t, "all but the start", got.At(t, "event.body")+got.At(t, "event.ends_at")+got.At(t, "event.organiser"),
		`"second"`+quoted(school.Wire(t, "2019-04-10 10:00"))+staff.List())
	for _, body := range []string{`{}`, `{"event":null}`, `{"event":[]}`, `{"body":"x"}`, `{"event":{}`, `[]`} {
		c.Do(t, http.MethodPatch, path, body).WantCode(t, http.StatusBadRequest)
	}
}

// TestPart4_2_Rule10_TimesOfASubset: a missing time field keeps its value (changeEvent).
func TestPart4_2_Rule10_TimesOfASubset(t *testing.T) {
	proves(t, "4.2 rule 10", "4.2 PATCH event", "decisions 4 reversed")
	c := school.Booker(t)
	for _, step := range []struct {
		name         string
		change       object
		starts, ends string
		allDay       bool
		errors       string
	}{
		{"only the start", object{"starts_at": "2019-04-10 08:00"}, "2019-04-10 08:00", "2019-04-10 10:00", false, ""},
		{"only the start, set A", object{"starts_at_text": "2019-04-10 08:00"}, "2019-04-10 08:00",
			"2019-04-10 10:00", false, ""},
		{"only the end", object{"ends_at": "2019-04-10 12:00"}, "2019-04-10 09:00", "2019-04-10 12:00", false, ""},
		{"only the end, set A", object{"ends_at_text": "2019-04-10 12:00"}, "2019-04-10 09:00",
			"2019-04-10 12:00", false, ""},
		{"a blank end, set A", object{"ends_at_text": ""}, "2019-04-10 09:00", "2019-04-10 09:00", false, ""},
		{"both", object{"starts_at": "2019-06-10 08:00", "ends_at": "2019-06-10 09:00"}, "2019-06-10 08:00",
			"2019-06-10 09:00", false, ""},
		{"all-day", object{"all_day": true}, "2019-04-10 00:00", "2019-04-11 00:00", true, ""},
		{"all-day, set A", object{"all_day_field": true}, "2019-04-10 00:00", "2019-04-11 00:00", true, ""},
		{"all-day to another day", object{"all_day_field": true, "starts_at_text": "2019-04-08",
			"ends_at_text": "2019-04-09"}, "2019-04-08 00:00", "2019-04-10 00:00", true, ""},
		{"the start after the end", object{"starts_at": "2019-04-10 11:00"}, "", "", false,
			`{"ends_at":["is before the start"]}`},
		{"the end before the start", object{"ends_at_text": "2019-04-10 08:59"}, "", "", false,
			`{"ends_at":["is before the start"]}`},
		{"no date", object{"starts_at": "then"}, "", "", false, `{"starts_at":["is not a date"]}`},
		{"a blank start", object{"starts_at_text": ""}, "", "", false, `{"starts_at":["can't be blank"]}`},
	} {
		made := school.Event(t, c, nil)
		path := pathIn(t, made)
		a := c.Patch(t, path, object{"event": step.change})
		if step.errors != "" {
			wantInvalid(t, a, made.At(t, "event.id"), step.errors)
			step.starts, step.ends = "2019-04-10 09:00", "2019-04-10 10:00"
		}
		a = c.Get(t, path)
		equal(t, step.name, a.Text(t, "event.starts_at")+" "+a.Text(t, "event.ends_at")+" "+a.At(t, "event.all_day"),
			fmt.Sprintf("%s %s %t", school.Wire(t, step.starts), school.Wire(t, step.ends), step.allDay))
	}
}

func TestDecisionsPart1_AnInvalidEventShowsTheTimesThatAreValid(t *testing.T) {
	proves(t,
		"decisions 1 422: an invalid record comes back with valid false and errors, id null where it was never stored",
		"2.3 fields")
	c := school.Booker(t)
	local := func(at string) string { return quoted(school.Wire(t, at)) }
	nine, ten, eleven := local("2019-04-10 09:00"), local("2019-04-10 10:00"), local("2019-04-10 11:00")
	twelfth := local("2019-04-12 00:00")
	for name, wrong := range map[string]struct {
		fields        object
		made, changed string // start, end and flag of a new event, and of one from 9 to 10
	}{
		"another field": {object{"body": "", "starts_at": "2019-04-10 11:00", "ends_at": "2019-04-12"},
			eleven + " " + twelfth + " false", eleven + " " + twelfth + " false"},
		"the end": {object{"starts_at": "2019-04-10 11:00", "ends_at": "soon"},
			eleven + " null false", eleven + " " + ten + " false"},
		"the end, before the start": {object{"starts_at": "2019-04-10 11:00", "ends_at": "2019-04-09"},
			eleven + " null false", eleven + " " + ten + " false"},
		"the start": {object{"starts_at": "soon", "ends_at": "2019-04-12", "all_day": true},
			"null " + twelfth + " true", nine + " " + twelfth + " true"},
	} {
		made := school.Event(t, c, nil)
		path := pathIn(t, made)
		before := c.Get(t, path).Body
		for want, a := range map[string]servicetest.Answer{
			"made " + wrong.made:       school.TryEvent(t, c, only(wrong.fields)),
			"changed " + wrong.changed: c.Patch(t, path, object{"event": wrong.fields}),
		} {
			a.WantCode(t, http.StatusUnprocessableEntity)
			what, _, _ := strings.Cut(want, " ")
			equal(t, "wrong: "+name, strings.Join([]string{what, a.At(t, "event.starts_at"), a.At(t, "event.ends_at"),
				a.At(t, "event.all_day")}, " "), want)
		}
		c.Get(t, path).Want(t, http.StatusOK, before)
	}
}

func TestDecisionsPart4_PutIsPatch(t *testing.T) {
	proves(t, "decisions 4 PUT: PUT is PATCH")
	c, room := school.Booker(t), school.Location(t)
	made := school.Event(t, c, object{"body": "first"}, room)
	path := pathIn(t, made)
	want := strings.Replace(c.Get(t, path).Body, `"first"`, `"second"`, 1)
	c.Put(t, path, object{"event": object{"body": "second"}}).Want(t, http.StatusOK, want)
	c.Get(t, path).Want(t, http.StatusOK, want)
	wantInvalid(t, c.Put(t, path, object{"event": object{"body": ""}}), made.At(t, "event.id"),
		`{"body":["can't be blank"]}`)
	school.As(t).Put(t, path, object{"event": object{"body": "third"}}).Want(t, http.StatusForbidden, forbidden)
	c.Put(t, path, object{}).WantCode(t, http.StatusBadRequest)
}

func TestPart4_2_Rule11_DeletingAnEventDeletesWhatIsOnIt(t *testing.T) {
	proves(t, "4.2 rule 11", "4.2 DELETE event: status OK", "decisions 4 delete", "decisions 1 exception")
	c, room, buses := school.Booker(t), school.Location(t), school.ResourceGroup(t)
	a := school.Event(t, c, nil, room, buses)
	id, commitment, request := a.Int(t, "event.id"), a.Int(t, "event.commitments.0.id"), a.Int(t, "event.requests.0.id")
	path := eventPath(id)
	note := c.Post(t, path+"/notes", object{"note": object{"contents": "x"}}).Int(t, "note.id")
	kept := school.book(t, c, "kept", "2019-04-10 11:00", "2019-04-10 12:00", room)
	c.Delete(t, path).Want(t, http.StatusOK, `{"status":"OK"}`)
	for _, gone := range []servicetest.Answer{c.Get(t, path), c.Delete(t, path), c.Get(t, path+"/notes"),
		add(t, c, id, room), c.Patch(t, path, object{"event": object{}})} {
		gone.Want(t, http.StatusNotFound, missing("Not found", "Event", id))
	}
	c.Delete(t, commitmentPath(commitment)).Want(t, http.StatusBadRequest,
		missing("Bad request", "Commitment", commitment))
	c.Patch(t, commitmentPath(commitment), object{"commitment": object{"status": "confirmed"}}).
		Want(t, http.StatusNotFound, missing("Not found", "Commitment", commitment))
	c.Delete(t, requestPath(request)).Want(t, http.StatusNotFound, missing("Not found", "Request", request))
	c.Get(t, notePath(note)).Want(t, http.StatusNotFound, missing("Not found", "Note", note))
	equal(t, "the room's day", listed(t, on(t, c, room, "start_date=2019-04-10")), "kept")
	c.Get(t, elementPath(buses)+"/requests?start_date=2019-04-10").Want(t, http.StatusOK,
		`{"status":"OK","requests":[]}`)
	c.Get(t, eventPath(kept)).WantCode(t, http.StatusOK)
}

func TestPart4_2_Rule12_DeletingACommitment(t *testing.T) {
	proves(t, "4.2 rule 12: deleting a missing commitment: Bad request with the exception body",
		"4.2 DELETE commitment: status OK", "7.1 Bad request: Bad request: deleting a missing commitment",
		"7.2 commitment", "7.2 body",
		"decisions 1 400 commitment: DELETE of a missing commitment: 400 with the exception body")
	c, room, staff := school.Booker(t), school.Location(t), school.Staff(t)
	a := school.Event(t, c, nil, room, staff)
	commitment := a.Int(t, "event.commitments.0.id")
	path := commitmentPath(commitment)
	c.Delete(t, path).Want(t, http.StatusOK, `{"status":"OK"}`)
	equal(t, "what is left", decode[booked](t, c.Get(t, pathIn(t, a))).elements(), []int64{staff.ID})
	equal(t, "the room's day", listed(t, on(t, c, room, "start_date=2019-04-10")), "")
	for range 2 {
		c.Delete(t, path).Want(t, http.StatusBadRequest, missing("Bad request", "Commitment", commitment))
	}
	c.Delete(t, commitmentPath(noSuchID)).Want(t, http.StatusBadRequest, missing("Bad request", "Commitment", noSuchID))
}

// decided makes an event with four commitments to controlled elements: requested, confirmed, rejected and noted.
// Its owner is the booker.
func (s *School) decided(t *testing.T, booker *servicetest.Client, keeper User) servicetest.Answer {
	t.Helper()
	elements := []Element{}
	for range 4 {
		e := s.Property(t)
		s.Administrator(t, e, keeper)
		elements = append(elements, e)
	}
	a := s.Event(t, booker, nil, append(elements, s.Location(t))...)
	k := s.Login(t, keeper)
	for i, status := range []string{"requested", "confirmed", "rejected", "noted"} {
		if status != "requested" {
			decide(t, k, a.Int(t, fmt.Sprintf("event.commitments.%d.id", i)), status).Must(t, http.StatusOK)
		}
	}
	return a
}

func TestDecisionsPart4_RetimingAsksForApprovalAgain(t *testing.T) {
	proves(t,
		"decisions 4 re-approval: re-timed: confirmed, noted and rejected commitments to controlled elements return "+
			"to requested, by either set")
	const decided = "requested confirmed rejected noted uncontrolled"
	const again = "requested requested requested requested uncontrolled"
	for name, change := range map[string]struct {
		fields object
		want   string
	}{
		"set A, another start": {object{"starts_at_text": "2019-04-10 09:30"}, again},
		"set B, another end":   {object{"ends_at": "2019-04-10 10:30"}, again},
		"set A, all-day":       {object{"all_day_field": true}, again},
		"set B, all-day": {object{"all_day": true, "starts_at": "2019-04-10",
			"ends_at": "2019-04-11"}, again},
		"a title": {object{"body": "another"}, decided},
		"nothing": {object{}, decided},
		"the times that it has": {object{"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00"},
			decided},
		"a change that is not valid": {object{"starts_at": "2019-04-10 09:30", "body": ""}, decided},
	} {
		c := school.Booker(t)
		path := eventPath(school.decided(t, c, school.User(t)).Int(t, "event.id"))
		equal(t, "before", statuses(t, c.Get(t, path)), decided)
		c.Patch(t, path, object{"event": change.fields})
		equal(t, "after "+name, statuses(t, c.Get(t, path)), change.want)
	}
}

func TestDecisionsPart4_RetimingByTheElementsAdministratorKeepsTheStatus(t *testing.T) {
	proves(t, "decisions 4 re-approval own: unless the caller administers the element")
	keeper := school.User(t, "edit_all_events")
	other := school.Property(t)
	school.Administrator(t, other, school.User(t))
	path := eventPath(school.decided(t, school.Booker(t), keeper).Int(t, "event.id"))
	a := school.Login(t, keeper).Patch(t, path,
		object{"event": object{"starts_at": "2019-04-10 09:30"}}).Must(t, http.StatusOK)
	equal(t, "re-timed by the elements' administrator", statuses(t, a),
		"requested confirmed rejected noted uncontrolled")
	a = school.Admin().Patch(t, path, object{"event": object{"starts_at": "2019-04-10 09:15"}}).Must(t, http.StatusOK)
	equal(t, "re-timed by an admin, who administers none of them", statuses(t, a),
		"requested requested requested requested uncontrolled")
}
