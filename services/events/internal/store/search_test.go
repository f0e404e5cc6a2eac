package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// counting counts what a search reads.
type counting struct {
	*Events
	reads, documents int
}

func (c *counting) FindStarting(
	ctx context.Context, wanted event.Wanted, from, to time.Time, limit int,
) ([]event.Event, bool, error) {
	found, more, err := c.Events.FindStarting(ctx, wanted, from, to, limit)
	c.reads, c.documents = c.reads+1, c.documents+len(found)
	return found, more, err
}

func (c *counting) FindGoingOn(ctx context.Context, wanted event.Wanted, day wiretime.Day) ([]event.Event, error) {
	found, err := c.Events.FindGoingOn(ctx, wanted, day)
	c.reads, c.documents = c.reads+1, c.documents+len(found)
	return found, err
}

// staff sees everything, pupil what members says.
var (
	staff = principal.Principal{UserID: 9, Kind: principal.Staff}
	pupil = principal.Principal{UserID: 2, Kind: principal.Pupil, ElementID: 3}
)

// schoolwide are the categories of a school of which the third is school-wide.
type schoolwide struct{ event.Categories }

func (s schoolwide) All(ctx context.Context) ([]category.Category, error) {
	return s.Find(ctx, []int64{1, 2, 3, 4}, nil)
}

func (schoolwide) Find(_ context.Context, ids []int64, _ []string) ([]category.Category, error) {
	return sequence.Map(ids, func(id int64) category.Category {
		return category.Category{ID: id, Flags: category.Flags{Schoolwide: id == 3}}
	}), nil
}

// members answers with one reach list for every element.
type members struct {
	event.Elements
	reaches []fact.Reach
	sees    fact.Surroundings // of the pupil
}

func (m members) Reaches(_ context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error) {
	var held []fact.Reach
	for _, r := range m.reaches {
		if days := wiretime.IntersectDays(r.Days, []wiretime.Days{q.Days}); len(days) > 0 {
			held = append(held, fact.Reach{ElementID: r.ElementID, Days: days})
		}
	}
	return []fact.ElementReaches{{ElementID: q.IDs[0], Reaches: held}}, nil
}

func (m members) Surroundings(context.Context, fact.SurroundingsQuestion) (fact.Surroundings, error) {
	return m.sees, nil
}

func (members) Facts(context.Context, fact.ElementsQuestion) ([]fact.Element, error) { return nil, nil }

func (members) Belonging(context.Context, fact.BelongingQuestion) ([]int64, error) { return nil, nil }

func (members) Control(context.Context, fact.ControlQuestion) ([]fact.Control, error) {
	return nil, nil
}

// seen says what the pupil sees of an event, by looking at all of it.
func (m members) seen(zone wiretime.Zone, e event.Event) bool {
	seen := e.OwnerID == pupil.UserID || e.CategoryID == 3
	for _, c := range e.Commitments {
		for _, r := range m.sees.Reaches {
			seen = seen || r.ElementID == c.ElementID && slices.ContainsFunc(r.Days, e.Days(zone).Overlaps)
		}
		firm := c.Status == event.Uncontrolled || c.Status == event.Confirmed
		seen = seen || firm && slices.Contains(m.sees.Public, c.ElementID)
	}
	return seen
}

// pages returns all that a search finds, page by page.
func pages(t rapid.TB, s *event.Service, p principal.Principal, q event.Search, limit int) []int64 {
	var ids []int64
	after := event.FoundPlace{}
	for range 1000 {
		page, next, err := s.Search(context.Background(), p, q, after, limit)
		valuetest.MustHold(t, err == nil, "%+v: %v", q, err)
		valuetest.MustHold(t, len(page) <= limit, "a page of %d, limit %d", len(page), limit)
		for _, e := range page {
			ids = append(ids, e.ID)
		}
		if next.IsZero() {
			return ids
		}
		after = next
	}
	t.Fatalf("%+v has no last page", q)
	return nil
}

// share makes titles that all later events of the store share, whose clock stands from now on.
func share(t *testing.T, s *Events, bodies ...string) {
	t.Helper()
	at := time.Now()
	s.titles.now = func() time.Time { return at }
	events := make([]event.Event, 0, 2*len(bodies))
	for _, body := range slices.Concat(bodies, bodies) {
		events = append(events, event.Event{Texts: event.Texts{Body: body}})
	}
	errortest.None(t, s.titles.share(t.Context(), events))
	for range 1 + settled/readAgain {
		at = at.Add(readAgain)
		errortest.None(t, s.titles.refresh(t.Context()))
	}
	for _, body := range bodies {
		if _, is := s.titles.shared(strings.ToUpper(body)); !is {
			t.Fatalf("%s is not shared", body)
		}
	}
}

