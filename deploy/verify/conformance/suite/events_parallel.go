package suite

import (
	"fmt"
	"net/http"
	"slices"
)

// parallelism is how many calls are made at once.
const parallelism = 100

func parallelChecks() []Check {
	return []Check{
		prove("TestPart4_2_Rule08_100ParallelAddsOfOneElement", parallelAddsOfOneElement, "4.2 rule 8", "4.2 rule 7"),
		prove("TestPart4_2_Rule05_100ParallelAddsOfOneResourceGroup", parallelAddsOfAGroup, "4.2 rule 5"),
		prove("TestPart4_2_Rule10_ParallelPatchAndAddLoseNothing", parallelPatchAndAdd, "4.2 rule 10"),
		prove("TestPart4_2_Rule11_ParallelAddAndDeleteLeaveNothing", parallelAddAndDelete, "4.2 rule 11", "decisions 4 delete"),
		prove("TestPart4_3_Rule02_ParallelChangesOfANoteLoseNothing", parallelNoteChanges, "4.3 rule 2"),
		prove("TestDecisionsPart5_OfParallelDecisionsEachIsLegal", parallelDecisions, "decisions 5 transitions", "decisions 5 illegal"),
	}
}

// posting is a call of Parallel that adds elements to an event.
func posting(event int64, elements ...Element) (method, path string, body any) {
	return http.MethodPost, eventPath(event) + "/add", map[string]any{"elements": sent(elements...)}
}

func parallelAddsOfOneElement(t *T) {
	u, calendar := t.User("can_add_events"), t.Controlled()
	c := t.Login(u)
	event := t.Event(c, nil).Int("event.id")
	failed := 0
	for _, a := range t.Parallel(parallelism, func(int) (string, string, any) { return posting(event, calendar) }, c, t.Login(u)) {
		b := decode[booked](a.Must(http.StatusOK))
		t.Equal("commitments in an answer", b.elements(), []int64{calendar.ID})
		if len(b.Failures) > 0 {
			failed++
			t.Equal("the failure", b.failures(), fmt.Sprintf("0 %d Commitment", calendar.ID))
			t.Equal("its errors", a.At("failures.0.item.errors"), `{"element_id":["has already been taken"]}`)
		}
	}
	t.Equal("failures of 100", failed, parallelism-1)
	t.Equal("commitments", decode[booked](c.Get(eventPath(event))).elements(), []int64{calendar.ID})
}

func parallelAddsOfAGroup(t *T) {
	u, buses := t.User("can_add_events"), t.ResourceGroup()
	c := t.Login(u)
	event := t.Event(c, nil).Int("event.id")
	quantities := []int{}
	for _, a := range t.Parallel(parallelism, func(int) (string, string, any) { return posting(event, buses) }, c, t.Login(u)) {
		b := decode[booked](a.Must(http.StatusOK))
		t.Equal("failures", len(b.Failures), 0)
		t.Equal("requests", len(b.Event.Requests), 1)
		quantities = append(quantities, b.Event.Requests[0].Quantity)
	}
	slices.Sort(quantities)
	want := []int{}
	for i := range parallelism {
		want = append(want, i+1)
	}
	t.Equal("the quantities answered", quantities, want)
	b := decode[booked](c.Get(eventPath(event)))
	t.Equal("requests in the end", fmt.Sprint(len(b.Event.Requests), " of ", b.Event.Requests[0].Quantity), "1 of 100")
}

