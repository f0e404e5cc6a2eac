package conformance_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// outing is an event and the records it refers to, each under its name in the golden files.
type outing struct {
	owner                  User
	client                 *servicetest.Client
	teacher, calendar, bus Element
	title                  string
	answer                 servicetest.Answer // to the creation
	withSamples            []any
}

// newOuting creates an event with a teacher, a controlled calendar, a resource group twice, the teacher again, and
// ids that do not exist.
func (s *School) newOuting(t *testing.T) outing {
	t.Helper()
	o := outing{owner: s.User(t, "can_add_events", "can_add_notes"), teacher: s.Staff(t), calendar: s.Controlled(t),
		bus: s.ResourceGroup(t), title: s.Unique("Bletchley Park")}
	o.client = s.Login(t, o.owner)
	o.answer = o.client.Post(t, "/api/events", object{
		"event": object{
			"body": o.title, "event_category_id": strconv.FormatInt(s.Category.ID, 10),
			"organiser_id": o.teacher.Sent(), "starts_at_text": "2019-04-10 09:00", "ends_at_text": "2019-04-10 16:30",
		},
		"elements": []any{o.teacher.Sent(), o.calendar.Sent(), o.bus.Sent(), o.bus.Sent(), o.teacher.Sent(),
			strconv.Itoa(noSuchID), "minibus <3>"},
	}).Must(t, http.StatusOK)
	o.withSamples = []any{
		10001, o.answer.Int(t, "event.id"), "Bletchley Park",
		o.title, 10011, o.answer.Int(t, "event.commitments.0.id"), 10012, o.answer.Int(t, "event.commitments.1.id"),
		10021, o.answer.Int(t, "event.requests.0.id"), 10101, o.teacher.ID, 10102,
		o.teacher.EntityID, "HGO - Hannah Gordon", o.teacher.Name, 10103, o.calendar.ID, 10104, o.calendar.EntityID,
		"Public Calendar", o.calendar.Name, 10105, o.bus.ID, 10106, o.bus.EntityID, "Minibuses", o.bus.Name,
	}
	return o
}

func (o outing) path(t *testing.T) string {
	t.Helper()
	return eventPath(o.answer.Int(t, "event.id"))
}

// samples returns the samples of the outing, and those pairs.
func (o outing) samples(more ...any) []any { return append(append([]any{}, o.withSamples...), more...) }

func TestPart2_3_ANewEvent(t *testing.T) {
	proves(t, "2.3 fields", "2.3 times: starts_at and ends_at are ISO 8601 with milliseconds and a numeric offset",
		"2.3 commitments and requests: arrays in create, add and get answers, and in no summary", "2.2 fields",
		"2.2 element in an event: element is present inside an event", "2.2 event", "2.4 fields",
		"2.8 fields: a failure: index, element_id, item_type, item", "2.8 index", "2.8 element_id", "2.8 record",
		"2.8 hash", "2.2 errors", "4.2 POST events", "3.1 only two", "3.1 uncontrolled", "3.1 requested", "3.2 start",
		"7.1 Created: Created: an event was created", "7.3 partial failures", "decisions 1 key order",
		"decisions 1 200: 200 for every documented call; creating an event is 200 Created")
	o := school.newOuting(t)
	school.Golden(t, o.answer, http.StatusOK, "outing_created.json", o.samples(9223372036854775807, int64(noSuchID))...)
}

func TestPart2_3_AnEventThatIsAddedTo(t *testing.T) {
	proves(t, "2.3 fields", "4.2 POST add: adds: as create, with status OK",
		"3.1 only two: create and add answers show only uncontrolled and requested",
		"7.1 OK: OK: success, adding of elements included", "7.1 Not found")
	o := school.newOuting(t)
	room := school.Location(t)
	a := o.client.Post(t, o.path(t)+"/add",
		object{"elements": []any{room.Sent(), o.bus.Sent(), o.calendar.Sent(), "12.5"}}).Must(t, http.StatusOK)
	school.Golden(t, a, http.StatusOK, "outing_added.json", o.samples(10013,
		a.Int(t, "event.commitments.2.id"), 10107, room.ID, 10108, room.EntityID, "Great Hall", room.Name)...)
	a = o.client.Post(t, o.path(t)+"/add", object{"elements": []any{}})
	a.WantCode(t, http.StatusOK)
	a.Equal(t, "failures", "[]")
}

func TestPart2_3_AnEventFetched(t *testing.T) {
	proves(t, "2.3 fields", "2.3 owner", "2.3 organiser", "2.8 category: no answer shows an event's category",
		"4.2 GET event", "decisions 4 owner form: owner: the user list form",
		"decisions 4 organiser form: organiser: the element list form")
	o := school.newOuting(t)
	school.Golden(t, o.client.Get(t, o.path(t)), http.StatusOK, "outing_fetched.json",
		o.samples(10201, o.owner.ID, "Ann Archer", o.owner.Name, "ann.archer@school.example", o.owner.Email)...)
}

func TestPart2_3_AnEventWithoutOwnerAndOrganiser(t *testing.T) {
	proves(t, "2.3 owner: owner, a user, in get answers, only if there is one",
		"2.3 organiser: organiser, a staff element, in get answers, only if there is one",
		"decisions 4 left out: owner and organiser are left out when there is none",
		"decisions 1 empty lists: empty lists are [], never null")
	key := school.Unique("event")
	id := school.Import(t, "events", object{"key": key, "body": "Term ends",
		"category": school.Category.Name, "starts_at": "2019-12-13", "ends_at": "2019-12-14", "all_day": true})[key]
	school.Golden(t, school.As(t).Get(t, eventPath(id)), http.StatusOK, "event_without_owner.json", 10001, id)
}

func TestPart2_3_AnInvalidEvent(t *testing.T) {
	proves(t, "2.3 fields: an event: id, body, starts_at, ends_at, all_day, then what its form has, then valid",
		"decisions 1 422")
	c := school.Booker(t)
	school.Golden(t, c.Post(t, "/api/events", object{"event": object{"organiser_id": school.Pupil(t).ID,
		"starts_at": "2019-02-29", "ends_at": "2019-03-01"}}), http.StatusUnprocessableEntity, "event_refused.json")
	a := school.Event(t, c, object{"body": "Lesson"})
	changed := c.Patch(t, pathIn(t, a), object{"event": object{"body": " ", "ends_at_text": "2019-04-09 10:00"}})
	school.Golden(t, changed, http.StatusUnprocessableEntity, "event_change_refused.json", 10001, a.Int(t, "event.id"))
}

func TestPart2_5_AnInvalidNote(t *testing.T) {
	proves(t,
		"2.5 fields: a note: id, contents, visible_guest, visible_staff, visible_pupil, formatted_contents, owner, "+
			"parent, valid", "decisions 1 422")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	a := c.Post(t, notesPath(event), object{"note": object{"contents": 5, "visible_staff": "perhaps"}})
	equal(t, "id, valid and errors of an invalid note", a.At(t, "note.id")+a.At(t, "note.valid")+strings.Join(
		strings.Split(a.Keys(t, "note.errors"), ","), " "), "nullfalsecontents visible_staff")
	equal(t, "its keys", a.Keys(t, "note"),
		"id,contents,visible_guest,visible_staff,visible_pupil,formatted_contents,owner,valid,errors")
	a.WantCode(t, http.StatusUnprocessableEntity)
}
