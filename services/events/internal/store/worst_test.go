package store

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// reading is how many documents and bytes a day of a pupil in 12 groups takes.
type reading struct{ documents, bytes int }

func readDay(t *testing.T, db *mongo.Database, s *Events) reading {
	t.Helper()
	var reaches []fact.Reach
	for element := range int64(13) {
		day := []wiretime.Days{timetest.Days(t, "2026-09-07", "2026-09-07")}
		reaches = append(reaches, fact.Reach{ElementID: element + 1, Days: day})
	}
	filter := touchingFilter(reachKeys(reaches))
	cursor, err := EventsCollection(db).Find(t.Context(), filter, options.Find().SetProjection(inBrief))
	errortest.None(t, err)
	var documents []bson.Raw
	errortest.None(t, cursor.All(t.Context(), &documents))
	r := reading{documents: len(documents)}
	for _, d := range documents {
		r.bytes += len(d)
	}
	storetest.NoScan(t, db, bson.D{{Key: "find", Value: "events"}, {Key: "filter", Value: filter},
		{Key: "projection", Value: inBrief}})
	storetest.NoScan(t, db, bson.D{{Key: "find", Value: "events"}, {Key: "filter", Value: filter},
		{Key: "projection", Value: unused}})
	found, err := s.FindTouching(t.Context(), reaches, false)
	errortest.None(t, err)
	valuetest.MustSame(t, len(found), r.documents, "events")
	return r
}

// A day reads the events that it returns, without their many commitments: what it takes does not depend on events that
// the pupil is not in, or on other days, and of the worst ones that it is in it reads little.
func TestHardToBreak_Row04_ADayReadsLittleOfTheWorstEvents(t *testing.T) {
	db, s := open(t)
	events := make([]event.Event, 2000)
	for i := range events {
		events[i] = lesson(int64(i + 1))
	}
	insert(t, s, events...)
	const pupil, most, body = 1, 1500, 4096
	const each = 15 // events of a kind; a hundred take a minute and a half, and say the same
	id := int64(10000)
	add := func(elements int, first int64, at wiretime.Span) {
		t.Helper()
		for range each {
			id++
			e := event.Event{ID: id, Texts: event.Texts{Body: strings.Repeat("x", body)}, CategoryID: 1, Span: at}
			for i := range int64(elements) {
				c := event.Commitment{ID: id*2000 + i, ElementID: 1000 + i, Status: event.Uncontrolled, AddedBy: 7}
				if i == 0 {
					c.ElementID = first
				}
				e.Commitments = append(e.Commitments, c)
			}
			insert(t, s, e)
		}
	}
	allTime := span("1970-01-02T00:00:00Z", "2199-12-30T00:00:00Z")
	before := readDay(t, db, s)
	add(most, 999, allTime)
	without := readDay(t, db, s)
	add(97, pupil, span("2026-09-08T00:00:00Z", "2026-10-19T00:00:00Z"))
	otherDays := readDay(t, db, s)
	add(most, pupil, allTime)
	with := readDay(t, db, s)
	t.Logf("a day before: %+v; with %d events of others: %+v; of other days: %+v; of the pupil: %+v",
		before, each, without, otherDays, with)
	for name, r := range map[string]reading{"of others": without, "of other days": otherDays} {
		if r.documents != before.documents || r.bytes != before.bytes {
			t.Errorf("with %d events %s: %+v, want %+v", each, name, r, before)
		}
	}
	const brief = 10 * most // bytes
	if more := with.bytes - before.bytes; with.documents != before.documents+each || more > each*(body+brief) {
		t.Errorf("%d events of the pupil: %d documents and %d bytes more", each, with.documents-before.documents, more)
	}
}
