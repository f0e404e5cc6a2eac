package auditlog_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// thing is a document like those of the services.
type thing struct {
	mongostore.Head `bson:",inline"`
	Name            string           `bson:"name"`
	Deleted         bool             `bson:"deleted,omitempty"`
	Outbox          []outbox.Message `bson:"outbox,omitempty"`
	Audit           []audit.Entry    `bson:"audit,omitempty"`
}

// open makes an audit of the service things, with one source of that name.
func open(t *testing.T) (*auditlog.Log, *mongo.Collection) {
	t.Helper()
	db := storetest.Mongo(t)
	things := db.Collection("things")
	err := mongostore.EnsureIndexes(t.Context(), things, []mongostore.Index{auditlog.Index(), outbox.Index()})
	errortest.None(t, err)
	log := auditlog.New(db, "things", things)
	errortest.None(t, log.Prepare(t.Context()))
	return log, things
}

func as(ctx context.Context, user, original int64) context.Context {
	return audit.WithActor(ctx, audit.Actor{User: user, Original: original, From: "192.0.2.7", Request: "r1"})
}

func entry(ctx context.Context, action audit.Action, id int64) []audit.Entry {
	return audit.New(ctx, action, audit.RecordOf("Thing", id),
		audit.Compare(nil, []audit.Value{audit.Text("name", "a")}))
}

// put stores a document with the entry of its creation.
func put(t *testing.T, ctx context.Context, things *mongo.Collection, id int64) {
	t.Helper()
	err := mongostore.Insert(ctx, things, &thing{Head: mongostore.Head{ID: id}, Audit: entry(ctx, audit.Create, id)})
	errortest.None(t, err)
}

// found lists entries as "action record by user".
func found(t *testing.T, log *auditlog.Log, q auditlog.Query) (lines []string, next string) {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	entries, next, err := log.Find(t.Context(), q)
	errortest.None(t, err)
	for _, e := range entries {
		lines = append(lines, fmt.Sprint(e.Action, " ", e.Record, " by ", e.User))
	}
	return lines, next
}

func want(t *testing.T, got []string, lines ...string) {
	t.Helper()
	valuetest.Equal(t, lines, got)
}

func TestFind_FiltersAndPagesTheNewestFirst(t *testing.T) {
	log, things := open(t)
	put(t, as(t.Context(), 5, 0), things, 1)
	put(t, as(t.Context(), 6, 5), things, 2)
	time.Sleep(5 * time.Millisecond)
	later := time.Now()
	put(t, t.Context(), things, 3)

	lines, next := found(t, log, auditlog.Query{})
	want(t, lines, "create Thing:3 by 0", "create Thing:2 by 6", "create Thing:1 by 5")
	valuetest.Same(t, next, "", "next %q after the last", next)
	lines, next = found(t, log, auditlog.Query{Choice: auditlog.Choice{Limit: 2}})
	want(t, lines, "create Thing:3 by 0", "create Thing:2 by 6")
	lines, next = found(t, log, auditlog.Query{Choice: auditlog.Choice{Limit: 2, After: next}})
	want(t, lines, "create Thing:1 by 5")
	valuetest.Same(t, next, "", "next %q after the last", next)
	lines, _ = found(t, log, auditlog.Query{Choice: auditlog.Choice{User: 5}}) // as itself, and switched to another
	want(t, lines, "create Thing:2 by 6", "create Thing:1 by 5")
	lines, _ = found(t, log, auditlog.Query{Record: "Thing:2"})
	want(t, lines, "create Thing:2 by 6")
	lines, _ = found(t, log, auditlog.Query{Record: "Thing", Choice: auditlog.Choice{User: 6}})
	want(t, lines, "create Thing:2 by 6")
	lines, _ = found(t, log, auditlog.Query{Choice: auditlog.Choice{Since: later}})
	want(t, lines, "create Thing:3 by 0")
	lines, _ = found(t, log, auditlog.Query{Record: "Thin"})
	want(t, lines)
}

func TestMove_TakesOutWhatItAppendedAndKeepsTheRest(t *testing.T) {
	log, things := open(t)
	ctx := as(t.Context(), 5, 0)
	put(t, ctx, things, 1)
	errortest.None(t, log.Move(ctx))
	_, err := mongostore.Update(ctx, things, 1, func(d *thing) error {
		d.Name = "b"
		d.Audit = append(d.Audit, entry(ctx, audit.Update, 1)...)
		return nil
	})
	errortest.None(t, err)
	lines, _ := found(t, log, auditlog.Query{})
	want(t, lines, "update Thing:1 by 5", "create Thing:1 by 5")
	d, err := mongostore.Load[thing](ctx, things, 1)
	valuetest.Holds(t, err == nil && d.Name == "b" && d.Version == 2 && len(d.Audit) == 0, "%+v %v", d, err)
}

func TestMove_LosesNoEntryInADryRun(t *testing.T) {
	log, things := open(t)
	put(t, as(t.Context(), 1, 1), things, 1)
	errortest.Some(t, log.Move(record.DryRun(t.Context())), "it moves in a dry run")
	lines, _ := found(t, log, auditlog.Query{})
	valuetest.Len(t, lines, 1, "the audit")
}

// A process that dies after it appended leaves its entries in the document, and a writer may restore them.
func TestMove_AnEntryThatIsMovedTwiceIsThereOnce(t *testing.T) {
	log, things := open(t)
	put(t, t.Context(), things, 1)
	d, err := mongostore.Load[thing](t.Context(), things, 1)
	errortest.None(t, err)
	for range 2 {
		errortest.None(t, log.Move(t.Context()))
		_, err = things.ReplaceOne(t.Context(), bson.D{{Key: "_id", Value: 1}}, &d)
		errortest.None(t, err)
	}
	lines, _ := found(t, log, auditlog.Query{})
	want(t, lines, "create Thing:1 by 0")
}

