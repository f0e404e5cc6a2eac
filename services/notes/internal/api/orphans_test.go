package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// brittle is a system with a Redis of its own, which loses its data, and with short pauses between two looks for
// orphaned notes.
type brittle struct {
	*servicetest.System
	redis    *storetest.RedisServer
	category int64
}

func newBrittle(t *testing.T) *brittle {
	t.Helper()
	r := storetest.StartRedis(t)
	b := &brittle{redis: r, System: servicetest.Start(t, servicetest.Options{Env: map[string]string{
		"REDIS_URL": r.URL(), "BELFRY_ORPHANED_NOTES_EVERY": "200ms",
	}})}
	b.category = b.Admin(t).Import(t, "eventcategories", map[string]any{"key": "c", "name": "Lesson"})["c"]
	return b
}

// newEvent makes an event with three notes, and returns its id.
func (b *brittle) newEvent(t *testing.T, admin *servicetest.Client) int64 {
	t.Helper()
	id := admin.Post(t, "/api/events", map[string]any{"event": map[string]any{
		"body": "Fire drill", "event_category_id": b.category, "starts_at": "2026-09-01 09:00",
		"ends_at": "2026-09-01 10:00",
	}}).Must(t, 200).Int(t, "event.id")
	for range 3 {
		admin.Post(t, fmt.Sprintf("/api/events/%d/notes", id), map[string]any{"note": map[string]any{"contents": "a"}}).
			Must(t, 200)
	}
	return id
}

func (b *brittle) stream() string { return outbox.Stream(b.Prefix, fact.EventsStream) }

func (b *brittle) flush(t *testing.T) {
	t.Helper()
	errortest.None(t, b.redis.Client().FlushAll(t.Context()).Err())
}

// count counts documents of an event.
func (b *brittle) count(t *testing.T, collection, field string, event int64) int64 {
	t.Helper()
	n, err := b.DB.Collection(collection).CountDocuments(t.Context(), bson.D{{Key: field, Value: event}})
	errortest.None(t, err)
	return n
}

// awaitNoNotes waits until an event has no notes.
func (b *brittle) awaitNoNotes(t *testing.T, event int64) {
	t.Helper()
	timetest.Eventually(t, "no notes of the event", time.Minute,
		func() bool { return b.count(t, "notes", "event_id", event) == 0 })
}

// published deletes an event while notes is away, and returns when its message is in Redis alone.
func (b *brittle) published(t *testing.T, admin *servicetest.Client, event int64) {
	t.Helper()
	b.Stop(t, "notes")
	admin.Delete(t, fmt.Sprint("/api/events/", event)).Must(t, 200)
	timetest.Eventually(t, "the message has left MongoDB", time.Minute,
		func() bool { return b.count(t, "events", "_id", event) == 0 })
}

// read reads the message as notes does, and does not acknowledge it.
func (b *brittle) read(t *testing.T) {
	t.Helper()
	err := b.redis.Client().XGroupCreateMkStream(t.Context(), b.stream(), "notes", "0").Err()
	if err != nil && !strings.HasPrefix(err.Error(), "BUSYGROUP") {
		t.Fatal(err)
	}
	streams, err := b.redis.Client().XReadGroup(t.Context(), &redis.XReadGroupArgs{
		Group: "notes", Consumer: "notes", Streams: []string{b.stream(), ">"},
	}).Result()
	valuetest.MustHold(t, err == nil && len(streams) == 1 && len(streams[0].Messages) != 0, "read %v, %v", streams, err)
}

// TestHardToBreak_Row08_NoNoteOutlivesItsEventWhenRedisIsLost loses Redis at each step of a deletion.
func TestHardToBreak_Row08_NoNoteOutlivesItsEventWhenRedisIsLost(t *testing.T) {
	b := newBrittle(t)
	for _, c := range []struct {
		step string
		lose func(t *testing.T, admin *servicetest.Client, event int64)
	}{
		{"before the message is in Redis", func(t *testing.T, admin *servicetest.Client, event int64) {
			// A key that is not a stream holds up the relay.
			errortest.None(t, b.redis.Client().Set(t.Context(), b.stream(), "no stream", 0).Err())
			admin.Delete(t, fmt.Sprint("/api/events/", event)).Must(t, 200)
			b.flush(t)
		}},
		{"before notes has read it", func(t *testing.T, admin *servicetest.Client, event int64) {
			b.published(t, admin, event)
			b.flush(t)
			b.Restart(t, "notes")
		}},
		{"before notes has handled it", func(t *testing.T, admin *servicetest.Client, event int64) {
			b.published(t, admin, event)
			b.read(t)
			b.flush(t)
			b.Restart(t, "notes")
		}},
		{"and set back to before the deletion", func(t *testing.T, admin *servicetest.Client, event int64) {
			b.redis.Save(t)
			b.published(t, admin, event)
			b.redis.SetBack(t)
			b.Restart(t, "notes")
		}},
		{"after notes has handled it", func(t *testing.T, admin *servicetest.Client, event int64) {
			admin.Delete(t, fmt.Sprint("/api/events/", event)).Must(t, 200)
			b.awaitNoNotes(t, event)
			b.flush(t)
		}},
	} {
		t.Run(c.step, func(t *testing.T) {
			admin := b.Admin(t)
			event, lives := b.newEvent(t, admin), b.newEvent(t, admin)
			c.lose(t, admin, event)
			begun := time.Now()
			b.awaitNoNotes(t, event)
			t.Logf("0 orphans %v after Redis was lost", time.Since(begun).Round(time.Millisecond))
			valuetest.Same(t, b.count(t, "notes", "event_id", lives), 3, "notes of an event that lives")
		})
	}
}
