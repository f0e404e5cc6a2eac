package suite

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// fieldChecks are those of part 2 but for elements: each form of each record against its golden file.
func fieldChecks() []Check {
	return []Check{
		prove("TestPart2_3_ANewEvent", newEvent, "2.3 fields", "2.3 times", "2.3 commitments and requests", "2.2 fields", "2.2 element in an event", "2.2 event", "2.4 fields", "2.8 fields", "2.8 index",
			"2.8 element_id", "2.8 record", "2.8 hash", "2.2 errors", "4.2 POST events", "3.1 only two", "3.1 uncontrolled", "3.1 requested", "3.2 start", "7.1 Created", "7.3 partial failures", "decisions 1 key order", "decisions 1 200"),
		prove("TestPart2_3_AnEventThatIsAddedTo", addedEvent, "2.3 fields", "4.2 POST add", "3.1 only two", "7.1 OK", "7.1 Not found"),
		prove("TestPart2_3_AnEventFetched", fetchedEvent, "2.3 fields", "2.3 owner", "2.3 organiser", "2.8 category", "4.2 GET event", "decisions 4 owner form", "decisions 4 organiser form"),
		prove("TestPart2_3_AnEventWithoutOwnerAndOrganiser", eventOfNobody, "2.3 owner", "2.3 organiser", "decisions 4 left out", "decisions 1 empty lists"),
		prove("TestPart2_3_AnInvalidEvent", invalidEvent, "2.3 fields", "decisions 1 422"),
		prove("TestPart2_2_ACommitmentDecided", decidedCommitment, "2.2 fields", "3.1 values", "3.1 confirmed", "3.1 rejected", "3.1 noted"),
		prove("TestPart2_4_OnlyResourceGroupsHaveRequests", onlyResourceGroupsHaveRequests, "2.4 resource groups"),
		prove("TestPart2_5_NotesOfAnEventAndOfTheSystem", notesOfAnEvent, "2.5 fields", "2.5 owner", "2.5 system notes", "2.5 parent", "4.3 GET notes of an event"),
		prove("TestPart2_5_AnInvalidNote", invalidNote, "2.5 fields", "decisions 1 422"),
	}
}

// outing is an event with what it is made of, each thing under its golden name.
type outing struct {
	t                      *T
	owner                  User
	client                 *Client
	teacher, calendar, bus Element
	title                  string
	answer                 Answer // to its creation
	withSamples            []any
}

// newOuting creates an event with a teacher, a controlled calendar, a resource group twice, the teacher once more, and ids of nothing.
func (t *T) newOuting() outing {
	o := outing{t: t, owner: t.User("can_add_events", "can_add_notes"), teacher: t.Staff(), calendar: t.Controlled(), bus: t.ResourceGroup(), title: t.Unique("Bletchley Park")}
	o.client = t.Login(o.owner)
	o.answer = o.client.Post("/api/events", map[string]any{
		"event": map[string]any{
			"body": o.title, "event_category_id": strconv.FormatInt(t.School.Category.ID, 10), "organiser_id": o.teacher.Sent(),
			"starts_at_text": "2019-04-10 09:00", "ends_at_text": "2019-04-10 16:30",
		},
		"elements": []any{o.teacher.Sent(), o.calendar.Sent(), o.bus.Sent(), o.bus.Sent(), o.teacher.Sent(), strconv.Itoa(noSuchID), "minibus <3>"},
	}).Must(http.StatusOK)
	o.withSamples = []any{
		10001, o.answer.Int("event.id"), "Bletchley Park", o.title,
		10011, o.answer.Int("event.commitments.0.id"), 10012, o.answer.Int("event.commitments.1.id"), 10021, o.answer.Int("event.requests.0.id"),
		10101, o.teacher.ID, 10102, o.teacher.EntityID, "HGO - Hannah Gordon", o.teacher.Name,
		10103, o.calendar.ID, 10104, o.calendar.EntityID, "Public Calendar", o.calendar.Name,
		10105, o.bus.ID, 10106, o.bus.EntityID, "Minibuses", o.bus.Name,
	}
	return o
}

func (o outing) path() string { return fmt.Sprintf("/api/events/%d", o.answer.Int("event.id")) }

// samples are those of the outing and further pairs.
func (o outing) samples(more ...any) []any { return append(append([]any{}, o.withSamples...), more...) }

func newEvent(t *T) {
	o := t.newOuting()
	t.Golden(o.answer, http.StatusOK, "outing_created.json", o.samples(9223372036854775807, int64(noSuchID))...)
}

func addedEvent(t *T) {
	o := t.newOuting()
	room := t.Location()
	a := o.client.Post(o.path()+"/add", map[string]any{"elements": []any{room.Sent(), o.bus.Sent(), o.calendar.Sent(), "12.5"}}).Must(http.StatusOK)
	t.Golden(a, http.StatusOK, "outing_added.json", o.samples(10013, a.Int("event.commitments.2.id"), 10107, room.ID, 10108, room.EntityID, "Great Hall", room.Name)...)
	a = o.client.Post(o.path()+"/add", map[string]any{"elements": []any{}})
	a.WantCode(http.StatusOK)
	a.Equal("failures", "[]")
}

