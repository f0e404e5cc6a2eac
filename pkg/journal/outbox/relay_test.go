package outbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func kinds(messages []Message) []string {
	return sequence.Map(messages, func(m Message) string { return m.Kind })
}

// emptied waits until no document has a message.
func emptied(t *testing.T, collection *mongo.Collection) {
	t.Helper()
	eventually(t, "all outboxes empty", func() bool {
		n, err := collection.CountDocuments(t.Context(), mongostore.PendingOutbox.Filter())
		return err == nil && n == 0
	})
}

func TestRelay_PublishesInOrderThenEmptiesTheOutboxAndKeepsTheDocument(t *testing.T) {
	t.Parallel()
	collection, client, stream := open(t)
	sent := NewMessage(t.Context(), "entry.pending", 7)
	doc := document{Head: mongostore.Head{ID: 7}, Title: "kept",
		Outbox: []Message{sent, NewMessage(t.Context(), "second", 7), NewMessage(t.Context(), "third", 7)}}
	errortest.None(t, mongostore.Insert(t.Context(), collection, &doc))
	start(t, NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent()}).Run)
	emptied(t, collection)
	got := entries(t, client, stream)
	if want := []string{"entry.pending", "second", "third"}; !slices.Equal(kinds(got), want) {
		t.Fatalf("published %v, want %v", kinds(got), want)
	}
	if m := got[0]; m.ID != sent.ID || m.Subject != 7 || !m.At.Equal(sent.At) {
		t.Errorf("published %+v, want %+v", m, sent)
	}
	kept, err := mongostore.Load[document](t.Context(), collection, 7)
	if err != nil || kept.Title != "kept" || kept.Version != 1 || len(kept.Outbox) != 0 {
		t.Errorf("the document is %+v, %v", kept, err)
	}
}

// While Record fails, a message is neither published nor removed from its document. Detail is not published.
func TestRelay_RecordsBeforeItPublishesAndKeepsTheDetail(t *testing.T) {
	t.Parallel()
	collection, client, stream := open(t)
	first, second := NewMessage(t.Context(), "first", 7), NewMessage(t.Context(), "second", 7)
	first.Detail, second.Detail = "between us", "and this"
	errortest.None(t, mongostore.Insert(t.Context(), collection,
		&document{Head: mongostore.Head{ID: 7}, Outbox: []Message{first, second}}))
	var mu sync.Mutex
	refused := 0
	var recorded []Message
	recorder := func(_ context.Context, messages []Message) error {
		mu.Lock()
		defer mu.Unlock()
		if refused++; refused <= 2 {
			if n, err := client.XLen(t.Context(), stream).Result(); err != nil || n > 0 {
				t.Errorf("%d published before they were recorded, %v", n, err)
			}
			return errors.New("not now")
		}
		recorded = messages
		return nil
	}
	start(t, NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent(),
		Record: recorder}).Run)
	emptied(t, collection)
	mu.Lock()
	defer mu.Unlock()
	if len(recorded) != 2 || recorded[0].Detail != "between us" || recorded[1].Detail != "and this" {
		t.Errorf("recorded %+v", recorded)
	}
	for _, m := range entries(t, client, stream) {
		valuetest.Same(t, m.Detail, "", "published %+v", m)
	}
	valuetest.Same(t, len(entries(t, client, stream)), 2, "published")
}

func TestRelay_DeletesATombstoneAfterItsLastMessage(t *testing.T) {
	t.Parallel()
	collection, client, stream := open(t)
	put(t, collection, 7)
	_, err := mongostore.Update(t.Context(), collection, 7, func(d *document) error {
		*d = document{Head: d.Head, Deleted: true, Outbox: []Message{NewMessage(t.Context(), "record.deleted", 7)}}
		return nil
	})
	errortest.None(t, err)
	start(t, NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent()}).Run)
	eventually(t, "the tombstone gone", func() bool {
		_, err := mongostore.Load[document](t.Context(), collection, 7)
		return errors.Is(err, record.ErrNotFound)
	})
	valuetest.List(t, kinds(entries(t, client, stream)), []string{"record.deleted"}, "published")
}

// Without nudges, all but the first would wait for an hour.
func TestRelay_ANudgeIsFasterThanTheNextLook(t *testing.T) {
	t.Parallel()
	collection, client, stream := open(t)
	relay := NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent()})
	relay.every = time.Hour
	start(t, relay.Run)
	for id := range int64(5) {
		put(t, collection, id+1, "made")
		relay.Nudge()
		relay.Nudge() // twice does no harm
		eventually(t, "published", func() bool { return len(entries(t, client, stream)) == int(id)+1 })
	}
}

// A process may die between publishing a message and removing it. Then the message is delivered twice, and not
// lost.
func TestRelay_DeathBetweenPublishingAndEmptyingRepeatsAndLosesNothing(t *testing.T) {
	t.Parallel()
	collection, client, stream := open(t)
	put(t, collection, 1, "made")
	dying := NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent()})
	documents, _, err := dying.read(t.Context())
	errortest.None(t, err)
	valuetest.MustSame(t, len(documents), 1, "documents")
	errortest.None(t, dying.publish(t.Context(), documents))
	start(t, NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent()}).Run)
	emptied(t, collection)
	got := entries(t, client, stream)
	valuetest.Holds(t, len(got) == 2 && got[0].ID == got[1].ID, "published %+v, want one message twice", got)
}

