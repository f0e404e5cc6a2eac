package store

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// A replica that has read the titles a moment ago finds each event, though another has just made its title a shared
// one.
func TestClients_ATitleIsSharedOnceEveryReplicaKnowsIt(t *testing.T) {
	db, importing := open(t)
	zone := timetest.London(t)
	searching := NewEvents(db, mongostore.NewIDs(db), zone, func() {})
	at := time.Now()
	importing.titles.now = func() time.Time { return at }
	searching.titles.now = importing.titles.now
	ctx := audit.WithBatch(t.Context(), Audit(db).NewBatch("events", []string{"a"}))
	from, to := zone.Bounds(timetest.Days(t, "2026-09-01", "2026-09-30"))
	const rounds = 7
	var keys []int
	for n := range int64(rounds) {
		var batch []event.Event
		for id := 2*n + 1; id <= 2*n+2; id++ {
			batch = append(batch, event.Event{ID: id, Texts: event.Texts{Body: "7 Mathematics 1"}, CategoryID: 1,
				Span: span("2026-09-07T09:00:00Z", "2026-09-07T10:00:00Z")})
		}
		if taken, err := importing.Insert(ctx, batch); err != nil || len(taken) > 0 {
			t.Fatal(taken, err)
		}
		wanted := event.Wanted{Needle: needle.New("MATICS")}
		found, _, err := searching.FindStarting(t.Context(), wanted, from, to, 0)
		valuetest.Holds(t, err == nil && len(found) == int(2*n+2), "after batch %d: %d found, %v", n, len(found), err)
		d, err := mongostore.Load[eventDocument](t.Context(), EventsCollection(db), 2*n+1)
		errortest.None(t, err)
		keys = append(keys, len(d.SearchKeys))
		at = at.Add(2 * time.Second)
	}
	const without, with = 2 * (2 + 12), 2 * (2 + 1) // by month and decade: every, category, the grams or the title
	if keys[0] != without || keys[rounds-1] != with {
		t.Errorf("%v keys, want %d at first and %d at last", keys, without, with)
	}
}

func TestHardToBreak_Row04_SharedTitlesAreAtMostAThousand(t *testing.T) {
	db, s := open(t)
	var events []event.Event
	for i := range 2 * (mostTitles + 50) {
		events = append(events, event.Event{Texts: event.Texts{Body: fmt.Sprint("Lesson ", i/2)}})
	}
	errortest.None(t, s.titles.share(t.Context(), events))
	n, err := titlesCollection(db).CountDocuments(t.Context(), bson.D{})
	errortest.None(t, err)
	valuetest.Same(t, n, mostTitles, "titles")
}

// An event keeps being found while the name leaves its title, and has it no longer afterwards.
func TestErase_ASharedTitleLosesTheName(t *testing.T) {
	db, s := open(t)
	share(t, s, "Piano with Ada Quill")
	e := event.Event{ID: 1, Texts: event.Texts{Body: "Piano with Ada Quill"}, CategoryID: 1,
		Span: span("2026-09-07T09:00:00Z", "2026-09-07T10:00:00Z")}
	insert(t, s, e)
	p := erasure.Person{Names: []string{"Ada Quill"}, Instead: "Erased 7"}
	for _, part := range Erase(db, p) {
		for after, done := "", false; !done; done = after == "" {
			var err error
			after, _, err = part(t.Context(), after)
			errortest.None(t, err)
		}
	}
	title, err := mongostore.First[titleDocument](t.Context(), titlesCollection(db), bson.D{})
	valuetest.Holds(t, err == nil && title.Title == "Piano with Erased 7", "%+v, %v", title, err)
	again := NewEvents(db, mongostore.NewIDs(db), timetest.London(t), func() {})
	found, _, err := again.FindStarting(t.Context(), event.Wanted{Needle: needle.New("piano")},
		e.Span.Starts, e.Span.Ends, 0)
	errortest.None(t, err)
	valuetest.Same(t, len(found), 1, "found")
}
