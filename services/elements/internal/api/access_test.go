package api_test

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// looks is an answer of GET /api/admin/access/elements.
type looks struct {
	Entries []struct {
		ID, At, What string
		UserID       int64   `json:"user_id"`
		OriginalID   *int64  `json:"original_id"`
		ElementID    int64   `json:"element_id"`
		From         *string `json:"from"`
	}
	Next *string
}

// looks returns who looked at a person, as "user as original: what", once there are that many. Two replicas may each
// have an entry of the same, which counts once.
func (s *school) looks(t *testing.T, query string, n int) []string {
	t.Helper()
	var texts []string
	for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(50 * time.Millisecond) {
		var l looks
		s.Get(t, "/api/admin/access/elements?limit=1000&"+query).Must(t, http.StatusOK).Decode(t, &l)
		texts = nil
		for _, e := range l.Entries {
			text := fmt.Sprint(e.UserID, " ", e.What)
			if e.OriginalID != nil {
				text = fmt.Sprint(*e.OriginalID, " as ", text)
			}
			if e.From == nil || net.ParseIP(*e.From) == nil ||
				!regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000[+-]\d\d:\d\d$`).MatchString(e.At) {
				t.Errorf("an entry is %+v", e)
			}
			texts = append(texts, text)
		}
		slices.Sort(texts)
		if texts = slices.Compact(texts); len(texts) >= n {
			break
		}
	}
	return texts
}

func TestAdministration_WhoHasLookedAtWhom(t *testing.T) {
	s := newSchool(t)
	ann, bea, room := s.pupil(t, "Ann"), s.pupil(t, "Bea"), s.add(t, "locations", "room", fields{"name": "Room"})
	set := s.group(t, "set")
	s.member(t, set, ann, "", "")
	teacher, head := s.user(t, "teacher", fields{"can_su": true})
	pupil, own := s.user(t, "ann", fields{"kind": "pupil", "element": "Pupil:" + s.mark + "Ann"})
	paths := []string{
		"/api/elements/%d", "/api/elements/%d/commitments", "/api/elements/%d/calendar.ics",
		"/api/elements/%d/freebusy", "/api/freebusy?elements=%d", "/api/timetables?elements=%d",
		"/api/events?element=%d",
	}
	ask := func(c *servicetest.Client, id int64, code int) {
		t.Helper()
		for _, path := range paths {
			c.Get(t, fmt.Sprintf(path, id)).WantCode(t, code)
		}
	}
	ask(own, ann, http.StatusOK)
	ask(own, bea, http.StatusForbidden)
	ask(head, room, http.StatusOK)
	ask(head, ann, http.StatusOK)
	feed := head.Post(t, path("/api/elements/%d/feeds", ann), nil).Must(t, http.StatusCreated).Text(t, "feed.path")
	system(t).Client(t).Get(t, feed).WantCode(t, http.StatusOK)
	head.Put(t, "/api/sessions/1", fields{"session": fields{"user_id": pupil}}).Must(t, http.StatusOK)
	ask(head, ann, http.StatusOK) // as Ann herself, and yet it is the teacher the viewer
	kinds := []string{"calendar", "commitments", "detail", "events", "freebusy", "timetable"}
	var want []string
	for _, kind := range kinds {
		want = append(want, fmt.Sprint(teacher, " ", kind), fmt.Sprint(teacher, " as ", pupil, " ", kind))
	}
	want = append(want, fmt.Sprint(teacher, " feed"))
	slices.Sort(want)
	valuetest.List(t, s.looks(t, path("element=%d&user=%d", ann, teacher), len(want)), want, "at Ann looked")
	for query, n := range map[string]int{
		path("element=%d", bea): 0, path("element=%d", room): 0, path("user=%d&since=2100-01-01", teacher): 0,
	} {
		valuetest.Len(t, s.looks(t, query, n), n, query)
	}
	s.Get(t, path("/api/admin/elements/%d", bea)).Must(t, http.StatusOK)
	valuetest.Len(t, s.looks(t, path("element=%d", bea), 1), 1, "at Bea looked")
	// A change by no field showed the record, and was no look.
	eve := s.pupil(t, "Eve")
	s.Patch(t, path("/api/admin/elements/%d", eve), fields{"element": fields{}}).Must(t, http.StatusOK)
	valuetest.Len(t, s.looks(t, path("element=%d", eve), 1), 1, "at Eve looked")
	cleo, dan := s.pupil(t, "Cleo"), s.pupil(t, "Dan")
	s.Get(t, "/api/admin/elements?entity_type=Pupil&limit=1000").Must(t, http.StatusOK)
	s.Get(t, "/api/admin/elements?key=Pupil:"+s.mark+"Cleo").Must(t, http.StatusOK)
	if got := s.looks(t, path("element=%d", cleo), 1); len(got) != 1 || !strings.HasSuffix(got[0], " detail") {
		t.Errorf("at Cleo, who was chosen by key, looked %q", got)
	}
	valuetest.Len(t, s.looks(t, path("element=%d", dan), 0), 0, "at Dan, who was in a list, looked")
	for _, query := range []string{"element=x", "user=x", "since=x", "after=x"} {
		s.Get(t, "/api/admin/access/elements?"+query).WantCode(t, http.StatusBadRequest)
	}
	var page looks
	s.Get(t, path("/api/admin/access/elements?limit=2&element=%d", ann)).Must(t, http.StatusOK).Decode(t, &page)
	valuetest.MustHold(t, len(page.Entries) == 2 && page.Next != nil, "a page is %+v", page)
	var after looks
	s.Get(t, path("/api/admin/access/elements?limit=1&element=%d&after=%s", ann, *page.Next)).
		Must(t, http.StatusOK).Decode(t, &after)
	if len(after.Entries) != 1 || after.Entries[0].ID >= page.Entries[1].ID {
		t.Errorf("after %+v comes %+v", page.Entries, after.Entries)
	}
}