func fetchedEvent(t *T) {
	o := t.newOuting()
	t.Golden(o.client.Get(o.path()), http.StatusOK, "outing_fetched.json", o.samples(10201, o.owner.ID, "Ann Archer", o.owner.Name, "ann.archer@school.example", o.owner.Email)...)
}

func eventOfNobody(t *T) {
	key := t.Unique("event")
	id := t.Import("events", map[string]any{"key": key, "body": "Term ends", "category": t.School.Category.Name, "starts_at": "2019-12-13", "ends_at": "2019-12-14", "all_day": true})[key]
	t.Golden(t.As().Get(fmt.Sprintf("/api/events/%d", id)), http.StatusOK, "event_of_nobody.json", 10001, id)
}

func invalidEvent(t *T) {
	c := t.Booker()
	t.Golden(c.Post("/api/events", map[string]any{"event": map[string]any{"organiser_id": t.Pupil().ID, "starts_at": "2019-02-29", "ends_at": "2019-03-01"}}), http.StatusUnprocessableEntity, "event_refused.json")
	a := t.Event(c, map[string]any{"body": "Lesson"})
	changed := c.Patch(fmt.Sprintf("/api/events/%d", a.Int("event.id")), map[string]any{"event": map[string]any{"body": " ", "ends_at_text": "2019-04-09 10:00"}})
	t.Golden(changed, http.StatusUnprocessableEntity, "event_change_refused.json", 10001, a.Int("event.id"))
}

func decidedCommitment(t *T) {
	booker, decider, calendar := t.Booker(), t.User(), t.Property()
	t.Administrator(calendar, decider)
	c := t.Login(decider)
	a := t.Event(booker, map[string]any{"body": "Concert"}, calendar)
	path := fmt.Sprintf("/api/commitments/%d", a.Int("event.commitments.0.id"))
	for status, why := range map[string]string{"confirmed": "", "rejected": "the hall is shut", "noted": "who pays?"} {
		a := t.Event(booker, nil, calendar)
		a.Equal("event.commitments.0.status", `"requested"`)
		c.Patch(fmt.Sprintf("/api/commitments/%d", a.Int("event.commitments.0.id")), map[string]any{"commitment": map[string]any{"status": status, "reason": why}}).Must(http.StatusOK).Equal("commitment.status", strconv.Quote(status))
		booker.Get(fmt.Sprintf("/api/events/%d", a.Int("event.id"))).Equal("event.commitments.0.status", strconv.Quote(status))
	}
	c.Patch(path, map[string]any{"commitment": map[string]any{"status": "postponed"}}).WantCode(http.StatusUnprocessableEntity)
}

func onlyResourceGroupsHaveRequests(t *T) {
	c := t.Booker()
	for _, e := range []Element{t.Staff(), t.Pupil(), t.Location(), t.Property(), t.Group(t.Pupil())} {
		a := t.Event(c, nil, e)
		a.Equal("event.requests", "[]")
		a.Equal("event.commitments.0.element", e.List())
		t.Equal("commitments of a "+e.EntityType, a.Len("event.commitments"), 1)
	}
	a := t.Event(c, nil, t.ResourceGroup())
	a.Equal("event.commitments", "[]")
	t.Equal("requests", a.Len("event.requests"), 1)
}

func notesOfAnEvent(t *T) {
	owner := t.User("can_add_notes")
	key, note := t.Unique("event"), t.Unique("note")
	event := t.Import("events", map[string]any{"key": key, "body": "Lesson", "category": t.School.Category.Name, "starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00"})[key]
	system := t.Import("notes", map[string]any{"key": note, "event": key, "contents": "2 of 9A are away."})[note]
	c := t.Login(owner)
	t.Golden(c.Get(fmt.Sprintf("/api/events/%d/notes", event)), http.StatusOK, "notes_of_the_system.json", 10301, system)
	other := fmt.Sprintf("/api/events/%d/notes", t.Event(t.Booker(), nil).Int("event.id"))
	own := c.Post(other, wrapped("note", "contents", "In the library."))
	own.Equal("note.owner", owner.List())
	c.Get(other).Want(http.StatusOK, `{"status":"OK","notes":[`+own.At("note")+`]}`)
}

func invalidNote(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	a := c.Post(fmt.Sprintf("/api/events/%d/notes", event), map[string]any{"note": map[string]any{"contents": 5, "visible_staff": "perhaps"}})
	t.Equal("id, valid and errors of an invalid note", a.At("note.id")+a.At("note.valid")+strings.Join(strings.Split(a.Keys("note.errors"), ","), " "), "nullfalsecontents visible_staff")
	t.Equal("its keys", a.Keys("note"), "id,contents,visible_guest,visible_staff,visible_pupil,formatted_contents,owner,valid,errors")
	a.WantCode(http.StatusUnprocessableEntity)
}
