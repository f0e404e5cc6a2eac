package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// object is a JSON object.
type object = map[string]any

// decode decodes the part of an answer that a test uses, and ends the test when it cannot.
func decode[V any](t *testing.T, a servicetest.Answer) V {
	t.Helper()
	var v V
	a.Decode(t, &v)
	return v
}

// booked is the part of the answers of create, add and get that tests use.
type booked struct{ servicetest.Booking }

// elements returns the ids of the committed elements, in their order.
func (b booked) elements() []int64 {
	ids := []int64{}
	for _, c := range b.Event.Commitments {
		ids = append(ids, c.Element.ID)
	}
	return ids
}

// failures returns index, element_id and item_type of each failure.
func (b booked) failures() string {
	texts := []string{}
	for _, f := range b.Failures {
		texts = append(texts, fmt.Sprintf("%d %s %s", f.Index, f.ElementID, f.ItemType))
	}
	return strings.Join(texts, ", ")
}

// listed returns the titles of the events in a listing of commitments, in its order. A title through a group has @
// and the group's id at its end.
func listed(t *testing.T, a servicetest.Answer) string {
	t.Helper()
	titles := []string{}
	for _, c := range decode[struct {
		Commitments []struct {
			Element *struct{ ID int64 }
			Event   struct{ Body string }
		}
	}](t, a).Commitments {
		title := c.Event.Body
		if c.Element != nil {
			title += fmt.Sprintf("@%d", c.Element.ID)
		}
		titles = append(titles, title)
	}
	return strings.Join(titles, ", ")
}

// on returns the titles of an element's commitments for a query such as "start_date=2019-04-10"; "" is none.
func on(t *testing.T, c *servicetest.Client, e Element, query string) servicetest.Answer {
	t.Helper()
	path := elementPath(e) + "/commitments"
	if query != "" {
		path += "?" + query
	}
	return c.Get(t, path).Must(t, 200)
}

// book makes an event with that title by set B, from one local time to another, with the elements, and returns its
// id.
func (s *School) book(t *testing.T, c *servicetest.Client, title, starts, ends string, elements ...Element) int64 {
	t.Helper()
	a := s.Event(t, c, object{"body": title, "starts_at": starts, "ends_at": ends}, elements...)
	if a.Len(t, "failures") > 0 {
		t.Fatalf("%s: %s", title, a.At(t, "failures"))
	}
	return a.Int(t, "event.id")
}

// booking is the body of a create of an event at 9:00 with these elements, which need not be ids.
func (s *School) booking(elements any) object {
	return object{"event": object{"body": s.Unique("Event"), "event_category_id": s.Category.ID,
		"starts_at_text": "2019-04-10 09:00"}, "elements": elements}
}

// sent returns the ids of elements as the contract's clients send them.
func sent(elements ...Element) []string {
	return sequence.Map(elements, func(e Element) string { return e.Sent() })
}

// add adds elements to an event.
func add(t *testing.T, c *servicetest.Client, event int64, elements ...Element) servicetest.Answer {
	t.Helper()
	return c.Post(t, eventPath(event)+"/add", object{"elements": sent(elements...)})
}

func elementPath(e Element) string   { return fmt.Sprintf("/api/elements/%d", e.ID) }
func elementAdmin(e Element) string  { return fmt.Sprintf("/api/admin/elements/%d", e.ID) }
func eventPath(id int64) string      { return fmt.Sprintf("/api/events/%d", id) }
func notesPath(event int64) string   { return eventPath(event) + "/notes" }
func notePath(id int64) string       { return fmt.Sprintf("/api/notes/%d", id) }
func commitmentPath(id int64) string { return fmt.Sprintf("/api/commitments/%d", id) }
func requestPath(id int64) string    { return fmt.Sprintf("/api/requests/%d", id) }
func categoryPath(id int64) string   { return fmt.Sprintf("/api/eventcategories/%d", id) }
func seriesPath(id int64) string     { return fmt.Sprintf("/api/series/%d", id) }
func feedsPath(e Element) string     { return elementPath(e) + "/feeds" }
func userPath(u User) string         { return account(u.ID) }
func account(user int64) string      { return fmt.Sprintf("/api/admin/users/%d", user) }

// pathIn returns the path of the event in an answer.
func pathIn(t *testing.T, a servicetest.Answer) string {
	t.Helper()
	return eventPath(a.Int(t, "event.id"))
}

// commitmentIn returns the path of the commitment at that place in an answer's event.
func commitmentIn(t *testing.T, a servicetest.Answer, i int) string {
	t.Helper()
	return commitmentPath(a.Int(t, fmt.Sprintf("event.commitments.%d.id", i)))
}

// requestIn returns the path of the only request in an answer's event.
func requestIn(t *testing.T, a servicetest.Answer) string {
	t.Helper()
	return requestPath(a.Int(t, "event.requests.0.id"))
}

// statusOf returns the code and the status of an answer: 400"Bad request".
func statusOf(t *testing.T, a servicetest.Answer) string {
	t.Helper()
	return fmt.Sprint(a.Code, a.At(t, "status"))
}

// summary returns an event summary, byte for byte; the times are local.
func (s *School) summary(t *testing.T, id int64, title, starts, ends string, allDay bool) string {
	t.Helper()
	return fmt.Sprintf(`{"id":%d,"body":%s,"starts_at":%q,"ends_at":%q,"all_day":%t,"valid":true}`, id, quoted(title),
		s.Wire(t, starts), s.Wire(t, ends), allDay)
}

// missing returns the exception body, byte for byte.
func missing(status, record string, id int64) string {
	return fmt.Sprintf(`{"status":%q,"exception":"RecordNotFound","message":"Couldn't find %s with 'id'=%d"}`, status,
		record, id)
}

const forbidden = `{"status":"Forbidden"}`

// noSuchID is the id of no record.
const noSuchID = 9223372036854775807

// today returns the time now in the deployment's zone. A test that depends on it calls sameDay at its end.
func (s *School) today() time.Time { return time.Now().In(s.Zone) }

// sameDay skips the test when midnight passed while it ran.
func (s *School) sameDay(t *testing.T, began time.Time) {
	t.Helper()
	if date(s.today()) != date(began) {
		t.Skipf("midnight passed meanwhile")
	}
}

func date(at time.Time) string { return at.Format(time.DateOnly) }

// sortedList sorts the entries of a comma-separated header.
func sortedList(header string) string {
	entries := strings.Split(strings.ReplaceAll(header, " ", ""), ",")
	slices.Sort(entries)
	return strings.Join(entries, ", ")
}