// Whatever the search, all pages together are what a model finds that checks every event, in order.
func TestClients_SearchAgreesWithASlowModel(t *testing.T) {
	_, s := open(t)
	zone := timetest.London(t)
	bodies := []string{"Maths 9A", "MATHS 10B", "Théâtre trip", "theatre", "Straße", "9", "", "Governors' meeting"}
	for i := range 3 {
		bodies = append(bodies, strings.Repeat("the quick brown fox jumps over a lazy dog 0123456789 ", i+1)+"é"+
			fmt.Sprint(i))
	}
	shared := []string{"Maths 9A", "Théâtre trip"}
	for i := range 30 { // so many that the search asks for them by decades, where it is about years
		shared = append(shared, fmt.Sprint("Maths, set ", i))
	}
	share(t, s, shared...)
	bodies = append(bodies, shared[2:5]...)
	var stored []event.Event
	rapid.Check(t, func(rt *rapid.T) {
		origin := time.Date(2026, rapid.SampledFrom([]time.Month{3, 10, 12}).Draw(rt, "month"), 25, 0, 0, 0, 0,
			time.UTC)
		moment := func(name string) time.Time {
			days := rapid.OneOf(rapid.IntRange(-3, 12), rapid.IntRange(-4000, 4000)).Draw(rt, name)
			return origin.AddDate(0, 0, days).Add(time.Duration(rapid.IntRange(0, 95).Draw(rt,
				"quarter")) * 15 * time.Minute)
		}
		var added []event.Event
		for range rapid.IntRange(0, 12).Draw(rt, "events") {
			id := int64(len(stored) + len(added) + 1)
			e := event.Event{
				ID: id, Texts: event.Texts{Body: rapid.SampledFrom(bodies).Draw(rt, "body")},
				CategoryID: rapid.Int64Range(1, 3).Draw(rt, "category"),
				OwnerID:    rapid.Int64Range(0, 3).Draw(rt, "owner"),
			}
			e.Span.Starts = moment("starts")
			length := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 200), rapid.IntRange(0, 6000),
				rapid.IntRange(0, 500000)).Draw(rt, "length")
			e.Span.Ends = e.Span.Starts.Add(time.Duration(length) * 15 * time.Minute)
			for n := range rapid.Int64Range(0, 2).Draw(rt, "commitments") {
				e.Commitments = append(e.Commitments, event.Commitment{ID: id*10 + n,
					ElementID: 1 + n*2 + rapid.Int64Range(0, 1).Draw(rt, "element"),
					Status:    rapid.SampledFrom(event.Statuses()).Draw(rt, "status")})
			}
			added = append(added, e)
		}
		insert(t, s, added...)
		stored = append(stored, added...)

		first := zone.DayOf(moment("first"))
		texts := []string{"", "math", "theat", "ÂTRE", "strass", "dog", "trip to"}
		q := event.Search{
			Text:       rapid.SampledFrom(texts).Draw(rt, "text"),
			CategoryID: rapid.Int64Range(0, 4).Draw(rt, "wanted category"),
			OwnerID:    rapid.Int64Range(0, 4).Draw(rt, "wanted owner"),
			ElementID:  rapid.Int64Range(0, 1).Draw(rt, "wanted element"),
			Status:     rapid.SampledFrom(append(event.Statuses(), "", "")).Draw(rt, "wanted status"),
			Days: rapid.SampledFrom([]wiretime.Days{event.AnyDays, {First: first, Last: first},
				{First: first, Last: first + 40}, {First: first, Last: wiretime.LastDay},
				{First: wiretime.FirstDay, Last: first}, {First: 0, Last: 84005}}).Draw(rt, "days"),
		}
		var m members
		for element := range rapid.Int64Range(0, 4).Draw(rt, "reaches") {
			begins := zone.DayOf(moment("joins"))
			last := begins + wiretime.Day(rapid.IntRange(0, 400).Draw(rt, "stays"))
			m.reaches = append(m.reaches, fact.Reach{ElementID: element + 1,
				Days: []wiretime.Days{{First: begins, Last: last}, {First: last + 20, Last: last + 50}}})
		}
		if q.Text == "" && q.ElementID == 0 && q.Days == event.AnyDays {
			return
		}
		limit := rapid.SampledFrom([]int{1, 3, 10, 200}).Draw(rt, "limit")
		if limit == 1 && len(stored) > 200 {
			limit = 50
		}
		want := model(zone, stored, q, m.reaches)
		o := event.Options{
			Store: s, Elements: m, Categories: schoolwide{}, Zone: zone, Sights: principal.Sights{Pupils: "own"},
		}
		if got := pages(rt, event.New(o), staff, q, limit); !slices.Equal(got, want) {
			rt.Fatalf("%+v of %+v\ngot  %v\nwant %v", q, m.reaches, got, want)
		}
		begins := zone.DayOf(moment("sees"))
		group := rapid.Int64Range(1, 6).Draw(rt, "group")
		public := []int64{rapid.Int64Range(1, 6).Draw(rt, "public")}
		m.sees = fact.Surroundings{Public: public, Reaches: []fact.Reach{
			{ElementID: group, Days: []wiretime.Days{{First: begins, Last: begins + 90}}},
		}}
		o.Elements, q.ElementID, q.OwnerID, q.Status = m, 0, 0, ""
		if q.Text == "" && q.Days == event.AnyDays {
			q.Days.First = 0
		}
		hidden := func(e event.Event) bool { return !m.seen(zone, e) }
		want = model(zone, slices.DeleteFunc(slices.Clone(stored), hidden), q, nil)
		if got := pages(rt, event.New(o), pupil, q, limit); !slices.Equal(got, want) {
			rt.Fatalf("a pupil who sees %+v: %+v\ngot  %v\nwant %v", m.sees, q, got, want)
		}
	})
}

