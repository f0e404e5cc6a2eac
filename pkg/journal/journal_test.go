package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// book is a record, and page the document of one.
type book struct {
	ID, Version int64
	Title       string
}

type page struct {
	mongostore.Head `bson:",inline"`
	Title           string `bson:"title"`
	journal.Tail    `bson:",inline"`
}

func (p *page) book() book { return book{p.ID, p.Version, p.Title} }

// set overwrites fields that are the journal's: all of them must survive.
func (p *page) set(b book) {
	*p = page{Head: mongostore.Head{ID: b.ID, Version: 99, Schema: 3}, Title: b.Title}
}

// books are the records of a new collection, and what they did.
type books struct {
	*journal.Collection[page, book]
	pages  *mongo.Collection
	nudges int
}

func open(t *testing.T) *books {
	t.Helper()
	b := &books{pages: storetest.Mongo(t).Collection("books")}
	b.Collection = journal.New(journal.Options[page, book]{
		Collection: b.pages, Record: (*page).book, Set: (*page).set, Nudge: func() { b.nudges++ },
		Entry: func(ctx context.Context, before, after book) []audit.Entry {
			changes := audit.Compare([]audit.Value{audit.Text("title", before.Title)},
				[]audit.Value{audit.Text("title", after.Title)})
			action := audit.Update
			switch {
			case before.ID == 0:
				action = audit.Create
			case after.ID == 0:
				action = audit.Delete
			}
			return audit.New(ctx, action, audit.RecordOf("Book", max(before.ID, after.ID)), changes)
		},
		Messages: func(ctx context.Context, version int64, before, after book) []outbox.Message {
			if strings.HasPrefix(after.Title, "silent") {
				return nil
			}
			kind := fmt.Sprintf("%s→%s at %d", before.Title, after.Title, version)
			return []outbox.Message{outbox.NewMessage(ctx, kind, max(before.ID, after.ID))}
		},
	})
	return b
}

// stored returns the document of that id.
func (b *books) stored(t *testing.T, id int64) page {
	t.Helper()
	p, err := mongostore.Load[page](t.Context(), b.pages, id)
	errortest.None(t, err)
	return p
}

// want checks what is pending in a document: the actions of its entries, and the kinds of its messages.
func (p page) want(t *testing.T, actions, kinds []string) {
	t.Helper()
	var gotActions, gotKinds []string
	for _, e := range p.Audit {
		gotActions = append(gotActions, string(e.Action))
	}
	for _, m := range p.Outbox {
		gotKinds = append(gotKinds, m.Kind)
	}
	valuetest.Equal(t, [][]string{actions, kinds}, [][]string{gotActions, gotKinds})
}

func retitle(title string) func(*book) error {
	return func(b *book) error { b.Title = title; return nil }
}

func TestCollection_EveryWriteLeavesItsEntryAndItsMessagesAndNudgesTheRelay(t *testing.T) {
	b := open(t)
	refused, err := b.Insert(t.Context(), []book{{ID: 1, Title: "A"}, {ID: 2, Title: "silent"}})
	if err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	b.stored(t, 1).want(t, []string{"create"}, []string{"→A at 1"})
	b.stored(t, 2).want(t, []string{"create"}, nil)
	one, err := b.InsertOne(t.Context(), book{ID: 3, Title: "C"})
	errortest.None(t, err)
	valuetest.Same(t, one, book{3, 1, "C"})
	changed, err := b.Change(t.Context(), 1, retitle("B"))
	errortest.None(t, err)
	valuetest.Same(t, changed, book{1, 2, "B"})
	all, err := b.Replace(t.Context(), []journal.Revision[book]{{ID: 1, Version: 2, Record: book{ID: 1, Title: "C"}},
		{ID: 2, Version: 1, Record: book{ID: 2, Title: "D"}}})
	if err != nil || !all {
		t.Error(all, err)
	}
	valuetest.Same(t, b.nudges, 4, "nudges")
	errortest.None(t, b.Delete(t.Context(), 1, func(*book) error { return nil }))
	p := b.stored(t, 1)
	p.want(t, []string{"create", "update", "update", "delete"}, []string{"→A at 1", "A→B at 2", "B→C at 3", "C→ at 4"})
	valuetest.Holds(t, p.Deleted && p.Version == 4 && p.Schema == 3 && p.Title == "", "the tombstone is %+v", p)
	b.stored(t, 2).want(t, []string{"create", "update"}, []string{"silent→D at 2"})
	valuetest.Same(t, b.nudges, 5, "nudges")
	if b.nudges = 0; errortest.Of(b.Change(t.Context(), 2, retitle("silent again"))) != nil || b.nudges != 0 {
		t.Errorf("a write without a message nudges")
	}
}

