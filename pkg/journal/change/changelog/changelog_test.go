package changelog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// thing is a record, and document the document of one.
type thing struct{ ID, Version int64 }

type document struct {
	mongostore.Head `bson:",inline"`
	journal.Tail    `bson:",inline"`
}

// things are the records of a new collection, and logs their log in several replicas.
type things struct {
	*journal.Collection[document, thing]
	db    *mongo.Database
	audit *auditlog.Log
	logs  []*changelog.Log
	entry []audit.Entry // of the next write
}

func open(t *testing.T, replicas int, keep time.Duration) *things {
	t.Helper()
	s := &things{db: storetest.Mongo(t)}
	c := s.db.Collection("things")
	indexes := []mongostore.Index{auditlog.Index(), changelog.Index()}
	errortest.None(t, mongostore.EnsureIndexes(t.Context(), c, indexes))
	s.audit = auditlog.New(s.db, "things", c)
	s.Collection = journal.New(journal.Options[document, thing]{
		Collection: c,
		Record:     func(d *document) thing { return thing{d.ID, d.Version} },
		Set:        func(d *document, r thing) { *d = document{Head: mongostore.Head{ID: r.ID}} },
		Entry:      func(context.Context, thing, thing) []audit.Entry { return s.entry },
		Follow:     func(thing, thing) change.Item { return change.Item{Kind: change.Event} },
		Batches:    changelog.NewBatches(s.db, "things"),
	})
	for range replicas {
		log := changelog.New(changelog.Options{
			DB: s.db, Service: "things", Sources: []*mongo.Collection{c}, Keep: keep, Entries: s.audit.Record,
		})
		errortest.None(t, log.Prepare(t.Context()))
		s.logs = append(s.logs, log)
	}
	return s
}

func (s *things) create(t *testing.T, id int64) {
	t.Helper()
	errortest.None(t, errortest.Of(s.InsertOne(t.Context(), thing{ID: id})))
}

func (s *things) change(t *testing.T, id int64) {
	t.Helper()
	errortest.None(t, errortest.Of(s.Change(t.Context(), id, func(*thing) error { return nil })))
}

func (s *things) remove(t *testing.T, id int64) {
	t.Helper()
	errortest.None(t, s.Delete(t.Context(), id, func(*thing) error { return nil }))
}

// now is where the log ends.
func now(t *testing.T, log *changelog.Log) change.Position {
	t.Helper()
	part, err := log.Read(t.Context(), nil, 1)
	errortest.None(t, err)
	return part.Now
}

// read reads on from a position to the end of the log, up to limit changes at a time, and moves the position there.
func read(t *testing.T, log *changelog.Log, from *change.Position, limit int) (items []change.Item) {
	t.Helper()
	for {
		part, err := log.Read(t.Context(), from, limit)
		errortest.None(t, err)
		if part.Gone {
			t.Fatalf("%+v is gone", *from)
		}
		n := 0
		for _, p := range part.Pages {
			items = append(items, p.Changes...)
			n += len(p.Changes)
			*from = p.After(len(p.Changes))
		}
		valuetest.MustHold(t, n <= limit, "%d changes, up to %d were asked for", n, limit)
		if !part.More {
			return items
		}
	}
}

func ids(items []change.Item) (all []string) {
	for _, i := range items {
		all = append(all, fmt.Sprint(i.ID, " ", i.What))
	}
	return all
}

func TestClients_ChangesAreListedOnceAndInOrder(t *testing.T) {
	s := open(t, 2, 0)
	from := now(t, s.logs[0])
	s.create(t, 1)
	s.create(t, 2)
	s.change(t, 1)
	if err := s.logs[0].Append(t.Context()); err != nil { // and is killed there
		t.Fatal(err)
	}
	s.change(t, 1)
	s.remove(t, 2)
	want := []string{
		"Event:1:1 created", "Event:2:1 created", "Event:1:2 changed", "Event:1:3 changed", "Event:2:2 deleted",
	}
	for limit := 1; limit < 7; limit++ {
		p := from
		if got := ids(read(t, s.logs[limit%2], &p, limit)); !cmp.Equal(got, want) {
			t.Error(limit, cmp.Diff(want, got))
		}
		valuetest.Same(t, p, now(t, s.logs[0]), "%d: it is not the end", limit)
	}
	if n, err := s.db.Collection("things").CountDocuments(t.Context(), bson.D{}); n != 1 || err != nil {
		t.Errorf("%d documents are left, %v", n, err)
	}
}

