package api_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
}

func TestDecisionsPart1_IdempotencyKey_CreateIsDoneOnceOverTwoReplicas(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	title := uuid.NewString()
	body := map[string]any{"event": s.fields("body", title),
		"elements": []any{s.teacher, s.teacher, s.minibuses, 999999, "x"}}
	first := keyed(t, owner.At(system(t).Replica("events", 0)), "/api/events", body, title)
	if first.Code != 200 {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	again := func(why string) servicetest.Answer {
		t.Helper()
		a := keyed(t, owner.At(system(t).Replica("events", 1)), "/api/events", body, title)
		if n := titled(t, system(t), title); n != 1 {
			t.Fatalf("%s: %d events", why, n)
		}
		return a
	}
	again("repeated").Want(t, 200, first.Body)

	forgetAnswers(t, system(t)) // the event says what was done, failures included
	again("after a crash").Want(t, 200, first.Body)
	keyed(t, owner, "/api/events", map[string]any{"event": s.fields("body", title)}, title).
		Want(t, 409, `{"status":"Conflict","message":"the Idempotency-Key was used with another body"}`)
	forgetAnswers(t, system(t))
	keyed(t, owner, "/api/events", map[string]any{"event": s.fields("body", title)}, title).
		Want(t, 409, `{"status":"Conflict","message":"the Idempotency-Key was used with another body"}`)

	// Another user's key, another key and none are other requests.
	keyed(t, s.as(t, "admin"), "/api/events", body, title)
	keyed(t, owner, "/api/events", body, title+"2")
	owner.Post(t, "/api/events", body)
	if n := titled(t, system(t), title); n != 4 {
		t.Errorf("%d events, want 4", n)
	}
}

func TestDecisionsPart1_IdempotencyKey_TheAnswerIsTheSameThoughTheEventHasChangedOrGone(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	key := uuid.NewString()
	body := map[string]any{"event": s.fields("body", key)}
	first := keyed(t, owner, "/api/events", body, key)
	var got created
	first.Decode(t, &got)
	owner.Patch(t, path("/api/events/%d", got.Event.ID), map[string]any{"event": map[string]any{"body": key + "!"}})
	keyed(t, owner, "/api/events", body, key).Want(t, 200, first.Body)
	owner.Delete(t, path("/api/events/%d", got.Event.ID))
	keyed(t, owner, "/api/events", body, key).Want(t, 200, first.Body)
	if n := titled(t, system(t), key); n != 0 {
		t.Errorf("%d events made anew", n)
	}
}

func TestDecisionsPart1_IdempotencyKey_AddIsDoneOnce(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	e := book(t, owner, s.fields(), s.teacher)
	add := path("/api/events/%d/add", e.Event.ID)
	key := uuid.NewString()
	body := map[string]any{"elements": []any{s.minibuses, s.teacher, s.room, "nonsense"}}
	first := keyed(t, owner, add, body, key)
	if first.Code != 200 || !strings.Contains(first.Body, `"has already been taken"`) {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	keyed(t, owner, add, body, key).Want(t, 200, first.Body)
	forgetAnswers(t, system(t))
	keyed(t, owner, add, body, key).Want(t, 200, first.Body)
	if got := get(t, owner, e.Event.ID); got.Event.Requests[0].Quantity != 1 || len(got.Event.Commitments) != 2 {
		t.Errorf("added twice: %+v", got.Event)
	}
	forgetAnswers(t, system(t))
	if a := keyed(t, owner, add, map[string]any{"elements": []any{s.minibuses}}, key); a.Code != 409 {
		t.Errorf("another body: %d %s", a.Code, a.Body)
	}
	// The same key for another event is another request.
	other := book(t, owner, s.fields())
	if a := keyed(t, owner, path("/api/events/%d/add", other.Event.ID), body, key); a.Code != 200 ||
		len(get(t, owner, other.Event.ID).Event.Commitments) != 2 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestDecisionsPart1_IdempotencyKey_ClashesAreReportedAgain(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	book(t, owner, s.fields("ends_at_text", "2026-09-07 10:00"), s.teacher)
	e := book(t, owner, s.fields("ends_at_text", "2026-09-07 10:00"), s.room)
	for where, body := range map[string]map[string]any{
		"/api/events": {"event": s.fields("ends_at_text", "2026-09-07 10:00"),
			"elements": []any{s.teacher, s.teacher, "x"}, "clashes": "report"},
		path("/api/events/%d/add", e.Event.ID): {"elements": []any{s.room, s.teacher}, "clashes": "report"},
	} {
		key := uuid.NewString()
		first := keyed(t, owner, where, body, key)
		if first.Code != 200 || !strings.Contains(first.Body, `"clashes":[{`) {
			t.Fatalf("%d %s", first.Code, first.Body)
		}
		forgetAnswers(t, system(t))
		keyed(t, owner, where, body, key).Want(t, 200, first.Body)
	}
}

func TestDecisionsPart1_IdempotencyKey_ManyAtOnceOverTwoReplicasDoItOnce(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
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
		var wg sync.WaitGroup
		var mu sync.Mutex
		bodies := map[string]int{}
		for i := range 20 {
			wg.Go(func() {
				a := keyed(t, owner.At(system(t).Replica("events", i%2)), request.path, request.body, key)
				switch {
				case a.Code == 409 && a.Header.Get("Retry-After") == "1":
				case a.Code == 200:
					mu.Lock()
					defer mu.Unlock()
					bodies[a.Body]++
				default:
					t.Errorf("%s: %d %s", name, a.Code, a.Body)
				}
			})
		}
		wg.Wait()
		if len(bodies) != 1 {
			t.Errorf("%s: %d answers: %v", name, len(bodies), bodies)
		}
	}
	if n := titled(t, system(t), key); n != 1 {
		t.Errorf("%d events", n)
	}
	if got := get(t, owner, e.Event.ID); got.Event.Requests[0].Quantity != 1 {
		t.Errorf("quantity %d", got.Event.Requests[0].Quantity)
	}
	var notes struct{ Notes []any }
	owner.Get(t, path("/api/events/%d/notes", e.Event.ID)).Decode(t, &notes)
	if len(notes.Notes) != 1 {
		t.Errorf("%d notes", len(notes.Notes))
	}
}

func TestDecisionsPart1_IdempotencyKey_ARefusedRequestMayBeRepeatedInEarnest(t *testing.T) {
	s := loadSchool(t)
	key := uuid.NewString()
	owner := s.as(t, "owner")
	invalid := map[string]any{"event": s.fields("body", " ")}
	for range 2 {
		wantInvalid(t, keyed(t, owner, "/api/events", invalid, key), "event", "body", "can't be blank")
	}
	if a := keyed(t, owner, "/api/events", map[string]any{"event": s.fields("body", key)}, key); a.Code != 200 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := keyed(t, owner, "/api/events", invalid, "two words"); a.Code != 400 {
		t.Errorf("a key with a space: %d %s", a.Code, a.Body)
	}
}

func TestDecisionsPart1_IdempotencyKey_ACategoryIsMadeOnce(t *testing.T) {
	s := loadSchool(t)
	admin := s.as(t, "admin")
	key := uuid.NewString()
	body := map[string]any{"eventcategory": map[string]any{"name": key}}
	first := keyed(t, admin, "/api/admin/eventcategories", body, key)
	if first.Code != 201 {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	keyed(t, admin, "/api/admin/eventcategories", body, key).Want(t, 201, first.Body)
}

// TestDecisionsPart1_IdempotencyKey_ACrashBetweenTheWriteAndTheReplyMakesOneEvent: events is killed while clients
// create; whatever each of them heard, after it has repeated its request there is one event of its own.
func TestDecisionsPart1_IdempotencyKey_ACrashBetweenTheWriteAndTheReplyMakesOneEvent(t *testing.T) {
	t.Parallel()
	own := servicetest.Start(t, servicetest.Options{Replicas: 2,
		Env: map[string]string{"BELFRY_REQUEST_TIMEOUT": "1s"}})
	admin := own.Admin(t)
	category := admin.Import(t, "eventcategories", map[string]any{"key": "c", "name": "Lesson"})["c"]
	const clients = 40
	requests := make([]map[string]any, clients)
	for i := range requests {
		requests[i] = map[string]any{"event": map[string]any{"body": uuid.NewString(), "event_category_id": category,
			"starts_at_text": "2026-09-07"}}
	}
	create := func(i int) servicetest.Answer {
		return keyed(t, admin, "/api/events", requests[i], path("crash-%d", i))
	}
	var wg sync.WaitGroup
	heard := make([]servicetest.Answer, clients)
	for i := range clients {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 2 * time.Millisecond)
			heard[i] = create(i)
		})
	}
	time.Sleep(60 * time.Millisecond)
	own.Kill(t, "events")
	wg.Wait()
	lost := 0
	for _, a := range heard {
		if a.Code != 200 {
			lost++
		}
	}
	t.Logf("%d of %d clients heard no answer", lost, clients)
	own.Restart(t, "events")
	for i := range clients {
		a := create(i)
		for deadline := time.Now().Add(20 * time.Second); a.Code == 409 && a.Header.Get("Retry-After") != "" &&
			time.Now().Before(deadline); a = create(i) {
			time.Sleep(100 * time.Millisecond)
		}
		if a.Code != 200 || (heard[i].Code == 200 && a.Body != heard[i].Body) {
			t.Errorf("client %d heard %d %s, then %d %s", i, heard[i].Code, heard[i].Body, a.Code, a.Body)
		}
		title := requests[i]["event"].(map[string]any)["body"].(string)
		if n := titled(t, own, title); n != 1 {
			t.Errorf("client %d made %d events", i, n)
		}
	}
}
