package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

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
