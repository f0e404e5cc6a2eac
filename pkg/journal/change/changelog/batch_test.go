package changelog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// begin is what a process does before it creates records together.
func (s *things) begin(t *testing.T, ids ...int64) *changelog.Batch {
	t.Helper()
	items := sequence.Map(ids, func(id int64) change.Item {
		return change.Item{Kind: change.Event}.Of(id, 1, change.Created)
	})
	b, err := changelog.NewBatches(s.db, "things").Begin(t.Context(), "things", items)
	errortest.Report(t, err)
	return b
}

// store is what it does then.
func (s *things) store(t *testing.T, ids ...int64) {
	t.Helper()
	documents := sequence.Map(ids, func(id int64) document {
		return document{Head: mongostore.Head{ID: id, Version: 1}}
	})
	errortest.Report(t, errortest.Of(mongostore.InsertAll(t.Context(), s.db.Collection("things"), documents)))
}

// createTogether creates records, and is killed after some step: 0 none, 1 when all are there, 2 when the first is. It
// returns those whose creation was acknowledged.
func (s *things) createTogether(t *testing.T, step int, all ...int64) (acknowledged []int64) {
	t.Helper()
	switch step {
	case 0:
		things := sequence.Map(all, func(id int64) thing { return thing{ID: id} })
		if refused, err := s.Insert(t.Context(), things); err != nil || len(refused) > 0 {
			t.Error(refused, err)
		}
		return all
	case 1:
		s.begin(t, all...)
		s.store(t, all...)
	default:
		s.begin(t, all...)
		s.store(t, all[0])
	}
	return nil
}

// waiting returns how many documents have changes of their own, and how many batches there are.
func (s *things) waiting(t *testing.T) (documents, batches int64) {
	t.Helper()
	documents, err := s.db.Collection("things").CountDocuments(t.Context(), mongostore.PendingChanges.Filter())
	errortest.None(t, err)
	batches, err = s.db.Collection("things_changes_batches").CountDocuments(t.Context(), bson.D{})
	errortest.None(t, err)
	return documents, batches
}

// follow fails unless exactly these changes come next.
func (s *things) follow(t *testing.T, from *change.Position, want ...string) {
	t.Helper()
	if got := ids(read(t, s.logs[0], from, 100)); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestClients_ChangesOfRecordsCreatedTogetherWaitInOneDocument(t *testing.T) {
	s := open(t, 1, 0)
	from := now(t, s.logs[0])
	s.create(t, 3)
	s.follow(t, &from, "Event:3:1 created")
	refused, err := s.Insert(t.Context(), []thing{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}})
	if err != nil || len(refused) != 1 {
		t.Fatal(refused, err)
	}
	if documents, batches := s.waiting(t); documents != 0 || batches != 1 {
		t.Errorf("%d documents and %d batches wait", documents, batches)
	}
	s.follow(t, &from, "Event:1:1 created", "Event:2:1 created", "Event:4:1 created")
	refused, err = s.Insert(t.Context(), []thing{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}})
	if err != nil || len(refused) != 4 {
		t.Fatal(refused, err)
	}
	_, batches := s.waiting(t)
	valuetest.Same(t, batches, 0, "batches are left")
	s.follow(t, &from)
}

// A writer that creates records together dies or sleeps at each step, and others read and change meanwhile.
func TestClients_ChangesOfABatchThatNobodyEndsAreListedAsItsRecordsCome(t *testing.T) {
	s := open(t, 1, 0)
	from := now(t, s.logs[0])
	b := s.begin(t, 1, 2, 3, 4)
	s.follow(t, &from)
	s.store(t, 2)
	s.change(t, 2)
	s.follow(t, &from, "Event:2:1 created", "Event:2:2 changed")
	s.store(t, 3)
	s.remove(t, 3) // the tombstone goes when its change is listed
	s.follow(t, &from, "Event:3:1 created", "Event:3:2 deleted")
	s.store(t, 1, 4)
	s.follow(t, &from, "Event:1:1 created", "Event:4:1 created")
	if documents, batches := s.waiting(t); documents != 0 || batches != 0 {
		t.Errorf("%d documents and %d batches wait", documents, batches)
	}
	if err := b.End(t.Context(), nil); err != nil { // it was asleep, and awakes
		t.Fatal(err)
	}
	s.follow(t, &from)
	_, batches := s.waiting(t)
	valuetest.Same(t, batches, 0, "batches are left")
}

func TestClients_ChangesOfABatchThatIsAwaitedNoLongerAreListedWhenItEnds(t *testing.T) {
	s := open(t, 1, 0)
	from := now(t, s.logs[0])
	b := s.begin(t, 1, 2, 3, 4)
	s.store(t, 1)
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "begun", Value: time.Now().Add(-time.Hour)}}}}
	errortest.None(t, errortest.Of(s.db.Collection("things_changes_batches").UpdateMany(t.Context(), bson.D{}, set)))
	s.follow(t, &from, "Event:1:1 created")
	_, batches := s.waiting(t)
	valuetest.Same(t, batches, 0, "batches are awaited for an hour")
	s.store(t, 2, 3)
	errortest.None(t, b.End(t.Context(), []int{3}))
	s.follow(t, &from, "Event:2:1 created", "Event:3:1 created")
}

// An id that is fenced is taken, but by no record.
func TestClients_ChangesOfABatchNameNoRecordThatNeverWas(t *testing.T) {
	s := open(t, 1, 0)
	from := now(t, s.logs[0])
	s.begin(t, 1, 2, 3, 4)
	errortest.None(t, s.Fence(t.Context(), 2, 1))
	s.store(t, 3)
	s.follow(t, &from, "Event:3:1 created")
}

// What the loop does without readers leaves alone what is being created, unless a change of it waits.
func TestClients_ChangesOfABatchThatIsBeingCreatedAreLeftAlone(t *testing.T) {
	s := open(t, 1, 0)
	from := now(t, s.logs[0])
	s.begin(t, 1, 2, 3, 4)
	s.store(t, 1)
	pages := func() int64 {
		errortest.None(t, s.logs[0].FlushClosed(t.Context()))
		n, err := s.db.Collection("things_changes").CountDocuments(t.Context(), bson.D{})
		errortest.None(t, err)
		return n
	}
	valuetest.Same(t, pages(), 1, "pages, want the first alone")
	s.change(t, 1)
	if n := pages(); n == 1 {
		t.Error("what was changed is not in the log")
	}
	s.follow(t, &from, "Event:1:1 created", "Event:1:2 changed")
}
