package conformance_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// parallelism is the number of concurrent calls.
const parallelism = 100

// posting returns a call for atOnce that adds elements to an event.
func posting(event int64, elements ...Element) (method, path string, body any) {
	return http.MethodPost, eventPath(event) + "/add", object{"elements": sent(elements...)}
}

func TestPart4_2_Rule08_100ParallelAddsOfOneElement(t *testing.T) {
	proves(t, "4.2 rule 8: an element already on the event fails as Commitment: element_id has already been taken",
		"4.2 rule 7")
	u, calendar := school.User(t, "can_add_events"), school.Controlled(t)
	c := school.Login(t, u)
	event := school.Event(t, c, nil).Int(t, "event.id")
	failed := 0
	for _, a := range atOnce(t, parallelism, func(int) (string, string, any) { return posting(event, calendar) }, c,
		school.Login(t, u)) {
		b := decode[booked](t, a.Must(t, http.StatusOK))
		equal(t, "commitments in an answer", b.elements(), []int64{calendar.ID})
		if len(b.Failures) > 0 {
			failed++
			equal(t, "the failure", b.failures(), fmt.Sprintf("0 %d Commitment", calendar.ID))
			equal(t, "its errors", a.At(t, "failures.0.item.errors"), `{"element_id":["has already been taken"]}`)
		}
	}
	equal(t, "failures of 100", failed, parallelism-1)
	equal(t, "commitments", decode[booked](t, c.Get(t, eventPath(event))).elements(), []int64{calendar.ID})
}

func TestPart4_2_Rule05_100ParallelAddsOfOneResourceGroup(t *testing.T) {
	proves(t, "4.2 rule 5")
	u, buses := school.User(t, "can_add_events"), school.ResourceGroup(t)
	c := school.Login(t, u)
	event := school.Event(t, c, nil).Int(t, "event.id")
	quantities := []int{}
	for _, a := range atOnce(t, parallelism, func(int) (string, string, any) { return posting(event, buses) }, c,
		school.Login(t, u)) {
		b := decode[booked](t, a.Must(t, http.StatusOK))
		equal(t, "failures", len(b.Failures), 0)
		equal(t, "requests", len(b.Event.Requests), 1)
		quantities = append(quantities, b.Event.Requests[0].Quantity)
	}
	slices.Sort(quantities)
	want := []int{}
	for i := range parallelism {
		want = append(want, i+1)
	}
	equal(t, "the quantities answered", quantities, want)
	b := decode[booked](t, c.Get(t, eventPath(event)))
	equal(t, "requests in the end", fmt.Sprint(len(b.Event.Requests), " of ", b.Event.Requests[0].Quantity), "1 of 100")
}

func TestPart4_2_Rule10_ParallelPatchAndAddLoseNothing(t *testing.T) {
	proves(t, "4.2 rule 10: PATCH needs edit rights and changes only title, organiser, category and times")
	u, staff := school.User(t, "can_add_events"), school.Staff(t)
	c := school.Login(t, u)
	event := school.Event(t, c, nil).Int(t, "event.id")
	added := []Element{school.Staff(t), school.Location(t), school.Pupil(t), school.Group(t), school.Property(t),
		school.Controlled(t), school.Staff(t), school.Location(t), school.ResourceGroup(t), school.ResourceGroup(t)}
	answers := atOnce(t, 40, func(i int) (string, string, any) {
		change := object{"body": fmt.Sprint("title ", i)}
		switch {
		case i < len(added):
			return posting(event, added[i])
		case i%4 == 1:
			change = object{"organiser_id": staff.ID}
		case i%4 == 2:
			change = object{"starts_at": "2019-04-10 08:15"}
		case i%4 == 3:
			change = object{"ends_at": "2019-04-10 12:45"}
		}
		return http.MethodPatch, eventPath(event), object{"event": change}
	}, c, school.Login(t, u))
	titles := []string{}
	for i, a := range answers {
		equal(t, "a call's code", a.Code, http.StatusOK)
		if i >= len(added) && i%4 == 0 {
			titles = append(titles, fmt.Sprint("title ", i))
		}
	}
	a := c.Get(t, eventPath(event))
	b := decode[booked](t, a)
	got := b.elements()
	for _, r := range b.Event.Requests {
		got = append(got, r.Element.ID)
	}
	want := sequence.Map(added, func(e Element) int64 { return e.ID })
	slices.Sort(got)
	slices.Sort(want)
	equal(t, "what was added", got, want)
	equal(t, "the times", span(t, a), school.spans(t, "2019-04-10 08:15", "2019-04-10 12:45", false))
	equal(t, "the organiser", a.At(t, "event.organiser"), staff.List())
	equal(t, "the title is one of those given", slices.Contains(titles, b.Event.Body), true)
}

func TestPart4_2_Rule11_ParallelAddAndDeleteLeaveNothing(t *testing.T) {
	proves(t, "4.2 rule 11: deleting an event deletes its commitments and requests; one's own can be deleted",
		"decisions 4 delete: deleting an event deletes its commitments, requests and notes")
	u, room := school.User(t, "can_add_events"), school.Location(t)
	c := school.Login(t, u)
	for range 5 {
		event := school.Event(t, c, nil).Int(t, "event.id")
		for _, a := range atOnce(t, 20, func(i int) (string, string, any) {
			if i == 10 {
				return http.MethodDelete, eventPath(event), nil
			}
			return posting(event, room)
		}, c, school.Login(t, u)) {
			equal(t, "a call's code is 200 or 404", a.Code == http.StatusOK || a.Code == http.StatusNotFound, true)
		}
		c.Get(t, eventPath(event)).Want(t, http.StatusNotFound, missing("Not found", "Event", event))
		equal(t, "the room's day", listed(t, on(t, c, room, "start_date=2019-04-10")), "")
	}
}

func TestPart4_3_Rule02_ParallelChangesOfANoteLoseNothing(t *testing.T) {
	proves(t, "4.3 rule 2: on update, fields not given keep their values")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	id := addNote(t, c, event, object{"contents": "a"})
	changes := []object{{"contents": "*b*"}, {"visible_guest": true}, {"visible_staff": false}, {"visible_pupil": true}}
	for _, a := range atOnce(t, 20, func(i int) (string, string, any) {
		return http.MethodPut, notePaths(id)[i%2], object{"note": changes[i%len(changes)]}
	}, c) {
		equal(t, "a change's code", a.Code, http.StatusOK)
	}
	a := c.Get(t, notePaths(id)[0])
	equal(t, "the note", a.Text(t, "note.formatted_contents")+shownTo(t, a), "<p><em>b</em></p>\ntrue false true")
}

// TestDecisionsPart5_OfParallelDecisionsEachIsLegal: of many concurrent decisions for the same status, one changes
// it and the others find it changed.
func TestDecisionsPart5_OfParallelDecisionsEachIsLegal(t *testing.T) {
	proves(t, "decisions 5 transitions: the allowed moves between requested, noted, confirmed and rejected",
		"decisions 5 illegal: any other move: 409")
	c := school.Booker(t)
	k, calendar := school.keeper(t)
	made := school.Event(t, c, nil, calendar)
	path := commitmentIn(t, made, 0)
	codes := map[int]int{}
	for _, a := range atOnce(t, 20, func(int) (string, string, any) {
		return http.MethodPatch, path, object{"commitment": object{"status": "confirmed"}}
	}, k, k) {
		codes[a.Code]++
	}
	equal(t, "codes", codes, map[int]int{http.StatusOK: 1, http.StatusConflict: 19})
	equal(t, "the status", statuses(t, c.Get(t, pathIn(t, made))), "confirmed")
}
