package store

import (
	"context"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// A search finds events by numbers too. For each facet, a thing that can be searched for, an event carries one number
// for the month in which it starts and one for the decade. A number is period·2^46 + the facet's hash. A time from one
// instant to another is then a set of numbers for each facet, and an event must have one of each set: whole decades by
// their decades, other months by their months, and a part of a month by the instants too. The caller distinguishes
// facets with the same hash. The facets are each run of three characters of the body, the category, the owner, each
// status, and one that every event has. A body with more than mostGrams runs has one facet instead, by which every text
// finds it; a shared title has its own (titles).
const (
	hashBits  = 46
	mostGrams = 100
	// askedGrams is how many runs of a text's characters are searched for.
	askedGrams = 5
	// askedBesides is the same where shared titles have the text too, since their keys are asked for with those of each
	// run.
	askedBesides = 2
	// mostTitleKeys is the most keys of titles that are asked for by months.
	mostTitleKeys = 2000
	// mostGoing is how many periods an event carries for the days after its first, but for those of two centuries.
	mostGoing = 50
)

// The facets.
var (
	everyEvent = facet("every", "")
	longBody   = facet("long", "")
	goingOn    = facet("going", "") // its periods are the days after the first
)

func facet(kind, value string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind + ":" + value)) // it never fails
	return int64(h.Sum64() >> (64 - hashBits))
}

func facetOf(kind string, id int64) int64 { return facet(kind, strconv.FormatInt(id, 10)) }

func facetsOfGrams(grams []string) []int64 {
	return sequence.Map(grams, func(gram string) int64 { return facet("text", gram) })
}

// long says whether a body has too many runs of three characters.
func long(body string) bool { return len(needle.Grams(body, needle.Gram)) > mostGrams }

// searchKeysOf returns the numbers that an event carries, at most 300.
func searchKeysOf(e *event.Event, zone wiretime.Zone, shared *titles) []int64 {
	facets := []int64{everyEvent, facetOf("category", e.CategoryID)}
	if e.OwnerID != 0 {
		facets = append(facets, facetOf("owner", e.OwnerID))
	}
	for _, status := range event.Statuses() {
		if slices.ContainsFunc(e.Commitments, func(c event.Commitment) bool { return c.Status == status }) {
			facets = append(facets, facet("status", string(status)))
		}
	}
	if title, is := shared.shared(e.Body); is {
		facets = append(facets, title)
	} else if grams := needle.Grams(e.Body, needle.Gram); len(grams) <= mostGrams {
		facets = append(facets, facetsOfGrams(grams)...)
	} else {
		facets = append(facets, longBody)
	}
	days := e.Days(zone)
	keys := facetKeys(facets, []int64{monthBase + month(days.First), decadeBase + decade(days.First)})
	if days.Last > days.First {
		after := wiretime.Days{First: days.First + 1, Last: days.Last}
		keys = append(keys, facetKeys([]int64{goingOn}, periodsOf(after, mostGoing))...)
	}
	return keys
}

func facetKeys(facets, periods []int64) []int64 {
	keys := make([]int64, 0, len(facets)*len(periods))
	for _, period := range periods {
		for _, f := range facets {
			keys = append(keys, period<<hashBits|f)
		}
	}
	return keys
}

// FindStarting implements event.Store.
func (s *Events) FindStarting(
	ctx context.Context, wanted event.Wanted, from, to time.Time, limit int,
) ([]event.Event, bool, error) {
	var titles wantedFacet
	if wanted.Needle.Length() > 0 {
		var err error
		if titles, err = s.titles.with(ctx, wanted.Needle); err != nil {
			return nil, false, err
		}
	}
	filter := startingFilter(s.zone, wanted, titles, from, to)
	if filter == nil {
		return nil, false, nil
	}
	read, more, err := s.findBrief(ctx, filter, limit, limit == 0)
	if err == nil && more && limit == 0 {
		err = problem.New(problem.Malformed, "more events than can be read at once start from %s on",
			s.zone.DayOf(from))
	}
	if err != nil {
		return nil, false, err
	}
	return sequence.Map(read, briefEvent.event), more || (limit > 0 && len(read) == limit), nil
}

// FindGoingOn implements event.Store.
func (s *Events) FindGoingOn(ctx context.Context, wanted event.Wanted, day wiretime.Day) ([]event.Event, error) {
	filter := goingOnFilter(s.zone, wanted, day)
	if filter == nil {
		return nil, nil
	}
	read, more, err := s.findBrief(ctx, filter, 0, false)
	if err = tooMany(more, err); err != nil {
		return nil, err
	}
	return sequence.Map(read, briefEvent.event), nil
}