func parallelPatchAndAdd(t *T) {
	u, staff := t.User("can_add_events"), t.Staff()
	c := t.Login(u)
	event := t.Event(c, nil).Int("event.id")
	added := []Element{t.Staff(), t.Location(), t.Pupil(), t.Group(), t.Property(), t.Controlled(), t.Staff(), t.Location(), t.ResourceGroup(), t.ResourceGroup()}
	answers := t.Parallel(40, func(i int) (string, string, any) {
		change := map[string]any{"body": fmt.Sprint("title ", i)}
		switch {
		case i < len(added):
			return posting(event, added[i])
		case i%4 == 1:
			change = map[string]any{"organiser_id": staff.ID}
		case i%4 == 2:
			change = map[string]any{"starts_at": "2019-04-10 08:15"}
		case i%4 == 3:
			change = map[string]any{"ends_at": "2019-04-10 12:45"}
		}
		return http.MethodPatch, eventPath(event), map[string]any{"event": change}
	}, c, t.Login(u))
	titles := []string{}
	for i, a := range answers {
		t.Equal("a call's code", a.Code, http.StatusOK)
		if i >= len(added) && i%4 == 0 {
			titles = append(titles, fmt.Sprint("title ", i))
		}
	}
	a := c.Get(eventPath(event))
	b := decode[booked](a)
	got := b.elements()
	for _, r := range b.Event.Requests {
		got = append(got, r.Element.ID)
	}
	want := []int64{}
	for _, e := range added {
		want = append(want, e.ID)
	}
	slices.Sort(got)
	slices.Sort(want)
	t.Equal("what was added", got, want)
	t.Equal("the times", span(a), t.spans("2019-04-10 08:15", "2019-04-10 12:45", false))
	t.Equal("the organiser", a.At("event.organiser"), staff.List())
	t.Equal("the title is one of those given", slices.Contains(titles, b.Event.Body), true)
}

func parallelAddAndDelete(t *T) {
	u, room := t.User("can_add_events"), t.Location()
	c := t.Login(u)
	for range 5 {
		event := t.Event(c, nil).Int("event.id")
		for _, a := range t.Parallel(20, func(i int) (string, string, any) {
			if i == 10 {
				return http.MethodDelete, eventPath(event), nil
			}
			return posting(event, room)
		}, c, t.Login(u)) {
			t.Equal("a call's code is 200 or 404", a.Code == http.StatusOK || a.Code == http.StatusNotFound, true)
		}
		c.Get(eventPath(event)).Want(http.StatusNotFound, missing("Not found", "Event", event))
		t.Equal("the room's day", listed(on(c, room, "start_date=2019-04-10")), "")
	}
}

func parallelNoteChanges(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	id := t.note(c, event, map[string]any{"contents": "a"})
	changes := []map[string]any{{"contents": "*b*"}, {"visible_guest": true}, {"visible_staff": false}, {"visible_pupil": true}}
	for _, a := range t.Parallel(20, func(i int) (string, string, any) {
		return http.MethodPut, notePaths(id)[i%2], map[string]any{"note": changes[i%len(changes)]}
	}, c) {
		t.Equal("a change's code", a.Code, http.StatusOK)
	}
	a := c.Get(notePaths(id)[0])
	t.Equal("the note", fmt.Sprint(a.String("note.formatted_contents"), a.At("note.visible_guest"), a.At("note.visible_staff"), a.At("note.visible_pupil")), "<p><em>b</em></p>\ntruefalsetrue")
}

// parallelDecisions: of many decisions for one status at once, one is a move and the others find it made.
func parallelDecisions(t *T) {
	keeper, calendar := t.User(), t.Property()
	t.Administrator(calendar, keeper)
	k, c := t.Login(keeper), t.Booker()
	made := t.Event(c, nil, calendar)
	path := fmt.Sprintf("/api/commitments/%d", made.Int("event.commitments.0.id"))
	codes := map[int]int{}
	for _, a := range t.Parallel(20, func(int) (string, string, any) {
		return http.MethodPatch, path, map[string]any{"commitment": map[string]any{"status": "confirmed"}}
	}, k, t.Login(keeper)) {
		codes[a.Code]++
	}
	t.Equal("codes", codes, map[int]int{http.StatusOK: 1, http.StatusConflict: 19})
	t.Equal("the status", statuses(c.Get(eventPath(made.Int("event.id")))), "confirmed")
}
