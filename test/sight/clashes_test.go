package sight

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

const clashAnswers = "answers to a booking of a person who is busy"

// booker books a person at one time after another of a day on which the person has an event.
type booker struct {
	client               *servicetest.Client
	lesson, person, room int64
	times                *int // that were booked
}

// at is the next time, on a day.
func (b booker) at(day string) fields {
	*b.times++
	start := time.Date(2026, 9, 7, 0, 5**b.times, 0, 0, time.UTC)
	return fields{
		"body": fmt.Sprintf("Booking %d", *b.times), "event_category_id": b.lesson,
		"starts_at": day + start.Format("T15:04"), "ends_at": day + start.Add(4*time.Minute).Format("T15:04"),
	}
}

func (b booker) create(t *testing.T, more fields, try bool) servicetest.Answer {
	t.Helper()
	more["event"], more["elements"] = b.at("2026-09-07"), []string{fmt.Sprint(b.person)}
	return b.client.Post(t, fmt.Sprint("/api/events?dry_run=", try), more)
}

func (b booker) add(t *testing.T, clashes string) servicetest.Answer {
	t.Helper()
	made := b.client.Post(t, "/api/events", fields{"event": b.at("2026-09-07")}).Must(t, http.StatusOK)
	return b.client.Post(t, fmt.Sprintf("/api/events/%d/add", made.Int(t, "event.id")),
		fields{"elements": []string{fmt.Sprint(b.person)}, "clashes": clashes})
}

// replace makes an event of the room, and replaces that by the person.
func (b booker) replace(t *testing.T, clashes string) servicetest.Answer {
	t.Helper()
	made := b.client.Post(t, "/api/events", fields{"event": b.at("2026-09-07"), "elements": []int64{b.room}}).
		Must(t, http.StatusOK)
	return b.client.Post(t, fmt.Sprintf("/api/events/%d/replace", made.Int(t, "event.id")), fields{
		"replace": []fields{{"element": b.room, "with": b.person}}, "clashes": clashes,
	})
}

// move makes an event of the next day, and moves it to that day.
func (b booker) move(t *testing.T, clashes string) servicetest.Answer {
	t.Helper()
	made := b.client.Post(t, "/api/events", fields{
		"event": b.at("2026-09-08"), "elements": []int64{b.person},
	}).Must(t, http.StatusOK)
	return b.client.Patch(t, fmt.Sprintf("/api/events/%d", made.Int(t, "event.id")),
		fields{"event": b.at("2026-09-07"), "clashes": clashes})
}

// series makes a series of that day, when the person is booked, and the next.
func (b booker) series(t *testing.T, clashes string, try bool) servicetest.Answer {
	t.Helper()
	return b.create(t, fields{"repeat": fields{"rule": "FREQ=DAILY;COUNT=2"}, "clashes": clashes}, try)
}

// change makes a series and moves it, by its second event.
func (b booker) change(t *testing.T, clashes string, try bool) servicetest.Answer {
	t.Helper()
	made := b.create(t, fields{"repeat": fields{"rule": "FREQ=DAILY;COUNT=2"}}, false).Must(t, http.StatusOK)
	event := b.at("2026-09-08")
	delete(event, "event_category_id")
	return b.client.Patch(t, fmt.Sprintf("/api/events/%d?scope=all&dry_run=%t", made.Int(t, "series.events.1.id"), try),
		fields{"event": event, "clashes": clashes})
}

// ask makes the request of a row of the table.
func (b booker) ask(t *testing.T, row string) servicetest.Answer {
	t.Helper()
	call, clashes, _ := strings.Cut(row, ", clashes: ")
	call, try := strings.CutSuffix(call, " to try")
	switch strings.TrimSuffix(call, ",") {
	case "POST /api/events":
		return b.create(t, fields{"clashes": clashes}, false)
	case "POST /api/events/{id}/add":
		return b.add(t, clashes)
	case "POST /api/events/{id}/replace":
		return b.replace(t, clashes)
	case "PATCH /api/events/{id}":
		return b.move(t, clashes)
	case "POST /api/events, a series":
		return b.series(t, clashes, try)
	case "PATCH /api/events/{id}?scope=all":
		return b.change(t, clashes, try)
	case "GET /api/series/{id}":
		made := b.series(t, "skip", false).Must(t, http.StatusOK)
		return b.client.Get(t, fmt.Sprintf("/api/series/%d", made.Int(t, "series.id")))
	}
	t.Fatalf("no request is known for %s", row)
	return servicetest.Answer{}
}

// compareClashes books a person of another school who is booked already. It is refused and left out like all others,
// but viewers who may not see the person's timetable are not shown the event.
func (w *world) compareClashes(t *testing.T) {
	w.add(t, "a busy pupil", "pupils", fields{"forename": "Paul", "surname": "a busy pupil"})
	w.join(t, "a class of south", "a busy pupil", "")
	b := booker{
		lesson: w.admin.Import(t, "eventcategories", fields{"key": "lesson", "name": "Lesson", "busy": true})["lesson"],
		person: w.elements["a busy pupil"].id, times: new(int),
		room: w.admin.Import(t, "locations", fields{"key": "free", "name": "A free room"})["free"],
	}
	hidden := w.admin.Post(t, "/api/events", fields{"elements": []string{fmt.Sprint(b.person)}, "event": fields{
		"body": "Hearing", "event_category_id": b.lesson, "starts_at": "2026-09-07T00:00",
		"ends_at": "2026-09-07T23:59",
	}}).Must(t, http.StatusOK).Int(t, "event.id")
	for viewer, told := range map[string]bool{
		"of north": false, "of both": true, "admin": true, "pupil": false, "guest": true,
	} {
		b.client = w.clients[viewer]
		for _, row := range section(t, clashAnswers) {
			a := b.ask(t, row[0])
			got := strings.Contains(a.Body, "Hearing") || strings.Contains(a.Body, fmt.Sprintf(`"event_id":%d,`, hidden))
			want := told && !strings.HasPrefix(row[1], "a failure")
			if got != want {
				t.Errorf("%s tells %s of the event: %v, want %v\n%s", row[0], viewer, got, want, a.Body)
			}
			if strings.HasPrefix(row[1], "a failure") != strings.Contains(a.Body, "is already booked") ||
				strings.HasPrefix(row[1], "refused") != (a.Code == http.StatusConflict) ||
				strings.HasPrefix(row[1], "left out") != strings.Contains(a.Body, `"reason":"clash"`) {
				t.Errorf("%s says %s to %s: %s", row[0], row[1], viewer, a.Body)
			}
		}
	}
	w.compareLooks(t, b.person)
}

// compareLooks checks that the access log has exactly the viewers who were shown the person's events.
func (w *world) compareLooks(t *testing.T, person int64) {
	t.Helper()
	looks := func(viewer string) int {
		path := fmt.Sprintf("/api/admin/access/elements?element=%d&user=%d", person, w.users[viewer])
		return strings.Count(w.admin.Get(t, path).Must(t, http.StatusOK).Body, `"what":"events"`)
	}
	timetest.Eventually(t, "a viewer of the person's events is recorded", 30*time.Second,
		func() bool { return looks("of both") > 0 })
	if n := looks("of north"); n > 0 {
		t.Errorf("%d reads are recorded of one who was told nothing", n)
	}
}
