package store

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// open returns the stores of a new database.
func open(t testing.TB) (*mongo.Database, *Events) {
	t.Helper()
	db := storetest.Mongo(t)
	errortest.None(t, Prepare(t.Context(), db, timetest.London(t)))
	return db, NewEvents(db, mongostore.NewIDs(db), timetest.London(t), func() {})
}

func insert(t testing.TB, s *Events, events ...event.Event) {
	t.Helper()
	taken, err := s.Insert(t.Context(), events)
	if err != nil || len(taken) > 0 {
		t.Fatal(taken, err)
	}
}

func span(starts, ends string) wiretime.Span {
	parse := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			panic(err)
		}
		return at
	}
	return wiretime.Span{Starts: parse(starts), Ends: parse(ends)}
}

// lesson is the event of that id: an hour on one of 400 days, with four elements and a request.
func lesson(id int64) event.Event {
	starts := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, int(id%400))
	e := event.Event{ID: id, Key: fmt.Sprint("k", id), Texts: event.Texts{Body: "Maths"}, CategoryID: 1,
		Span: wiretime.Span{Starts: starts, Ends: starts.Add(time.Hour)}}
	for n := range int64(4) {
		e.Commitments = append(e.Commitments,
			event.Commitment{ID: id*10 + n, ElementID: 1 + (id*7+n*31)%300, Status: event.Uncontrolled})
	}
	e.Requests = []event.Request{{ID: id, ElementID: 500 + id%5, Quantity: 2}}
	return e
}

// Among so many events every filter that requests need has an index, so a search reads no whole collection, and what
// waits is found without reading the history.
func TestNoRequestReadsAWholeCollection(t *testing.T) {
	db, s := open(t)
	events := make([]event.Event, 3000)
	for i := range events {
		events[i] = lesson(int64(i + 1))
		if i%100 == 0 {
			events[i].Commitments[0].Status = event.Requested
		}
	}
	insert(t, s, events...)
	if n, err := db.Collection("events").CountDocuments(t.Context(),
		mongostore.Exists("commitment_states")); err != nil || n != 30 {
		t.Errorf("%d events have states, %v; want those that wait", n, err)
	}
	reaches := func(first, last string) bson.D {
		var all []fact.Reach
		for element := range int64(13) {
			all = append(all, fact.Reach{ElementID: element + 1, Days: []wiretime.Days{timetest.Days(t, first, last)}})
		}
		return touchingFilter(reachKeys(all))
	}
	noScan := func(filters map[string]bson.D, more ...bson.E) {
		for name, filter := range filters {
			t.Run(name, func(t *testing.T) {
				find := bson.D{{Key: "find", Value: "events"}, {Key: "filter", Value: filter}}
				storetest.NoScan(t, db, append(find, more...))
			})
		}
	}
	noScan(map[string]bson.D{
		"by id":           {{Key: "_id", Value: int64(7)}},
		"by ids":          idsFilter([]int64{1, 7, 9}),
		"by keys":         keysFilter([]string{"k1", "k7"}),
		"of a commitment": commitmentFilter(70),
		"of a request":    requestFilter(7),
		"a day":           reaches("2026-09-07", "2026-09-07"),
		"a week":          reaches("2026-09-07", "2026-09-13"),
		"a month":         reaches("2026-09-10", "2026-10-09"),
		"a year":          reaches("2026-09-01", "2027-08-31"),
		"all years":       reaches("1970-01-01", "2199-12-31"),
		"starting in a week": inCategoriesFilter(s.zone, []int64{1, 3}, time.Date(2026, 9, 7, 0, 0, 0, 0, time.UTC),
			time.Date(2026, 9, 14, 0, 0, 0, 0, time.UTC)),
		"requests of days": requestingFilter(keysOf([]int64{501},
			covering(timetest.Days(t, "2026-09-07", "2026-09-09")))),
	})
	noScan(waitingFilters(events[500]), bson.E{Key: "sort", Value: oldestFirst}, bson.E{Key: "limit", Value: 102})
	noScan(searchFilters(t), bson.E{Key: "projection", Value: inBrief}, bson.E{Key: "limit", Value: 160})
}

func TestACategoryIsFoundWithoutReadingThemAll(t *testing.T) {
	db, _ := open(t)
	var documents []any
	for i := range 2000 {
		d := categoryDocument{}
		d.set(category.Category{ID: int64(i + 1), Key: fmt.Sprint("k", i), Name: fmt.Sprint("Category ", i)})
		documents = append(documents, &d)
	}
	errortest.None(t, errortest.Of(categoriesCollection(db).InsertMany(t.Context(), documents)))
	for field, value := range map[string]any{"_id": int64(7), "key": "k7", "name": "Category 7"} {
		filter := bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: bson.A{value}}}}}
		storetest.NoScan(t, db, bson.D{{Key: "find", Value: "event_categories"}, {Key: "filter", Value: filter}})
	}
}

