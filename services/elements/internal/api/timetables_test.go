package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const may4to6 = "start_date=2026-05-04&end_date=2026-05-06"

// timetables are an answer, each element's list as it came.
type timetables struct {
	Timetables []struct {
		Element struct {
			ID   int64
			Name string
		}
		Commitments json.RawMessage
	}
}

// timetables asks for them, holds that each list is that of the element alone, and returns the elements in order.
func (s *school) timetables(t *testing.T, query, days string) []int64 {
	t.Helper()
	var all timetables
	a := s.Get(t, "/api/timetables?"+query+"&"+days).Must(t, http.StatusOK)
	a.Decode(t, &all)
	ids := []int64{}
	for _, one := range all.Timetables {
		s.Get(t, path("/api/elements/%d/commitments?%s", one.Element.ID, days)).Want(t, http.StatusOK,
			`{"status":"OK","commitments":`+string(one.Commitments)+`}`)
		ids = append(ids, one.Element.ID)
	}
	return ids
}

func equalIDs(t *testing.T, what string, got []int64, want ...int64) {
	t.Helper()
	valuetest.Same(t, fmt.Sprint(got), fmt.Sprint(want), what)
}

func TestTimetables_OfATypeAreInOrderOfName(t *testing.T) {
	own := servicetest.Start(t, servicetest.Options{})
	s := &school{Client: own.Admin(t), mark: "M"}
	b, a, again := s.add(t, "locations", "1", fields{"name": "B"}), s.add(t, "locations", "2", fields{"name": "A"}),
		s.add(t, "locations", "3", fields{"name": "A"})
	s.Delete(t, path("/api/admin/elements/%d", s.add(t, "locations", "4", fields{"name": "A"}))).Must(t, http.StatusOK)
	s.event(t, "x", "2026-05-04 09:00", "2026-05-04 10:00", a, b)
	equalIDs(t, "locations", s.timetables(t, "type=Location", may4to6), a, again, b)
	equalIDs(t, "services", s.timetables(t, "type=Service", may4to6))
	s.Get(t, "/api/timetables?type=Pupil").Want(t, http.StatusOK, `{"status":"OK","timetables":[]}`)

	var many []fields
	for i := range 998 {
		many = append(many, fields{"key": fmt.Sprint("many", i), "name": fmt.Sprint("Many ", i)})
	}
	s.Import(t, "locations", many[:500]...)
	s.Import(t, "locations", many[500:]...)
	s.Get(t, "/api/timetables?type=Location").Want(t, http.StatusBadRequest,
		`{"status":"Bad request","message":"more than 1000 elements: ask for those of a group"}`)
}

// TestHardToBreak_Row02_ManyTimetablesHaveAtMostEightMiB has 30 pupils in one group with 12 events of the longest title
// a day: 290 KB for each of them.
func TestHardToBreak_Row02_ManyTimetablesHaveAtMostEightMiB(t *testing.T) {
	const pupils, events = 30, 12
	s := newSchool(t)
	set := s.group(t, "set")
	var members []fields
	for i := range pupils {
		members = append(members, fields{"element_id": s.pupil(t, fmt.Sprint("P", i))})
	}
	s.Post(t, path("/api/admin/elements/%d/members", set), fields{"members": members}).Must(t, http.StatusCreated)
	for i := range events {
		s.event(t, strings.Repeat("<", 4096), path("2026-05-04 %02d:00", i), path("2026-05-04 %02d:30", i), set)
	}
	s.timetables(t, path("elements=%d", set), "start_date=2026-05-04")
	s.Get(t, path("/api/timetables?group=%d&start_date=2026-05-04", set)).Want(t, http.StatusBadRequest,
		fmt.Sprintf(`{"status":"Bad request","message":"the list would have more than %d bytes: ask for less"}`, 8<<20))
	equalIDs(t, "on another day", s.timetables(t, path("group=%d", set), "start_date=2026-05-05")[:0])
}