func TestMove_ATombstoneGoesWithTheLastThatItCarries(t *testing.T) {
	for _, relayFirst := range []bool{true, false} {
		log, things := open(t)
		client, prefix := storetest.Redis(t)
		relay := outbox.NewRelay(outbox.RelayOptions{Collection: things, Redis: client,
			Stream: prefix + "things", Log: slog.New(slog.DiscardHandler)})
		stone := thing{Head: mongostore.Head{ID: 1}, Deleted: true, Audit: entry(t.Context(), audit.Delete, 1),
			Outbox: []outbox.Message{outbox.NewMessage(t.Context(), "thing.deleted", 1)}}
		errortest.None(t, mongostore.Insert(t.Context(), things, &stone))
		steps := []func(){
			func() {
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- relay.Run(ctx) }()
				for published := int64(0); published == 0; {
					published = client.XLen(ctx, prefix+"things").Val()
				}
				for waits := true; waits; {
					d, err := mongostore.Load[thing](ctx, things, 1)
					waits = err == nil && len(d.Outbox) > 0
				}
				stop()
				errortest.Report(t, <-ended)
			},
			func() {
				errortest.Report(t, log.Move(t.Context()))
			},
		}
		if !relayFirst {
			slices.Reverse(steps)
		}
		steps[0]()
		errortest.Report(t, errortest.Of(mongostore.Load[thing](t.Context(), things, 1)),
			"relay first %v: gone before it had told everybody", relayFirst)
		steps[1]()
		errortest.Is(t, errortest.Of(mongostore.Load[thing](t.Context(), things, 1)), record.ErrNotFound,
			"relay first %v: still there", relayFirst)
		lines, _ := found(t, log, auditlog.Query{})
		want(t, lines, "delete Thing:1 by 0")
	}
}

func TestMove_ManyDocumentsAndProcessesAtOnce(t *testing.T) {
	log, things := open(t)
	const n = 450 // more than two batches
	for id := range int64(n) {
		put(t, t.Context(), things, id+1)
	}
	faults := make(chan error)
	const movers = 4
	for range movers {
		go func() { faults <- log.Move(t.Context()) }()
	}
	for range movers {
		errortest.Report(t, <-faults)
	}
	lines, _ := found(t, log, auditlog.Query{Choice: auditlog.Choice{Limit: 1000}})
	valuetest.Same(t, len(lines), n, "entries of %d", n)
	waiting, err := things.CountDocuments(t.Context(),
		bson.D{{Key: "audit.0", Value: bson.D{{Key: "$exists", Value: true}}}})
	errortest.None(t, err)
	valuetest.Same(t, waiting, 0, "wait")
}

// TestFind_APageOfLargeEntriesIsShort: 40 entries of half a MiB are not read at once, and none is left out.
func TestFind_APageOfLargeEntriesIsShort(t *testing.T) {
	log, _ := open(t)
	text := strings.Repeat("x", 200)
	large := make([]audit.Change, 2500)
	for i := range large {
		large[i] = audit.Change{Field: "name", To: &text}
	}
	const entries, mostAtOnce = 40, 16 << 20 / (2500 * 200)
	for id := range int64(entries) {
		e := audit.Make(t.Context(), audit.Update, audit.RecordOf("Thing", id), large)
		errortest.None(t, log.Record(t.Context(), e))
	}
	var all []string
	for after := ""; ; {
		lines, next := found(t, log, auditlog.Query{Choice: auditlog.Choice{After: after}})
		valuetest.Holds(t, len(lines) <= mostAtOnce, "%d entries at once", len(lines))
		if all = append(all, lines...); next == "" {
			break
		}
		after = next
	}
	if len(all) != entries || all[0] != "update Thing:39 by 0" || len(slices.Compact(all)) != entries {
		t.Errorf("%d entries: %q", len(all), all)
	}
}

func TestBatch_TellsThatItBeganBeforeItWritesAndHowItEnded(t *testing.T) {
	log, things := open(t)
	batch := log.NewBatch("things", []string{"a", "b", "c"})
	ctx := audit.WithBatch(as(t.Context(), 5, 0), batch)
	lines, _ := found(t, log, auditlog.Query{})
	want(t, lines)
	for range 2 {
		errortest.None(t, audit.Begin(ctx))
	}
	lines, _ = found(t, log, auditlog.Query{})
	want(t, lines, "import Import:things by 5")
	put(t, ctx, things, 1) // has no entry of its own
	errortest.None(t, batch.End(ctx, 1, 0, 1, 1))
	entries, _, err := log.Find(t.Context(), auditlog.Query{Record: "Import", Choice: auditlog.Choice{Limit: 10}})
	valuetest.MustHold(t, err == nil && len(entries) == 2, "%+v %v", entries, err)
	changes := sequence.Map(entries[0].Changes, func(c audit.Change) string { return c.Field + "=" + *c.To })
	want(t, changes, "records=3", "first_key=a", "last_key=c", "created=1", "updated=0", "unchanged=1", "failed=1")
}

func TestBatch_ThatWritesNothingLeavesNothing(t *testing.T) {
	log, _ := open(t)
	batch := log.NewBatch("things", []string{"a"})
	errortest.None(t, batch.End(t.Context(), 0, 0, 1, 0))
	lines, _ := found(t, log, auditlog.Query{})
	want(t, lines)
}