// The listing agrees with a model that checks every event.
func TestListingAgreesWithASlowModelAcrossClockChanges(t *testing.T) {
	_, s := open(t)
	z := timetest.London(t)
	var id int64
	rapid.Check(t, func(rt *rapid.T) {
		base := id
		begin := rapid.SampledFrom([]string{"2026-03-27", "2026-10-23", "2026-12-20"}).Draw(rt, "around")
		origin, _ := wiretime.ParseDay(begin)
		var stored []event.Event
		for range rapid.IntRange(1, 12).Draw(rt, "events") {
			id++
			starts := z.Midnight(origin).Add(time.Duration(rapid.IntRange(-100, 12*24*4).Draw(rt,
				"quarters")) * 15 * time.Minute)
			length := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 200), rapid.IntRange(0, 6000),
				rapid.IntRange(0, 500000)).Draw(rt, "length")
			stored = append(stored, event.Event{ID: id,
				Span: wiretime.Span{Starts: starts, Ends: starts.Add(time.Duration(length) * 15 * time.Minute)},
				Commitments: []event.Commitment{{ID: id,
					ElementID: base + rapid.Int64Range(1, 3).Draw(rt, "element")}}})
		}
		insert(t, s, stored...)
		first := origin + wiretime.Day(rapid.OneOf(rapid.IntRange(-3, 12), rapid.IntRange(-20000, 12)).Draw(rt,
			"first"))
		asked := wiretime.Days{First: first,
			Last: first + wiretime.Day(rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 40),
				rapid.IntRange(0, 60000)).Draw(rt, "days"))}
		element := base + rapid.Int64Range(1, 3).Draw(rt, "asked")

		from, to := z.Bounds(wiretime.Days{First: asked.First, Last: asked.Last})
		var want []int64
		for _, e := range stored {
			if e.Commitments[0].ElementID == element && wiretime.Overlaps(e.Span.Starts, e.Span.Ends, from, to) {
				want = append(want, e.ID)
			}
		}
		service := event.New(event.Options{Store: s, Categories: schoolwide{}, Zone: z})
		found, err := service.CommitmentsIn(t.Context(),
			[]fact.Reach{{ElementID: element, Days: []wiretime.Days{asked}}}, nil, rapid.Bool().Draw(rt, "decisions"))
		errortest.None(rt, err)
		got := sequence.Map(found, func(f event.Placed[event.Commitment]) int64 { return f.Event.ID })
		if !slices.IsSortedFunc(found,
			func(a, b event.Placed[event.Commitment]) int { return a.Event.Span.Starts.Compare(b.Event.Span.Starts) }) {
			rt.Fatalf("not in order of start: %v", got)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("found %v, the model says %v, of %v to %v", got, want, asked.First, asked.Last)
		}
		id += 3
	})
}

func TestEventsComeBackAsStored(t *testing.T) {
	_, s := open(t)
	e := fullEvent()
	e.Span.AllDay = true
	for _, text := range e.Texts.All() {
		*text.Value = "The " + text.Name
	}
	insert(t, s, e)
	read := map[string]func() (event.Event, error){
		"by id":           func() (event.Event, error) { return s.Get(t.Context(), 1) },
		"by a commitment": func() (event.Event, error) { return s.GetByCommitment(t.Context(), 10) },
		"by a request":    func() (event.Event, error) { return s.GetByRequest(t.Context(), 1) },
		"unchanged": func() (event.Event, error) {
			return s.Change(t.Context(), 1, func(*event.Event) error { return record.ErrUnchanged })
		},
		"changed": func() (event.Event, error) {
			return s.Change(t.Context(), 1, func(*event.Event) error { return nil })
		},
	}
	for name, load := range read {
		got, err := load()
		if got.Modified.IsZero() || time.Since(got.Modified) > time.Minute {
			t.Errorf("%s: modified %v", name, got.Modified)
		}
		got.Version, got.Modified = 0, time.Time{} // they rise with a change
		if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", e) {
			t.Errorf("%s: %+v, %v\nwant %+v", name, got, err, e)
		}
	}
	for name, err := range map[string]error{
		"Event":      errortest.Of(s.Get(t.Context(), 2)),
		"Commitment": errortest.Of(s.GetByCommitment(t.Context(), 2)),
		"Request":    errortest.Of(s.GetByRequest(t.Context(), 2)),
	} {
		errortest.Is(t, err, record.ErrNotFound, "a missing %s", name)
	}
}

func TestTakenImportKeysAreToldByIndexAndTheRestIsStored(t *testing.T) {
	_, s := open(t)
	insert(t, s, lesson(1), lesson(2))
	batch := []event.Event{lesson(3), lesson(11), lesson(4), lesson(12), {ID: 13}, {ID: 14}}
	batch[1].Key, batch[3].Key = "k1", "k2"
	taken, err := s.Insert(t.Context(), batch)
	slices.Sort(taken)
	if err != nil || !slices.Equal(taken, []int{1, 3}) {
		t.Fatal(taken, err)
	}
	found, err := s.Find(t.Context(), []int64{3, 4, 11, 12, 13, 14}, []string{"k1"})
	errortest.None(t, err)
	valuetest.Same(t, len(found), 5, "found")
}

