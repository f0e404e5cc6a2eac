package store

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Reads were bounded by what is stored alone. In memory a commitment in brief is 30 times as large: two reads of a
// megabyte or so each could end a process.
func TestHardToBreak_Row02_AReadIsBoundedByWhatItTakesInMemory(t *testing.T) {
	db, s := open(t)
	const element, most = 7, 1500 // commitments of an event
	e := event.Event{CategoryID: 1, SeriesID: 1, Span: span("2026-09-07T09:00:00Z", "2026-09-07T10:00:00Z")}
	for n := range int64(most) {
		e.Commitments = append(e.Commitments,
			event.Commitment{ID: 1 + n, ElementID: element + n, Status: event.Uncontrolled})
	}
	days := timetest.Days(t, "2026-09-07", "2026-09-07")
	reaches := []fact.Reach{{ElementID: element, Days: []wiretime.Days{days}}}
	var d eventDocument
	d.set(e, timetest.London(t), s.titles)
	brief := d
	brief.Event.Commitments, brief.CommitmentStates = nil, nil
	brief.CommitmentPeriods = reachKeys(reaches)
	const events = mostRead / (commitmentSize * most)
	documents := make([]eventDocument, events)
	for i := range documents {
		documents[i] = brief
		documents[i].ID = int64(i + 1)
	}
	_, err := EventsCollection(db).InsertMany(t.Context(), documents[:events*3/4])
	errortest.None(t, err)
	from := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	reads := map[string]func() (int, bool, error){
		"those of some days": func() (int, bool, error) {
			found, err := s.FindTouching(t.Context(), reaches, false)
			return len(found), false, err
		},
		"a calendar": func() (int, bool, error) {
			found, _, err := s.FindStarting(t.Context(), event.Wanted{CategoryID: 1}, from, from.AddDate(0, 1, 0), 0)
			return len(found), false, err
		},
		"a page of a search": func() (int, bool, error) {
			wanted := event.Wanted{CategoryID: 1}
			found, more, err := s.FindStarting(t.Context(), wanted, from, from.AddDate(0, 1, 0), 2*events)
			return len(found), more, err
		},
	}
	for name, read := range reads {
		if found, more, err := read(); err != nil || found != events*3/4 || more {
			t.Errorf("%s: %d events, %v, %v", name, found, more, err)
		}
	}
	errortest.None(t, errortest.Of(EventsCollection(db).InsertMany(t.Context(), documents[events*3/4:])))
	for name, read := range reads {
		found, more, err := read()
		refused := problem.Is(err, problem.Malformed)
		if paged := err == nil && more && found < events; !refused && !paged {
			t.Errorf("of too many, %s: %d events, %v, %v", name, found, more, err)
		}
	}
	whole := make(bson.A, most) // without ids, which are unique
	for i, c := range e.Commitments {
		whole[i] = bson.D{{Key: "element_id", Value: c.ElementID}, {Key: "status", Value: c.Status}}
	}
	_, err = EventsCollection(db).UpdateMany(
		t.Context(), bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "commitments", Value: whole}}}})
	errortest.None(t, err)
	ids := make([]int64, events)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	if _, err := s.Find(t.Context(), ids, nil); !problem.Is(err, problem.Malformed) {
		t.Errorf("by their ids: %v", err)
	}
	if found, err := s.Find(t.Context(), ids[:events/4], nil); err != nil || len(found) != events/4 {
		t.Errorf("fewer by their ids: %d, %v", len(found), err)
	}
	if _, err := NewSeries(db, nil, s).FindEvents(t.Context(), 1); !problem.Is(err, problem.Malformed) {
		t.Errorf("a series: %v", err)
	}
}

// Any number of large reads could be under way at once.
func TestHardToBreak_Row02_FewWideReadsAreUnderWayAtOnce(t *testing.T) {
	_, s := open(t)
	insert(t, s, lesson(1))
	errortest.None(t, s.wide.Acquire(t.Context(), wideAtOnce))
	ids := slices.Repeat([]int64{1}, manyIDs)
	if found, err := s.Find(t.Context(), ids, nil); err != nil || len(found) != 1 {
		t.Errorf("a narrow read: %d, %v", len(found), err)
	}
	read := make(chan error, 1)
	go func() {
		found, err := s.Find(t.Context(), append(ids, 2), nil)
		valuetest.Same(t, len(found), 1, "a wide read: events")
		read <- err
	}()
	select {
	case err := <-read:
		t.Errorf("a wide read does not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	s.wide.Release(wideAtOnce)
	errortest.None(t, <-read)
}

// The audit's entries for deletions, of which one may have 6,000 changes, were read without a bound.
func TestHardToBreak_Row02_DeletedEventsAreReadByAPart(t *testing.T) {
	_, s := open(t)
	const most = 1500                                 // commitments of an event
	const events = 1 + mostRead/(commitmentSize*most) // more than may be read at once
	entries, ids := make([]audit.Entry, events), make([]int64, events)
	changes := make([]audit.Change, most)
	for i := range changes {
		changes[i] = audit.Change{Field: commitmentField(int64(i+1), "element_id"), From: new("7")}
	}
	for i := range entries {
		ids[i] = int64(i + 1)
		entries[i] = audit.Make(t.Context(), audit.Delete, audit.RecordOf(event.Record, ids[i]), changes)
	}
	errortest.None(t, s.audit.Record(t.Context(), entries...))
	records := sequence.Map(ids, func(id int64) audit.Record { return audit.RecordOf(event.Record, id) })
	part, more, err := s.audit.FindActions(t.Context(), audit.Delete, records)
	if err != nil || !more || len(part) == 0 || len(part) == events {
		t.Errorf("a part: %d of %d entries, %v, %v", len(part), events, more, err)
	}
	found, err := s.FindDeleted(t.Context(), ids[1:])
	if err != nil || len(found) != events-1 || len(found[events-2].Commitments) != most {
		t.Errorf("as many as may be: %d, %v", len(found), err)
	}
	if found, err := s.FindDeleted(t.Context(), ids); !problem.Is(err, problem.Malformed) {
		t.Errorf("too many: %d, %v", len(found), err)
	}
}