// Four write, flush and read through a log of their own, and processes are killed between the two steps of flushing
// and while they create records together. Each notes where the log ended when its change had been acknowledged.
func TestClients_ChangesThatWereAcknowledgedComeBeforeLaterTokens(t *testing.T) {
	s := open(t, 4, 0)
	from := now(t, s.logs[0])
	var mu sync.Mutex
	acknowledged := map[string]change.Position{}
	var wg sync.WaitGroup
	for w, log := range s.logs {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			for round := range int64(60) {
				id, version, together := 1+random.Int64N(12), int64(1), []int64(nil)
				if random.IntN(5) == 0 { // changes one of some that it has created together
					id = 100 + 1000*int64(w) + 10*round
					together = s.createTogether(t, random.IntN(3), id, id+1, id+2, id+3, id+4)
				}
				_, err := s.InsertOne(t.Context(), thing{ID: id})
				if mongostore.IsDuplicateKey(err) {
					var changed thing
					changed, err = s.Change(t.Context(), id, func(*thing) error { return nil })
					version = changed.Version
				}
				if err != nil && !errors.Is(err, record.ErrNotFound) { // it is deleted
					t.Error(err)
					return
				}
				if random.IntN(3) == 0 {
					_ = log.Append(t.Context()) // what fails is done by others
				}
				if err == nil {
					part, err := log.Read(t.Context(), nil, 1)
					for err == nil && part.Waits { // more than a busy machine moves in the time of a turn
						part, err = log.Read(t.Context(), nil, 1)
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					acknowledged[fmt.Sprintf("Event:%d:%d", id, version)] = part.Now
					for _, id := range together {
						acknowledged[fmt.Sprintf("Event:%d:1", id)] = part.Now
					}
					mu.Unlock()
				}
				if random.IntN(20) == 0 {
					err := s.Delete(t.Context(), id, func(*thing) error { return nil })
					if err != nil && !errors.Is(err, record.ErrNotFound) {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	places := map[string]change.Position{}
	versions := map[int64]int64{}
	for p := from; ; {
		part, err := s.logs[0].Read(t.Context(), &p, 1)
		errortest.None(t, err)
		if len(part.Pages) == 0 && !part.More {
			break
		}
		if len(part.Pages) == 0 { // not all has moved yet
			continue
		}
		item := part.Pages[0].Changes[0]
		p = part.Pages[0].After(1)
		if _, twice := places[item.ID]; twice {
			t.Errorf("%s is listed twice", item.ID)
		}
		places[item.ID] = p
		if want := versions[item.Record] + 1; item.Version != want && item.What != change.Created {
			t.Errorf("%s is listed where version %d was next", item.ID, want)
		}
		versions[item.Record] = item.Version
	}
	for id, then := range acknowledged {
		at, listed := places[id]
		valuetest.Holds(t, listed, "%s is not listed", id)
		if at.Page > then.Page || at.Page == then.Page && at.Read > then.Read {
			t.Errorf("%s was acknowledged before the log ended at %+v, and is listed at %+v", id, then, at)
		}
	}
	t.Logf("%d changes acknowledged, %d listed", len(acknowledged), len(places))
}

func TestClients_ChangesAreKeptAsLongAsSaid(t *testing.T) {
	s := open(t, 1, time.Hour)
	log := s.logs[0]
	gone := func(p change.Position) bool {
		part, err := log.Read(t.Context(), &p, 10)
		errortest.None(t, err)
		return part.Gone
	}
	sweep := func(at time.Time) {
		errortest.None(t, log.Sweep(t.Context(), at))
	}
	first := now(t, log)
	s.create(t, 1)
	second := now(t, log)
	s.create(t, 2)
	third := now(t, log)
	sweep(time.Now())
	valuetest.Holds(t, !gone(first) && !gone(second), "they are gone within the hour")
	sweep(time.Now().Add(2 * time.Hour))
	valuetest.Holds(t, gone(first) && gone(second), "they are not gone after the hour")
	s.create(t, 3)
	if p := third; gone(third) || len(read(t, log, &p, 10)) != 1 {
		t.Error("a client that had read all can't go on, though nothing had changed for long")
	}
	log.KeepMost(1)
	s.create(t, 4)
	fourth := now(t, log)
	s.create(t, 5)
	now(t, log)
	sweep(time.Now())
	valuetest.Holds(t, gone(third) && !gone(fourth), "the number of changes is not what bounds the log")
}

// A database that was set back has other pages of the same numbers when it has grown again.
func TestClients_ChangesOfALogThatWasSetBackAreGone(t *testing.T) {
	s := open(t, 1, 0)
	log := s.logs[0]
	s.create(t, 1)
	kept := now(t, log)
	s.create(t, 2)
	lost := now(t, log)
	pages := s.db.Collection("things_changes")
	errortest.None(t, errortest.Of(pages.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: lost.Page}})))
	for _, p := range []change.Position{lost, {Page: lost.Page + 7}, {Page: kept.Page, Mark: kept.Mark, Read: 9}} {
		if part, err := log.Read(t.Context(), &p, 1); err != nil || !part.Gone {
			t.Errorf("%+v is not gone, %v", p, err)
		}
	}
	s.create(t, 3)
	now(t, log)
	if part, err := log.Read(t.Context(), &lost, 1); err != nil || !part.Gone {
		t.Errorf("%+v is not gone, %v", lost, err)
	}
	valuetest.Same(t, len(read(t, log, &kept, 10)), 1, "what was kept does not lead on")
}

// More changes wait than a page may have, some of them in a tombstone.
func TestClients_ChangesThatWaitInThousandsAreAllListed(t *testing.T) {
	s := open(t, 1, 0)
	from := now(t, s.logs[0])
	var many []change.Item
	for v := int64(1); v <= 2500; v++ {
		many = append(many, change.Item{Kind: change.Event}.Of(1, v, change.Changed))
	}
	tombstone := document{Head: mongostore.Head{ID: 1, Version: 2500}, Tail: journal.Tail{Deleted: true, Changes: many}}
	errortest.None(t, errortest.Of(s.db.Collection("things").InsertOne(t.Context(), tombstone)))
	var things []thing
	for id := int64(2); id <= 2000; id++ {
		things = append(things, thing{ID: id})
	}
	errortest.None(t, errortest.Of(s.Insert(t.Context(), things)))
	versions := map[int64]int64{}
	for _, i := range read(t, s.logs[0], &from, 1000) {
		if versions[i.Record]++; i.Version != versions[i.Record] {
			t.Fatalf("%s is listed where version %d was next", i.ID, versions[i.Record])
		}
	}
	if len(versions) != 2000 || versions[1] != 2500 {
		t.Errorf("%d records, %d changes of the first", len(versions), versions[1])
	}
	if n, err := s.db.Collection("things").CountDocuments(t.Context(), bson.D{}); n != 1999 || err != nil {
		t.Errorf("%d documents are left, %v", n, err)
	}
}

// The audit's entry of a change leaves the document in the write that takes the change out, once it is in the audit:
// also after a process died before that write, and with the last of a tombstone.
func TestFlush_TakesTheEntriesBesideTheChanges(t *testing.T) {
	s := open(t, 1, 0)
	from := now(t, s.logs[0])
	for n, write := range []func(*testing.T, int64){s.create, s.change, s.remove} {
		s.entry = audit.New(t.Context(), audit.Update, audit.RecordOf("Thing", int64(n)),
			audit.Compare(nil, []audit.Value{audit.Text("name", "a")}))
		write(t, 1)
		if err := s.logs[0].Append(t.Context()); err != nil { // and is killed there
			t.Fatal(err)
		}
		errortest.None(t, s.logs[0].Flush(t.Context()))
		d, err := mongostore.Load[document](t.Context(), s.db.Collection("things"), 1)
		if gone := errors.Is(err, record.ErrNotFound); len(d.Audit)+len(d.Changes) > 0 || gone != (n == 2) {
			t.Errorf("after write %d: %+v, %v", n, d, err)
		}
		found, err := s.db.Collection("things_audit").CountDocuments(t.Context(), bson.D{})
		valuetest.Holds(t, err == nil && found == int64(n+1), "after write %d: %d entries, %v", n, found, err)
	}
	s.follow(t, &from, "Event:1:1 created", "Event:1:2 changed", "Event:1:3 deleted")
}