// startingFilter is nil when no event can match. Titles are the shared ones that have the text.
func startingFilter(zone wiretime.Zone, wanted event.Wanted, titles wantedFacet, from, to time.Time) bson.D {
	var all bson.A
	days := wiretime.Days{First: zone.DayOf(from), Last: zone.DayOf(to.Add(-time.Nanosecond))}
	shown, possible := shownFilters(zone, wanted)
	if !possible {
		return nil
	}
	if wanted.Reaches != nil {
		filter := reachedFilter(wanted.Reaches, days)
		if filter == nil {
			return nil
		}
		all = append(all, filter)
	}
	if wanted.Seen != nil {
		all = append(all, seenFilter(zone, *wanted.Seen, days, from, to))
	}
	facets := wantedFacets(wanted, titles)
	switch {
	case len(facets) > 0:
		all = append(all, facetsFilter(zone, facets, from, to))
	case len(all) == 0:
		all = append(all, facetsFilter(zone, []clauser{wantedFacet{everyEvent}}, from, to))
	default:
		all = append(all, startsWithin(from, to))
	}
	return allOf(append(all, shown...))
}

// seenFilter matches what is seen and starts within a time, on these days.
func seenFilter(zone wiretime.Zone, seen event.Seen, days wiretime.Days, from, to time.Time) bson.D {
	always := wantedFacet{facetOf("owner", seen.OwnerID)}
	var either []bson.D
	for _, of := range seen.Categories {
		if facet := facetOf("category", of.ID); within(of.Days) {
			always = append(always, facet)
		} else {
			starts := facetsFilter(zone, []clauser{wantedFacet{facet}}, from, to)
			either = append(either, allOf(bson.A{starts, touchesFilter(zone, of.Days)}))
		}
	}
	either = append(either, facetsFilter(zone, []clauser{always}, from, to))
	for _, of := range []struct {
		reaches []fact.Reach
		exactly bson.D
	}{
		{seen.Reaches, committedFilter(zone, seen.Reaches, nil)},
		{publicReaches(seen), committedFilter(zone, publicReaches(seen), firm)},
	} {
		if reached := reachedFilter(of.reaches, days); reached != nil {
			either = append(either, allOf(bson.A{reached, of.exactly}))
		}
	}
	return anyOf(either)
}

// goingOnFilter is nil when no event can match. Few events that go on on a day began earlier, so it uses no facets,
// only other fields.
func goingOnFilter(zone wiretime.Zone, wanted event.Wanted, day wiretime.Day) bson.D {
	all := bson.A{keyedFilter(facetKeys([]int64{goingOn}, covering(wiretime.Days{First: day, Last: day})))}
	shown, possible := shownFilters(zone, wanted)
	if !possible {
		return nil
	}
	if wanted.Reaches != nil {
		keys := reachKeys(nearest(wanted.Reaches, day))
		if len(keys) == 0 {
			return nil
		}
		all = append(all, touchingFilter(keys))
	}
	if wanted.CategoryID != 0 {
		all = append(all, bson.D{{Key: "category_id", Value: wanted.CategoryID}})
	}
	if wanted.OwnerID != 0 {
		all = append(all, bson.D{{Key: "owner_id", Value: wanted.OwnerID}})
	}
	if wanted.Seen != nil {
		either := []bson.D{{{Key: "owner_id", Value: wanted.Seen.OwnerID}}}
		for _, of := range wanted.Seen.Categories {
			is := bson.D{{Key: "category_id", Value: of.ID}}
			either = append(either, allOf(bson.A{is, touchesFilter(zone, of.Days)}))
		}
		for _, exactly := range []bson.D{
			committedFilter(zone, wanted.Seen.Reaches, nil), committedFilter(zone, publicReaches(*wanted.Seen), firm),
		} {
			if exactly != nil {
				either = append(either, exactly)
			}
		}
		all = append(all, anyOf(either))
	}
	return allOf(append(all, shown...))
}

// firm are the statuses of commitments that guests are shown, and by which public properties show events.
var firm = event.FirmStatuses()

// publicReaches are the public properties, on any day.
func publicReaches(seen event.Seen) []fact.Reach {
	return sequence.Map(seen.Public, func(id int64) fact.Reach {
		return fact.Reach{ElementID: id, Days: []wiretime.Days{event.AnyDays}}
	})
}

