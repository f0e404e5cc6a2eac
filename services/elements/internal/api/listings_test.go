package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHardToBreak_Row02_AListOfDaysHasAtMostEightMiB books an element for events of the longest titles, 24 KiB each as
// JSON, until a month of it is too long for one list; a day of it is not.
func TestHardToBreak_Row02_AListOfDaysHasAtMostEightMiB(t *testing.T) {
	const events, most = 360, 8 << 20
	s := newSchool(t)
	room := s.add(t, "locations", "R", fields{"name": "Room"})
	s.category = s.Import(t, "eventcategories", fields{"key": s.mark, "name": s.mark, "busy": true})[s.mark]
	title := strings.Repeat("<", 4096)
	for first := 0; first < events; first += 120 {
		var records []fields
		for i := first; i < first+120; i++ {
			day := time.Date(2026, time.September, 1+i%30, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			records = append(records, fields{
				"key": fmt.Sprint(s.mark, i), "body": title, "category": s.mark, "starts_at": day + " 09:00",
				"ends_at": day + " 10:00", "elements": []string{"Location:" + s.mark + "R"},
			})
		}
		s.Import(t, "events", records...)
	}
	list := path("/api/elements/%d/commitments", room)
	a := s.Get(t, list+"?start_date=2026-09-01")
	if a.Code != http.StatusOK || strings.Count(a.Body, `"body"`) != events/30 {
		t.Errorf("a day: %d, %d bytes", a.Code, len(a.Body))
	}
	s.Get(t, list+"?start_date=2026-09-01&end_date=2026-09-30").Want(t, http.StatusBadRequest,
		fmt.Sprintf(`{"status":"Bad request","message":"the list would have more than %d bytes: ask for less"}`, most))
	a = s.Get(t, path("/api/elements/%d/freebusy", room)+"?start_date=2026-09-01&end_date=2026-09-30")
	if a.Code != http.StatusOK || strings.Count(a.Body, `"starts_at"`) != 30 {
		t.Errorf("free and busy times: %d %.200s", a.Code, a.Body)
	}
	if a := s.Get(t, path("/api/elements/%d/calendar.ics", room)); a.Code != http.StatusOK || len(a.Body) > most {
		t.Errorf("the calendar: %d, %d bytes", a.Code, len(a.Body))
	}
}
