package api_test

import (
	"testing"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// keyed sends a POST with an Idempotency-Key.
func keyed(t *testing.T, c *servicetest.Client, path string, body any, key string) servicetest.Answer {
	t.Helper()
	return c.Do(t, "POST", path, body, "Idempotency-Key", key)
}

// titled counts the stored events of a title.
func titled(t *testing.T, s *servicetest.System, title string) int64 {
	t.Helper()
	n, err := s.DB.Collection("events").CountDocuments(t.Context(), bson.D{{Key: "body", Value: title}})
	errortest.None(t, err)
	return n
}

// forgetAnswers does what a crash between the write and the reply leaves: Redis knows no answer, only the records
// say what was done.
func forgetAnswers(t *testing.T, s *servicetest.System) {
	t.Helper()
	keys, err := s.Redis.Keys(t.Context(), s.Prefix+"answer:*").Result()
	if err == nil && len(keys) > 0 {
		err = s.Redis.Del(t.Context(), keys...).Err()
	}
	errortest.None(t, err)
}

// TestDecisionsPart1_IdempotencyKey_ARequestIsDoneOnceOverTwoReplicas repeats requests while Redis knows their answers,
// and when only the records say what was done, failures included.
func TestDecisionsPart1_IdempotencyKey_ARequestIsDoneOnceOverTwoReplicas(t *testing.T) {
	s, f := loadSchool(t), loadFleet(t)
	owner, title := s.as(t, "owner"), uuid.NewString()
	hour := func(more ...any) map[string]any {
		return s.fields(append([]any{"ends_at_text", "2026-09-07 10:00"}, more...)...)
	}
	some := book(t, owner, hour(), s.teacher).Event.ID
	other := book(t, owner, hour(), s.room).Event.ID
	third := book(t, owner, hour(), s.teacher, s.set).Event.ID
	asked := f.asking(t, s, 2, "2026-09-07 09:00", "2026-09-07 10:00").Event
	repeated := makeSeries(t, owner, s.ofSeries("Choir", nil, "rule", "FREQ=WEEKLY;COUNT=3"))
	owner.Patch(t, repeated.of(3, ""), change(map[string]any{"body": "Alone"})).Must(t, 200)
	mixed := []any{s.teacher, s.teacher, s.minibuses, 999999, "x"}
	type body = map[string]any
	for name, c := range map[string]struct {
		as, method, path string
		body, other      body
		want             string // in the answer
	}{
		"an event": {"owner", "POST", "/api/events", body{"event": hour("body", title), "elements": mixed},
			body{"event": hour("body", title)}, `"has already been taken"`},
		"an event, clashes reported": {"owner", "POST", "/api/events",
			body{"event": hour("body", title), "elements": mixed, "clashes": "report"},
			body{"event": hour("body", title), "elements": mixed}, `"clashes":[{`},
		"elements": {"owner", "POST", path("/api/events/%d/add", some), body{"elements": mixed},
			body{"elements": []any{s.minibuses}}, `"has already been taken"`},
		"elements, clashes reported": {"owner", "POST", path("/api/events/%d/add", other),
			body{"elements": []any{s.room, s.teacher}, "clashes": "report"}, body{"elements": []any{s.room}},
			`"clashes":[{`},
		"a replacement": {"owner", "POST", path("/api/events/%d/replace", third),
			replacing("skip", s.teacher, s.room, s.set, s.minibuses), replacing("skip"), `"is already booked"`},
		"an allocation": {"driver", "POST", path("/api/requests/%d/allocations", asked.Requests[0].ID),
			body{"elements": []any{f.many[7], s.minibus, "x"}}, body{"elements": []any{f.many[0]}},
			`"num_allocated":1`},
		"a series": {"owner", "POST", "/api/events",
			s.ofSeries(title+" series", mixed, "rule", "FREQ=WEEKLY;COUNT=3", "clashes", "report"),
			s.ofSeries(title+" series", nil, "rule", "FREQ=WEEKLY;COUNT=4"), `"has already been taken"`},
		"a change of a series": {"owner", "PATCH", repeated.of(1, "?scope=all"),
			change(body{"starts_at_text": "2027-01-05 10:00", "ends_at_text": "2027-01-05 11:00"}),
			change(body{"body": "x"}), `"reason":"changed"`},
	} {
		t.Run(name, func(t *testing.T) {
			key, through := uuid.NewString(), s.through(t, c.as)
			first := through[0].Do(t, c.method, c.path, c.body, "Idempotency-Key", key).Must(t, 200)
			holds(t, first.Body, c.want)
			for range 2 {
				through[1].Do(t, c.method, c.path, c.body, "Idempotency-Key", key).Want(t, 200, first.Body)
				through[0].Do(t, c.method, c.path, c.other, "Idempotency-Key", key).
					Want(t, 409, `{"status":"Conflict","message":"the Idempotency-Key was used with another body"}`)
				forgetAnswers(t, system(t))
			}
		})
	}
	for title, want := range map[string]int64{title: 2, title + " series": 3} {
		valuetest.Same(t, titled(t, system(t), title), want, "events")
	}
	if e := get(t, owner, some).Event; len(e.Commitments) != 1 || e.Requests[0].Quantity != 1 {
		t.Errorf("added twice: %+v", e)
	}
	e := get(t, owner, asked.ID).Event
	valuetest.Same(t, e.Requests[0].NumAllocated, 1, "allocated twice: %+v", e)
}

func TestDecisionsPart1_IdempotencyKey_TheAnswerIsTheSameThoughTheEventHasChangedOrGone(t *testing.T) {
	s, owner := loadOwned(t)
	key := uuid.NewString()
	body := map[string]any{"event": s.fields("body", key)}
	first := keyed(t, owner, "/api/events", body, key)
	var got created
	first.Decode(t, &got)
	owner.Patch(t, path("/api/events/%d", got.Event.ID), map[string]any{"event": map[string]any{"body": key + "!"}})
	keyed(t, owner, "/api/events", body, key).Want(t, 200, first.Body)
	owner.Delete(t, path("/api/events/%d", got.Event.ID))
	keyed(t, owner, "/api/events", body, key).Want(t, 200, first.Body)
	valuetest.Same(t, titled(t, system(t), key), 0, "events made again")
}

func TestDecisionsPart1_IdempotencyKey_ManyAtOnceOverTwoReplicasDoItOnce(t *testing.T) {
	s, owner := loadOwned(t)
	e := book(t, owner, s.fields())
	key := uuid.NewString()
	for name, request := range map[string]struct {
		path string
		body any
	}{
		"create": {"/api/events", map[string]any{"event": s.fields("body", key)}},
		"add":    {path("/api/events/%d/add", e.Event.ID), map[string]any{"elements": []any{s.minibuses}}},
		"note":   {path("/api/events/%d/notes", e.Event.ID), map[string]any{"note": map[string]any{"contents": key}}},
	} {
		bodies := map[string]int{}
		for _, a := range atOnce(20, s.through(t, "owner"), func(_ int, c *servicetest.Client) servicetest.Answer {
			return keyed(t, c, request.path, request.body, key)
		}) {
			switch {
			case a.Code == 409 && a.Header.Get("Retry-After") == "1":
			case a.Code == 200:
				bodies[a.Body]++
			default:
				t.Errorf("%s: %d %s", name, a.Code, a.Body)
			}
		}
		valuetest.Same(t, len(bodies), 1, "%s: answers: %v", name, bodies)
	}
	valuetest.Same(t, titled(t, system(t), key), 1, "events")
	valuetest.Same(t, get(t, owner, e.Event.ID).Event.Requests[0].Quantity, 1, "quantity")
	valuetest.Same(t, owner.Get(t, path("/api/events/%d/notes", e.Event.ID)).Len(t, "notes"), 1, "notes")
}

func TestDecisionsPart1_IdempotencyKey_ACategoryIsMadeOnce(t *testing.T) {
	s := loadSchool(t)
	admin := s.as(t, "admin")
	key := uuid.NewString()
	body := map[string]any{"eventcategory": map[string]any{"name": key}}
	first := keyed(t, admin, "/api/admin/eventcategories", body, key)
	first.Must(t, 201)
	keyed(t, admin, "/api/admin/eventcategories", body, key).Want(t, 201, first.Body)
}