// shownFilters remove events that meet the search only by something that the viewer is not shown, which no index
// distinguishes. So the number of events found depends only on what is seen. False when no event can match.
func shownFilters(zone wiretime.Zone, wanted event.Wanted) (all bson.A, possible bool) {
	if told := wanted.Told; told != nil {
		either := []bson.D{
			{{Key: "category_id", Value: bson.D{{Key: "$nin", Value: told.Except}}}},
			{{Key: "owner_id", Value: told.OwnerID}},
		}
		if len(told.Persons) > 0 {
			one := bson.D{{Key: "$in", Value: told.Persons}}
			either = append(either, bson.D{{Key: "organiser_id", Value: one}},
				bson.D{{Key: "commitments.element_id", Value: one}})
		}
		all = append(all, anyOf(either))
	}
	if wanted.Seen == nil {
		return all, true
	}
	if wanted.Status != "" {
		reaches := wanted.Seen.Reaches
		if slices.Contains(firm, wanted.Status) {
			reaches = slices.Concat(reaches, publicReaches(*wanted.Seen))
		}
		shown := committedFilter(zone, reaches, []event.Status{wanted.Status})
		if shown == nil {
			return nil, false
		}
		all = append(all, shown)
	}
	if wanted.Reaches != nil {
		var statuses []event.Status
		if wanted.Seen.FirmAlone {
			statuses = firm
		}
		shown := committedFilter(zone, wanted.Reaches, statuses)
		if shown == nil {
			return nil, false
		}
		all = append(all, shown)
	}
	return all, true
}

// committedFilter matches events that touch a reach by a commitment in one of the statuses; nil: in any. It is nil when
// none can match. It uses no index.
func committedFilter(zone wiretime.Zone, reaches []fact.Reach, statuses []event.Status) bson.D {
	var either []bson.D
	always := bson.A{} // elements
	commits := func(elements bson.A) bson.D {
		is := bson.D{{Key: "element_id", Value: bson.D{{Key: "$in", Value: elements}}}}
		if statuses != nil {
			is = append(is, bson.E{Key: "status", Value: bson.D{{Key: "$in", Value: statuses}}})
		}
		return bson.D{{Key: "commitments", Value: bson.D{{Key: "$elemMatch", Value: is}}}}
	}
	for _, r := range reaches {
		switch {
		case len(r.Days) == 0:
		case within(r.Days):
			always = append(always, r.ElementID)
		default:
			either = append(either, allOf(bson.A{commits(bson.A{r.ElementID}), touchesFilter(zone, r.Days)}))
		}
	}
	if len(always) > 0 {
		either = append(either, commits(always))
	}
	return anyOf(either)
}

// within says whether each event is within the days.
func within(runs []wiretime.Days) bool {
	return slices.ContainsFunc(runs, func(run wiretime.Days) bool {
		return run.First <= wiretime.FirstEventDay && run.Last >= wiretime.LastEventDay
	})
}

// touchesFilter matches events that touch one of the days, as wiretime.Zone.Days says.
func touchesFilter(zone wiretime.Zone, runs []wiretime.Days) bson.D {
	either := make([]bson.D, len(runs))
	for i, run := range runs {
		begins := zone.Midnight(max(run.First, wiretime.FirstEventDay))
		ends := zone.Midnight(min(run.Last, wiretime.LastEventDay) + 1)
		either[i] = bson.D{
			{Key: "starts", Value: bson.D{{Key: "$lt", Value: ends}}},
			{Key: "$or", Value: bson.A{
				bson.D{{Key: "ends", Value: bson.D{{Key: "$gt", Value: begins}}}},
				bson.D{{Key: "starts", Value: bson.D{{Key: "$gte", Value: begins}}}},
			}},
		}
	}
	return anyOf(either)
}

// nearest reduces each run of a reach to the day nearest to a given day: an event on the given day that touches the run
// does so on that nearest day.
func nearest(reaches []fact.Reach, day wiretime.Day) []fact.Reach {
	near := make([]fact.Reach, len(reaches))
	for i, r := range reaches {
		near[i].ElementID = r.ElementID
		for _, run := range r.Days {
			at := min(max(day, run.First), run.Last)
			near[i].Days = append(near[i].Days, wiretime.Days{First: at, Last: at})
		}
	}
	return near
}

// reachedFilter matches events that touch a reach on the days, or on the first day of a run that begins after them,
// which an event that starts on the days and touches the run must reach. The caller leaves out events that do not start
// on the days. It is nil when none can match.
func reachedFilter(reaches []fact.Reach, days wiretime.Days) bson.D {
	var reached []fact.Reach
	for _, r := range reaches {
		held := wiretime.IntersectDays(r.Days, []wiretime.Days{days})
		for _, run := range r.Days {
			if run.First > days.Last {
				held = append(held, wiretime.Days{First: run.First, Last: run.First})
			}
		}
		if len(held) > 0 {
			reached = append(reached, fact.Reach{ElementID: r.ElementID, Days: held})
		}
	}
	keys := reachKeys(reached)
	if len(keys) == 0 {
		return nil
	}
	return touchingFilter(keys)
}

// clauser is one condition of a search, as clauses for events that start in some periods. No clause is a $or: one
// server estimates a $or to match half of all events, and reads them in the order of their ids until it has found
// enough.
type clauser interface{ clauses(periods []int64) bson.A }