func TestRelay_AMessageAddedWhileItsDocumentIsRelayedStays(t *testing.T) {
	t.Parallel()
	collection, client, stream := open(t)
	relay := NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent()})
	put(t, collection, 1, "first")
	documents, _, err := relay.read(t.Context())
	errortest.None(t, err)
	_, err = mongostore.Update(t.Context(), collection, 1, func(d *document) error {
		d.Deleted = true // even when the document became a tombstone meanwhile
		d.Outbox = append(d.Outbox, NewMessage(t.Context(), "second", 1))
		return nil
	})
	errortest.None(t, err)
	for _, seen := range []bool{false, true} { // also a relay that read a tombstone must not delete a later one
		documents[0].Deleted = seen
		errortest.None(t, relay.remove(t.Context(), documents))
		left, err := mongostore.Load[document](t.Context(), collection, 1)
		errortest.None(t, err)
		valuetest.List(t, kinds(left.Outbox), []string{"second"}, "left")
	}
}

func TestRelay_SeveralReplicasLoseNothing(t *testing.T) {
	t.Parallel()
	collection, client, stream := open(t)
	relays := make([]*Relay, 3)
	for i := range relays {
		relays[i] = NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent()})
		start(t, relays[i].Run)
	}
	const documents, each = 8, 10
	var writers sync.WaitGroup
	for id := range int64(documents) {
		put(t, collection, id+1, "made")
		writers.Go(func() {
			for range each {
				_, err := mongostore.Update(t.Context(), collection, id+1, func(d *document) error {
					d.Outbox = append(d.Outbox, NewMessage(t.Context(), "changed", id+1))
					return nil
				})
				errortest.Report(t, err)
				relays[id%3].Nudge()
			}
		})
	}
	writers.Wait()
	emptied(t, collection)
	distinct := map[string]bool{}
	for _, m := range entries(t, client, stream) {
		distinct[m.ID] = true
	}
	valuetest.Same(t, len(distinct), documents*(each+1), "distinct messages")
}

func TestRelay_MoreThanOneBatch(t *testing.T) {
	t.Parallel()
	collection, client, stream := open(t)
	const n = 2*relayBatch + 30
	documents := make([]any, n)
	for i := range documents {
		id := int64(i + 1)
		documents[i] = document{Head: mongostore.Head{ID: id, Version: 1},
			Outbox: []Message{NewMessage(t.Context(), "made", id)}}
	}
	errortest.None(t, errortest.Of(collection.InsertMany(t.Context(), documents)))
	start(t, NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent()}).Run)
	emptied(t, collection)
	valuetest.Same(t, len(entries(t, client, stream)), n, "messages")
}

func TestRelay_AStoreThatIsAwayDelaysAndLosesNothingAndLogsOnce(t *testing.T) {
	t.Parallel()
	for _, away := range []string{"redis", "mongo"} {
		t.Run(away, func(t *testing.T) {
			collection, client, stream := open(t)
			mongoLine, line, mongoURI, redisURL := storetest.Lines(t)
			var log logged
			o := RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: log.logger()}
			if away == "redis" {
				o.Redis = storetest.RedisAt(t, redisURL)
			} else {
				line = mongoLine
				separator := "?"
				if strings.Contains(mongoURI, "?") {
					separator = "&"
				}
				gated, err := mongostore.Connect(t.Context(),
					mongoURI+separator+"directConnection=true&serverSelectionTimeoutMS=300", mongostore.Options{})
				errortest.None(t, err)
				defer func() { _ = gated.Disconnect(context.Background()) }()
				o.Collection = gated.Database(collection.Database().Name()).Collection(collection.Name())
			}
			relay := NewRelay(o)
			start(t, relay.Run)
			put(t, collection, 1, "before")
			emptied(t, collection)

			line.Cut()
			put(t, collection, 2, "meanwhile")
			relay.Nudge()
			eventually(t, "a warning", func() bool { return log.count() == 1 })
			time.Sleep(2 * time.Second)
			valuetest.Same(t, log.count(), 1, "log lines while it is away")

			errortest.None(t, line.Mend())
			emptied(t, collection)
			eventually(t, "a line that all is well", func() bool { return log.count() == 2 })
			distinct := map[string]bool{}
			for _, m := range entries(t, client, stream) {
				distinct[m.Kind] = true
			}
			valuetest.Same(t, len(distinct), 2, "published %v", distinct)
		})
	}
}

func TestIndex_LookingForMessagesReadsOnlyDocumentsThatHaveSome(t *testing.T) {
	t.Parallel()
	collection := records(t)
	documents := make([]any, 2000)
	for i := range documents {
		documents[i] = document{Head: mongostore.Head{ID: int64(i + 1), Version: 1}, Title: "idle"}
	}
	errortest.None(t, errortest.Of(collection.InsertMany(t.Context(), documents)))
	storetest.NoScan(t, collection.Database(),
		bson.D{{Key: "find", Value: collection.Name()}, {Key: "filter", Value: mongostore.PendingOutbox.Filter()},
			{Key: "limit", Value: relayBatch}})
}