func TestCollection_NothingIsWrittenWhenNothingChangesOrMayChange(t *testing.T) {
	b := open(t)
	_, err := b.InsertOne(t.Context(), book{ID: 1, Title: "A"})
	errortest.None(t, err)
	b.nudges = 0
	got, err := b.Change(t.Context(), 1,
		func(b *book) error { b.Title = "B"; return fmt.Errorf("equal: %w", record.ErrUnchanged) })
	errortest.None(t, err)
	valuetest.Same(t, got, book{1, 1, "A"}, "unchanged")
	refused := errors.New("no")
	got, err = b.Change(t.Context(), 1, func(b *book) error { b.Title = "B"; return refused })
	valuetest.Holds(t, errors.Is(err, refused) && got.Title == "B", "refused: %+v, %v", got, err)
	errortest.Is(t, b.Delete(t.Context(), 1, func(*book) error { return refused }), refused, "a deletion")
	b.stored(t, 1).want(t, []string{"create"}, []string{"→A at 1"})
	if p := b.stored(t, 1); p.Version != 1 || p.Title != "A" || b.nudges != 0 {
		t.Errorf("%+v after %d nudges", p, b.nudges)
	}
}

// away is an import's batch that fails to begin.
type away struct{ error }

func (a away) Begin(context.Context) error { return a.error }

func TestCollection_NoWriteOfABatchThatHasNotBegun(t *testing.T) {
	b := open(t)
	errortest.None(t, errortest.Of(b.InsertOne(t.Context(), book{ID: 1, Title: "A"})))
	fault := errors.New("away")
	ctx := audit.WithBatch(t.Context(), away{fault})
	for name, err := range map[string]error{
		"insert":     errortest.Of(b.Insert(ctx, []book{{ID: 2}})),
		"insert one": errortest.Of(b.InsertOne(ctx, book{ID: 2})),
		"change":     errortest.Of(b.Change(ctx, 1, retitle("B"))),
		"replace":    errortest.Of(b.Replace(ctx, []journal.Revision[book]{{ID: 1, Version: 1, Record: book{ID: 1}}})),
		"delete":     b.Delete(ctx, 1, func(*book) error { return nil }),
	} {
		errortest.Is(t, err, fault, name)
	}
	if n, err := b.pages.CountDocuments(t.Context(), bson.D{}); err != nil || n != 1 || b.stored(t, 1).Version != 1 {
		t.Errorf("%d documents, %v", n, err)
	}
}

func TestCollection_TombstonesAreNoRecords(t *testing.T) {
	b := open(t)
	_, err := b.Insert(t.Context(), []book{{ID: 1, Title: "A"}, {ID: 2, Title: "B"}})
	errortest.None(t, err)
	errortest.None(t, b.Delete(t.Context(), 1, func(*book) error { return nil }))
	for name, err := range map[string]error{
		"get":    errortest.Of(b.Get(t.Context(), 1)),
		"first":  errortest.Of(b.First(t.Context(), bson.D{{Key: "title", Value: "A"}})),
		"change": errortest.Of(b.Change(t.Context(), 1, retitle("B"))),
		"delete": b.Delete(t.Context(), 1, func(*book) error { return nil }),
		"none":   errortest.Of(b.Get(t.Context(), 3)),
	} {
		errortest.Is(t, err, record.ErrNotFound, name)
	}
	if found, err := b.Find(t.Context(), bson.D{}); err != nil || !slices.Equal(found, []book{{2, 1, "B"}}) {
		t.Errorf("found %+v, %v", found, err)
	}
	all, err := b.Replace(t.Context(), []journal.Revision[book]{{ID: 1, Version: 2, Record: book{ID: 1, Title: "C"}}})
	valuetest.Holds(t, err == nil && !all, "replaced: %v, %v", all, err)
}

// intents counts the write intents that are open.
type intents struct{ open int }

func (i *intents) Open(context.Context, []directory.Key) (directory.Intent, error) {
	i.open++
	return directory.Intent{Epoch: "e", Seq: 1}, nil
}

