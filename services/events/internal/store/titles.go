package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	// mostTitles is how many titles are shared; each replica may exceed it by a batch.
	mostTitles = 1000
	// readAgain is the age at which a search reads the titles again.
	readAgain = 3 * time.Second
	// settled is how long a replica has known a title before it shares it: by then every replica has read it.
	settled = 2 * readAgain
)

// titles are those of imported events that several of them have, such as lessons, by their facets. An event with one of
// them carries its facet instead of those of the text, and a search for a text asks for the facets of the titles that
// have it. So a title is stored, and known to every search, before events share it, and is never removed: an erasure
// replaces its text. It is safe for concurrent use, by any number of replicas.
type titles struct {
	collection *mongo.Collection
	now        func() time.Time

	mu    sync.Mutex
	known map[int64]sharedTitle
	read  time.Time // when the reading of them began
}

type sharedTitle struct {
	folded string
	since  time.Time // when this replica had read it
}

// titleDocument has the title's facet as its id.
type titleDocument struct {
	mongostore.Head `bson:",inline"`

	Title string `bson:"title"`
}

func titlesCollection(db *mongo.Database) *mongo.Collection { return db.Collection("event_titles") }

func newTitles(db *mongo.Database) *titles {
	// A title that a new primary may roll back must not be shared.
	majority := options.Collection().SetReadConcern(readconcern.Majority())
	return &titles{collection: titlesCollection(db).Clone(majority), now: time.Now}
}

func titleFacet(folded string) int64 { return facet("title", folded) }

// shared returns the facet of an event's title, if it is one that the event may share.
func (t *titles) shared(body string) (int64, bool) {
	folded := needle.Fold(body)
	id := titleFacet(folded)
	t.mu.Lock()
	defer t.mu.Unlock()
	title := t.known[id]
	now := t.now()
	return id, title.folded == folded && now.Sub(title.since) >= settled && now.Sub(t.read) < readAgain
}

// with returns the facets of the titles that have a text.
func (t *titles) with(ctx context.Context, text needle.Needle) (wantedFacet, error) {
	if err := t.refresh(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var found wantedFacet
	for id, title := range t.known {
		if text.InFolded(title.folded) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	return found, nil
}

// share stores titles that several of the events have, so that later ones share them.
func (t *titles) share(ctx context.Context, events []event.Event) error {
	if err := t.refresh(ctx); err != nil {
		return err
	}
	times := map[int64]int{}
	var fresh []titleDocument
	t.mu.Lock()
	for i := range events {
		body := events[i].Body
		id := titleFacet(needle.Fold(body))
		times[id]++
		_, known := t.known[id]
		if times[id] == 2 && !known && len(t.known)+len(fresh) < mostTitles && !long(body) {
			head := mongostore.Head{ID: id, Version: 1, Schema: schema}
			fresh = append(fresh, titleDocument{Head: head, Title: body})
		}
	}
	t.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	slices.SortFunc(fresh, func(a, b titleDocument) int { return cmp.Compare(a.ID, b.ID) })
	if _, err := mongostore.InsertAll(ctx, t.collection, fresh); err != nil { // those that are there are refused
		return fmt.Errorf("share titles: %w", err)
	}
	return nil
}

// refresh reads the titles if they were read too long ago.
func (t *titles) refresh(ctx context.Context) error {
	t.mu.Lock()
	began := t.now()
	recent := began.Sub(t.read) < readAgain
	t.mu.Unlock()
	if recent {
		return nil
	}
	found, err := mongostore.Find[titleDocument](ctx, t.collection, bson.D{})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !began.After(t.read) { // another has read later
		return nil
	}
	known, now := make(map[int64]sharedTitle, len(found)), t.now()
	for _, d := range found {
		title := sharedTitle{needle.Fold(d.Title), now}
		if before, is := t.known[d.ID]; is {
			title.since = before.since
		}
		known[d.ID] = title
	}
	t.known, t.read = known, began
	return nil
}