// model checks every event.
func model(zone wiretime.Zone, stored []event.Event, q event.Search, reaches []fact.Reach) []int64 {
	var found []event.Event
	for _, e := range stored {
		days := e.Days(zone)
		reached, status := q.ElementID == 0, q.Status == ""
		for _, c := range e.Commitments {
			status = status || c.Status == q.Status
			for _, r := range reaches {
				both := wiretime.IntersectDays(r.Days, []wiretime.Days{q.Days})
				reached = reached || (r.ElementID == c.ElementID && slices.ContainsFunc(both, days.Overlaps))
			}
		}
		if reached && status && days.Overlaps(q.Days) && (q.CategoryID == 0 || q.CategoryID == e.CategoryID) &&
			(q.OwnerID == 0 || q.OwnerID == e.OwnerID) &&
			strings.Contains(needle.Fold(e.Body), needle.Fold(q.Text)) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b event.Event) int {
		return cmp.Or(a.Span.Starts.Compare(b.Span.Starts), a.Span.Ends.Compare(b.Span.Ends), cmp.Compare(a.ID, b.ID))
	})
	return sequence.Map(found, func(e event.Event) int64 { return e.ID })
}

// A pupil finds an event that began on its last days in a group, or before, and continues on the day of the search.
func TestClients_SearchFindsWhatWasReachedOnADayBefore(t *testing.T) {
	_, s := open(t)
	zone := timetest.London(t)
	festival, camp := lesson(1), lesson(2)
	for i, e := range []*event.Event{&festival, &camp} {
		e.Span.Starts = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
		e.Span.Ends = e.Span.Starts.AddDate(0, 0, 7)
		e.OwnerID, e.CategoryID = 5, 1
		e.Commitments = []event.Commitment{{ID: int64(i) + 10, ElementID: int64(i) + 1, Status: event.Uncontrolled}}
	}
	insert(t, s, festival, camp)
	m := members{sees: fact.Surroundings{Reaches: []fact.Reach{
		{ElementID: 1, Days: []wiretime.Days{timetest.Days(t, "2025-09-01", "2026-03-24")}},
		{ElementID: 2, Days: []wiretime.Days{timetest.Days(t, "2025-09-01", "2026-03-19")}},
	}}}
	service := event.New(event.Options{
		Store: s, Elements: m, Categories: schoolwide{}, Zone: zone, Sights: principal.Sights{Pupils: "own"},
	})
	q := event.Search{Days: timetest.Days(t, "2026-03-26", "2026-03-26")}
	valuetest.List(t, pages(t, service, pupil, q, 10), []int64{1}, "found, want the festival alone")
}