func (i *intents) Close(context.Context, directory.Intent, []directory.Key) error {
	i.open--
	return nil
}

func (i *intents) Cancel(context.Context, directory.Intent) error { i.open--; return nil }

func (*intents) Closed(*directory.Intent) bool { return true }

func (*intents) Resolve(context.Context, []directory.Document) error { return nil }

// The intent stayed open: each snapshot listed it, and its records were invalidated once more when it expired.
func TestCollection_AChangeOfWhatIsPurgedMeanwhileLeavesNoIntent(t *testing.T) {
	i := &intents{}
	pages := storetest.Mongo(t).Collection("books")
	b := journal.New(journal.Options[page, book]{
		Collection: pages, Record: (*page).book, Set: (*page).set, Directory: i,
		Entry: func(context.Context, book, book) []audit.Entry { return nil },
		Keys:  func(int64, book) []directory.Key { return nil },
	})
	errortest.None(t, errortest.Of(b.InsertOne(t.Context(), book{ID: 1})))
	_, err := b.Change(t.Context(), 1, func(*book) error {
		return errortest.Of(pages.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: 1}}))
	})
	errortest.Is(t, err, record.ErrNotFound, "the change")
	valuetest.Same(t, i.open, 0, "open intents")
}

func TestCollection_NoChangeIsLostAmongManyWriters(t *testing.T) {
	b := open(t)
	errortest.None(t, errortest.Of(b.InsertOne(t.Context(), book{ID: 1, Title: "silent"})))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				add := func(b *book) error { b.Title += "x"; return nil }
				errortest.Report(t, errortest.Of(b.Change(t.Context(), 1, add)))
			}
		})
	}
	wg.Wait()
	p := b.stored(t, 1)
	if p.Title != "silent"+strings.Repeat("x", 40) || p.Version != 41 || len(p.Audit) != 41 {
		t.Errorf("%s at version %d with %d entries", p.Title, p.Version, len(p.Audit))
	}
}

func TestCollection_UnauditedWritesLeaveNothing(t *testing.T) {
	b := open(t)
	_, err := b.Insert(t.Context(), []book{{ID: 1, Title: "silent"}, {ID: 2, Title: "B"}})
	errortest.None(t, err)
	ctx := audit.WithBatch(t.Context(), away{errors.New("begun")})
	b.nudges = 0
	errortest.Report(t, b.Rewrite(ctx, 1, func(p *page) error { p.Title = "rewritten"; return nil }))
	errortest.Report(t, b.Fence(ctx, 3, 7))
	if err := b.Fence(ctx, 1, 7); !mongostore.IsDuplicateKey(err) {
		t.Errorf("a fence where there is a record: %v", err)
	}
	err = b.Forget(ctx, bson.D{{Key: "_id", Value: 2}},
		bson.D{{Key: "$unset", Value: bson.D{{Key: "title", Value: ""}}}})
	errortest.Report(t, err)
	b.stored(t, 1).want(t, []string{"create"}, nil)
	b.stored(t, 2).want(t, []string{"create"}, []string{"→B at 1"})
	b.stored(t, 3).want(t, nil, nil)
	if p := b.stored(t, 3); !p.Deleted || p.Schema != 7 || b.nudges != 0 {
		t.Errorf("the fence is %+v, after %d nudges", p, b.nudges)
	}
}

func TestPurge_SparesWhatHasSomethingPending(t *testing.T) {
	b := open(t)
	entry := audit.Make(t.Context(), audit.Create, audit.RecordOf("Book", 1), nil)
	for id, tail := range []journal.Tail{{}, {Audit: []audit.Entry{entry}},
		{Outbox: []outbox.Message{outbox.NewMessage(t.Context(), "x", 2)}}} {
		err := mongostore.Insert(t.Context(), b.pages, &page{Head: mongostore.Head{ID: int64(id)}, Tail: tail})
		errortest.None(t, err)
	}
	all := bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: 0}}}}
	if left, err := b.Purge(t.Context(), all); err != nil || !left {
		t.Errorf("left: %v, %v", left, err)
	}
	found, err := b.Find(t.Context(), bson.D{})
	valuetest.Holds(t, err == nil && len(found) == 2 && found[0].ID != 0 && found[1].ID != 0, "%+v, %v", found, err)
}