func TestADeletedEventIsGoneAndTellsSo(t *testing.T) {
	db, _ := open(t)
	told := 0
	s := NewEvents(db, mongostore.NewIDs(db), timetest.London(t), func() { told++ })
	insert(t, s, lesson(1))
	errortest.None(t, s.Delete(t.Context(), 1, func(*event.Event) error { return nil }))
	var tombstone struct {
		Deleted bool
		Outbox  []outbox.Message
	}
	errortest.None(t, db.Collection("events").FindOne(t.Context(), bson.D{{Key: "_id", Value: 1}}).Decode(&tombstone))
	if told != 1 || !tombstone.Deleted || len(tombstone.Outbox) != 1 || tombstone.Outbox[0].Kind != fact.EventDeleted ||
		tombstone.Outbox[0].Subject != 1 || tombstone.Outbox[0].Detail != "" { // nothing was confirmed: no notice
		t.Errorf("told %d times, tombstone %+v", told, tombstone)
	}
	for name, err := range map[string]error{
		"read":   errortest.Of(s.Get(t.Context(), 1)),
		"change": errortest.Of(s.Change(t.Context(), 1, func(*event.Event) error { return nil })),
		"delete": s.Delete(t.Context(), 1, func(*event.Event) error { return nil }),
	} {
		errortest.Is(t, err, record.ErrNotFound, name)
	}
	all, err := s.Find(t.Context(), []int64{1}, []string{"k1"})
	errortest.None(t, err)
	valuetest.Len(t, all, 0)
	again := lesson(2)
	again.Key = "k1" // the key is free again
	insert(t, s, again)
}

func TestHardToBreak_Row08_EventsThatAreDeletedOrWereNeverStoredDoNotLive(t *testing.T) {
	_, s := open(t)
	insert(t, s, lesson(1), lesson(2), lesson(3))
	errortest.None(t, s.Delete(t.Context(), 2, func(*event.Event) error { return nil }))
	if err := s.Fence(t.Context(), 4); err != nil { // for ever
		t.Fatal(err)
	}
	living, err := s.FindLiving(t.Context(), []int64{1, 2, 3, 4, 5})
	slices.Sort(living)
	errortest.None(t, err)
	valuetest.List(t, living, []int64{1, 3}, "live; want 1 and 3")
}

func TestAnotherZoneMakesNewPeriodsAndKeepsAllDayEventsOnTheirDays(t *testing.T) {
	db, s := open(t)
	late := event.Event{ID: 1, Span: span("2026-09-07T21:30:00Z", "2026-09-07T22:30:00Z"),
		Commitments: []event.Commitment{{ID: 1, ElementID: 5}}}
	allDay := event.Event{ID: 2, Span: span("2026-09-07T23:00:00Z", "2026-09-08T23:00:00Z"),
		Commitments: []event.Commitment{{ID: 2, ElementID: 5}}}
	allDay.Span.AllDay = true
	insert(t, s, late, allDay)
	tokyo := timetest.Zone(t, "Asia/Tokyo")
	var wg sync.WaitGroup
	for range 3 { // three pods
		wg.Go(func() {
			errortest.Report(t, Prepare(t.Context(), db, tokyo))
		})
	}
	wg.Wait()
	service := event.New(event.Options{
		Store: NewEvents(db, mongostore.NewIDs(db), tokyo, func() {}), Categories: schoolwide{}, Zone: tokyo,
	})
	found, err := service.CommitmentsIn(t.Context(),
		[]fact.Reach{{ElementID: 5, Days: []wiretime.Days{timetest.Days(t, "2026-09-08", "2026-09-08")}}}, nil, false)
	valuetest.MustHold(t, err == nil && len(found) == 2, "on 8 September in Tokyo: %+v, %v", found, err)
	if got := found[0].Event.Span; found[0].Event.ID != 2 ||
		tokyo.Format(got.Starts) != "2026-09-08T00:00:00.000+09:00" ||
		tokyo.Format(got.Ends) != "2026-09-09T00:00:00.000+09:00" {
		t.Errorf("the all-day event is at %+v", got)
	}
	if got := found[1].Event.Span; !got.Equal(late.Span) {
		t.Errorf("the timed event moved to %+v", got)
	}
}

// waitingFilters are those of what waits, also after an event.
func waitingFilters(after event.Event) map[string]bson.D {
	place := event.Place{Starts: after.Span.Starts, EventID: after.ID}
	since := place
	since.Since = place.Starts
	return map[string]bson.D{
		"states":              waitingFilter("commitment_states", []int64{11, 12, 21, 22}, event.Place{}),
		"states from a place": waitingFilter("commitment_states", []int64{11, 12, 21, 22}, place),
		"groups":              waitingFilter("outstanding_groups", []int64{501, 502}, event.Place{}),
		"states since":        waitingFilter("commitment_states", []int64{11, 12, 21, 22}, since),
		"groups from a place": waitingFilter("outstanding_groups", []int64{501, 502}, place),
	}
}