// searchFilters are those of searches.
func searchFilters(t *testing.T) map[string]bson.D {
	t.Helper()
	var reaches []fact.Reach
	for element := range int64(13) {
		reaches = append(reaches, fact.Reach{ElementID: element + 1, Days: []wiretime.Days{
			timetest.Days(t, "2026-01-01", "2026-07-31"), timetest.Days(t, "2026-11-01", "2027-07-31")}})
	}
	zone := timetest.London(t)
	begin, end := zone.Bounds(wiretime.Days{First: wiretime.FirstEventDay, Last: wiretime.LastEventDay})
	from := time.Date(2026, 9, 7, 10, 0, 0, 0, time.UTC)
	text := event.Wanted{Needle: needle.New("maths in the hall")}
	all := event.Wanted{Needle: needle.New("maths"), CategoryID: 1, OwnerID: 2, Status: event.Noted, Reaches: reaches}
	seen := &event.Seen{Reaches: reaches, Public: []int64{30, 31}, OwnerID: 7, Categories: []event.SeenCategory{
		{ID: 4, Days: []wiretime.Days{event.AnyDays}}, {ID: 5, Days: reaches[0].Days}}}
	textSeen := event.Wanted{Needle: needle.New("maths in the hall"), Seen: seen}
	allSeen := all
	allSeen.Seen, allSeen.Told = seen, &event.Told{Except: []int64{6}, OwnerID: 7, Persons: []int64{8, 9}}
	element, titles := event.Wanted{Reaches: reaches}, make(wantedFacet, 60)
	for i := range titles {
		titles[i] = titleFacet(fmt.Sprint("maths in the hall ", i))
	}
	return map[string]bson.D{
		"titles of a month":        startingFilter(zone, text, titles, from, from.AddDate(0, 1, 0)),
		"titles of years":          startingFilter(zone, text, titles, from, from.AddDate(9, 0, 0)),
		"titles of what is seen":   startingFilter(zone, textSeen, titles, begin, end),
		"an hour of all":           startingFilter(zone, event.Wanted{}, nil, from, from.Add(time.Hour)),
		"a month of all":           startingFilter(zone, event.Wanted{}, nil, from, from.AddDate(0, 1, 0)),
		"text of all years":        startingFilter(zone, text, nil, begin, end),
		"text of years":            startingFilter(zone, text, nil, from, from.AddDate(12, 0, 0)),
		"an element of all years":  startingFilter(zone, element, nil, begin, end),
		"an element of a week":     startingFilter(zone, element, nil, from, from.AddDate(0, 0, 7)),
		"all that can be asked":    startingFilter(zone, all, nil, from, from.AddDate(0, 1, 0)),
		"what is seen of a week":   startingFilter(zone, event.Wanted{Seen: seen}, nil, from, from.AddDate(0, 0, 7)),
		"what is seen at all":      startingFilter(zone, event.Wanted{Seen: seen}, nil, begin, end),
		"a text of what is seen":   startingFilter(zone, textSeen, nil, begin, end),
		"all that is seen":         startingFilter(zone, allSeen, nil, from, from.AddDate(0, 1, 0)),
		"what is seen and goes on": goingOnFilter(zone, event.Wanted{Seen: seen}, zone.DayOf(from)),
		"a category":               startingFilter(zone, event.Wanted{CategoryID: 1}, nil, from, from.AddDate(1, 0, 0)),
		"going on":                 goingOnFilter(zone, event.Wanted{}, zone.DayOf(from)),
		"going on with all":        goingOnFilter(zone, all, zone.DayOf(from)),
	}
}

// A query with a limit has a condition for an index outside of any $or. DocumentDB takes a $or for half of all events,
// whatever it asks for, so in a collection of 290,000 it read them in the order of their ids until it had found enough.
// In one of thousands, as here, its plan would not show that.
func TestClients_SearchHasAConditionForAnIndexOutsideOfAlternatives(t *testing.T) {
	zone := timetest.London(t)
	from := time.Date(2026, 9, 7, 10, 0, 0, 0, time.UTC)
	reaches := []fact.Reach{
		{ElementID: 1, Days: []wiretime.Days{timetest.Days(t, "2026-09-01", "2026-09-30"),
			timetest.Days(t, "2027-01-01", "2027-02-28")}},
		{ElementID: 2, Days: []wiretime.Days{timetest.Days(t, "2027-01-01", "2027-12-31")}},
	}
	titles := make(wantedFacet, 300)
	for i := range titles {
		titles[i] = titleFacet(fmt.Sprint("maths in the hall ", i))
	}
	text := needle.New("maths in the hall")
	seen := &event.Seen{Reaches: reaches, OwnerID: 7}
	for name, wanted := range map[string]event.Wanted{
		"all": {}, "a text": {Needle: text}, "a category": {CategoryID: 1},
		"an owner's text":       {Needle: text, OwnerID: 7},
		"groups and later ones": {Reaches: reaches}, "a status of a group": {Reaches: reaches, Status: event.Noted},
		"a text of what is seen": {Needle: text, Seen: seen}, "a group of what is seen": {Reaches: reaches, Seen: seen},
	} {
		for _, to := range []time.Time{from.Add(time.Hour), from.AddDate(0, 1, 0), from.AddDate(0, 3, 7),
			from.AddDate(20, 2, 9)} {
			for _, titles := range []wantedFacet{nil, titles[:1], titles} {
				if filter := startingFilter(zone, wanted, titles, from, to); !indexed(filter) {
					t.Errorf("%s until %s, %d titles: %v", name, to, len(titles), filter)
				}
			}
		}
	}
}