// wantedFacet are the facets of one condition: an event with one of them may meet it.
type wantedFacet []int64

func (f wantedFacet) clauses(periods []int64) bson.A {
	return bson.A{keyedFilter(facetKeys(f, periods))}
}

// wantedText is a text: an event with all of the grams may have it, and one with a title has it. So an event must have
// every gram, or one of the titles.
type wantedText struct{ grams, titles wantedFacet }

func (t wantedText) clauses(periods []int64) bson.A {
	var all bson.A
	ofTitles := periods
	if len(t.titles)*len(periods) > mostTitleKeys {
		all, ofTitles = wantedFacet{everyEvent}.clauses(periods), decadesOf(periods)
	}
	titles := facetKeys(t.titles, ofTitles)
	for _, gram := range t.grams {
		all = append(all, keyedFilter(append(facetKeys([]int64{gram, longBody}, periods), titles...)))
	}
	return all
}

// decadesOf returns the decades in which periods are.
func decadesOf(periods []int64) []int64 {
	decades := make([]int64, len(periods))
	for i, p := range periods {
		if decades[i] = p; p < decadeBase {
			decades[i] = decadeBase + (p-monthBase)/monthsOfDecade
		}
	}
	return sequence.Distinct(decades)
}

func wantedFacets(wanted event.Wanted, titles wantedFacet) []clauser {
	var facets []clauser
	if wanted.Needle.Length() > 0 {
		most := askedGrams
		if len(titles) > 0 {
			most = askedBesides
		}
		facets = append(facets, wantedText{facetsOfGrams(wanted.Needle.Grams(most)), titles})
	}
	if wanted.CategoryID != 0 {
		facets = append(facets, wantedFacet{facetOf("category", wanted.CategoryID)})
	}
	if wanted.OwnerID != 0 {
		facets = append(facets, wantedFacet{facetOf("owner", wanted.OwnerID)})
	}
	if wanted.Status != "" {
		facets = append(facets, wantedFacet{facet("status", string(wanted.Status))})
	}
	return facets
}

// facetsFilter matches events that have all the facets and start within the time. Whole months need no comparison of
// instants, for which one server has to read all events.
func facetsFilter(zone wiretime.Zone, facets []clauser, from, to time.Time) bson.D {
	first, last := month(zone.DayOf(from)), month(zone.DayOf(to.Add(-time.Nanosecond)))
	var all bson.A
	for _, f := range facets {
		all = append(all, f.clauses(coverMonths(first, last))...)
	}
	if from.After(zone.Midnight(startOf(first))) || to.Before(zone.Midnight(startOf(last+1))) {
		all = append(all, startsWithin(from, to))
	}
	return allOf(all)
}

// coverMonths returns the periods of whole months: decades, and months of others.
func coverMonths(first, last int64) []int64 {
	var periods []int64
	for m := first; m <= last; {
		if m%monthsOfDecade == 0 && m+monthsOfDecade-1 <= last {
			periods = append(periods, decadeBase+m/monthsOfDecade)
			m += monthsOfDecade
			continue
		}
		periods = append(periods, monthBase+m)
		m++
	}
	return periods
}

func startsWithin(from, to time.Time) bson.D {
	return bson.D{{Key: "starts", Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: to}}}}
}

func keyedFilter(keys []int64) bson.D {
	return bson.D{{Key: "search_keys", Value: bson.D{{Key: "$in", Value: keys}}}}
}

// allOf matches what all of the filters match.
func allOf(filters bson.A) bson.D {
	if len(filters) == 1 {
		return filters[0].(bson.D)
	}
	return bson.D{{Key: "$and", Value: filters}}
}

// anyOf matches what any of the filters matches; nil without filters.
func anyOf(filters []bson.D) bson.D {
	switch len(filters) {
	case 0:
		return nil
	case 1:
		return filters[0]
	}
	return bson.D{{Key: "$or", Value: filters}}
}

// FindInCategories returns the events of the categories that start from one time on and before another, in no order. It
// reads as many documents as it returns, from one index.
func (s *Events) FindInCategories(ctx context.Context, categories []int64, from, to time.Time) ([]event.Event, error) {
	if len(categories) == 0 {
		return nil, nil
	}
	return s.find(ctx, inCategoriesFilter(s.zone, categories, from, to), true)
}

func inCategoriesFilter(zone wiretime.Zone, categories []int64, from, to time.Time) bson.D {
	var facets wantedFacet
	for _, id := range categories {
		facets = append(facets, facetOf("category", id))
	}
	return append(facetsFilter(zone, []clauser{facets}, from, to),
		bson.E{Key: "category_id", Value: bson.D{{Key: "$in", Value: categories}}})
}