// indexed says whether all that a filter matches has one of some numbers by which an index finds it.
func indexed(filter bson.D) bool {
	for _, e := range filter {
		switch e.Key {
		case "search_keys", "commitment_periods":
			return true
		case "$and":
			for _, part := range e.Value.(bson.A) {
				if indexed(part.(bson.D)) {
					return true
				}
			}
		}
	}
	return false
}

// Ten years of history are read no more than one: what a page takes follows from the page.
func TestClients_SearchReadsAboutAsMuchAsItReturns(t *testing.T) {
	_, s := open(t)
	zone := timetest.London(t)
	const perYear, limit = 1200, 20
	var id int64
	grow := func(year int) {
		events := make([]event.Event, perYear)
		for i := range events {
			id++
			starts := time.Date(year, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, i*365/perYear).
				Add(time.Duration(i%4) * time.Hour)
			body := fmt.Sprintf("%d/Maths %d", i%13, i%9)
			if i%200 == 7 {
				body = "Théâtre, le jour de l'an"
			}
			events[i] = event.Event{ID: id, Texts: event.Texts{Body: body}, CategoryID: id % 5, OwnerID: 1 + id%50,
				Span: wiretime.Span{Starts: starts, Ends: starts.Add(time.Hour)},
				Commitments: []event.Commitment{
					{ID: id, ElementID: 1 + id%30, Status: event.Statuses()[id%5]},
				}}
		}
		insert(t, s, events...)
	}
	asked := map[string]event.Search{
		"a common text": {Text: "maths", Days: event.AnyDays},
		"a rare text":   {Text: "theatre", Days: event.AnyDays},
		"no text":       {Text: "xylophone", Days: event.AnyDays},
		"a common text from a day": {Text: "maths",
			Days: wiretime.Days{First: day(t, "2025-03-01"), Last: wiretime.LastDay}},
		"a day":                        {Days: timetest.Days(t, "2025-03-01", "2025-03-01")},
		"a year":                       {Days: timetest.Days(t, "2025-01-01", "2025-12-31")},
		"an owner":                     {OwnerID: 7, Days: timetest.Days(t, "1970-01-01", "2199-12-31")},
		"a category of years":          {CategoryID: 3, Days: timetest.Days(t, "1970-01-01", "2199-12-31")},
		"an element":                   {ElementID: 5, Days: event.AnyDays},
		"an element's text and status": {ElementID: 5, Text: "maths", Status: event.Noted, Days: event.AnyDays},
	}
	m := members{reaches: []fact.Reach{
		{ElementID: 5, Days: []wiretime.Days{{First: wiretime.FirstEventDay, Last: wiretime.LastEventDay}}},
		{ElementID: 6, Days: []wiretime.Days{timetest.Days(t, "2025-02-01", "2025-02-28")}},
	}}
	read := func(years int) {
		for name, q := range asked {
			c := &counting{Events: s}
			service := event.New(event.Options{Store: c, Elements: m, Categories: schoolwide{}, Zone: zone})
			after := event.FoundPlace{}
			for n := range 6 {
				*c = counting{Events: s}
				page, next, err := service.Search(t.Context(), staff, q, after, limit)
				errortest.None(t, err)
				t.Logf("%d years, %s, page %d: %d returned, %d read in %d reads", years, name, n+1, len(page),
					c.documents, c.reads)
				// The first page of all years has to find out where it begins.
				if most := 10*limit - 8*limit*min(n, 1); c.documents > most+len(page)/2 || c.reads > 12 {
					t.Errorf("%d years, %s, page %d: %d read in %d reads, want at most %d", years, name, n+1,
						c.documents, c.reads, most+len(page)/2)
				}
				if after = next; next.IsZero() {
					break
				}
			}
		}
	}
	grow(2025)
	read(1)
	for year := 2016; year < 2025; year++ {
		grow(year)
	}
	read(10)
}

func day(t *testing.T, text string) wiretime.Day { return timetest.Days(t, text, text).First }
