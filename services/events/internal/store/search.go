package store

import (
	"context"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/needle"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// A search finds events through numbers too: of each thing that is looked for, a facet, an event carries one for the
// month in which it starts and one for the decade. A number is period·2^46 + the facet's hash. A time from one instant
// to another is then a set of numbers for each facet, all of which an event must have one of: whole decades by their
// decades, whole months by their months, and a part of a month by the month and the instants. What has the same hash is
// left to who asks. A facet is a run of three characters of the body, the category, the owner, a status; of every event
// that it is one. A body with more than mostGrams of such runs has one facet instead, which every text is looked for
// by.
const (
	hashBits  = 46
	mostGrams = 100
	// askedGrams is by how many runs of its characters a text is looked for.
	askedGrams = 5
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
	facets := make([]int64, len(grams))
	for i, gram := range grams {
		facets[i] = facet("text", gram)
	}
	return facets
}

// searchKeysOf returns the numbers that an event carries, at most 300.
func searchKeysOf(e *event.Event, zone wiretime.Zone) []int64 {
	facets := []int64{everyEvent, facetOf("category", e.CategoryID)}
	if e.OwnerID != 0 {
		facets = append(facets, facetOf("owner", e.OwnerID))
	}
	for _, status := range event.Statuses() {
		if slices.ContainsFunc(e.Commitments, func(c event.Commitment) bool { return c.Status == status }) {
			facets = append(facets, facet("status", string(status)))
		}
	}
	if grams := needle.Grams(e.Body, needle.Gram); len(grams) <= mostGrams {
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
	filter := startingFilter(s.zone, wanted, from, to)
	if filter == nil {
		return nil, false, nil
	}
	o := options.Find().SetProjection(inBrief).SetLimit(int64(limit))
	events, more, err := s.events.FindUpTo(ctx, mostRead, filter, o)
	if err == nil && more && limit == 0 {
		err = problem.New(problem.Malformed, "more events than can be read at once start from %s on",
			s.zone.DayOf(from))
	}
	return events, more || (limit > 0 && len(events) == limit), err
}

// FindGoingOn implements event.Store.
func (s *Events) FindGoingOn(ctx context.Context, wanted event.Wanted, day wiretime.Day) ([]event.Event, error) {
	filter := goingOnFilter(wanted, day)
	if filter == nil {
		return nil, nil
	}
	return s.findDays(ctx, filter, inBrief)
}

// startingFilter is nil when no event can be wanted.
func startingFilter(zone wiretime.Zone, wanted event.Wanted, from, to time.Time) bson.D {
	var all bson.A
	days := wiretime.Days{First: zone.DayOf(from), Last: zone.DayOf(to.Add(-time.Nanosecond))}
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
	facets := wantedFacets(wanted)
	switch {
	case len(facets) > 0:
		all = append(all, facetsFilter(zone, facets, from, to))
	case len(all) == 0:
		return facetsFilter(zone, []wantedFacet{{everyEvent}}, from, to)
	default:
		all = append(all, startsWithin(from, to))
	}
	if len(all) == 1 {
		return all[0].(bson.D)
	}
	return bson.D{{Key: "$and", Value: all}}
}

// seenFilter matches what may be seen and starts within a time, on these days.
func seenFilter(zone wiretime.Zone, seen event.Seen, days wiretime.Days, from, to time.Time) bson.D {
	facets := wantedFacet{facetOf("owner", seen.OwnerID)}
	for _, id := range seen.Categories {
		facets = append(facets, facetOf("category", id))
	}
	either := []bson.D{facetsFilter(zone, []wantedFacet{facets}, from, to)}
	if reached := reachedFilter(seen.Reaches, days); reached != nil {
		either = append(either, reached)
	}
	return anyOf(either)
}

// goingOnFilter is nil when no event can be wanted. Of what goes on on a day few events began on an earlier one, so
// they are not told apart by facets; what can be told by other fields is.
func goingOnFilter(wanted event.Wanted, day wiretime.Day) bson.D {
	all := bson.A{keyedFilter(facetKeys([]int64{goingOn}, covering(wiretime.Days{First: day, Last: day})))}
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
		if len(wanted.Seen.Categories) > 0 {
			of := bson.D{{Key: "$in", Value: wanted.Seen.Categories}}
			either = append(either, bson.D{{Key: "category_id", Value: of}})
		}
		if keys := reachKeys(nearest(wanted.Seen.Reaches, day)); len(keys) > 0 {
			either = append(either, touchingFilter(keys))
		}
		all = append(all, anyOf(either))
	}
	return bson.D{{Key: "$and", Value: all}}
}

// nearest leaves of each run of a reach the day that is nearest to a day: what goes on on that day, and touches the run
// on any day before or after, does so on the nearest.
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

// reachedFilter matches what starts on the days and touches a reach, on these days or later: then it goes on on the
// first day of a reach that begins after these days. It is nil when nothing can.
func reachedFilter(reaches []fact.Reach, days wiretime.Days) bson.D {
	var now, later []fact.Reach
	var firsts []int64 // periods of the days on which the later ones begin
	for _, r := range reaches {
		if held := wiretime.IntersectDays(r.Days, []wiretime.Days{days}); len(held) > 0 {
			now = append(now, fact.Reach{ElementID: r.ElementID, Days: held})
		}
		for _, run := range r.Days {
			if run.First > days.Last {
				first := wiretime.Days{First: run.First, Last: run.First}
				later = append(later, fact.Reach{ElementID: r.ElementID, Days: []wiretime.Days{first}})
				firsts = append(firsts, covering(first)...)
			}
		}
	}
	var either []bson.D
	if keys := reachKeys(now); len(keys) > 0 {
		either = append(either, touchingFilter(keys))
	}
	if keys := reachKeys(later); len(keys) > 0 {
		slices.Sort(firsts)
		still := keyedFilter(facetKeys([]int64{goingOn}, slices.Compact(firsts)))
		either = append(either, bson.D{{Key: "$and", Value: bson.A{touchingFilter(keys), still}}})
	}
	return anyOf(either)
}

// wantedFacet are the facets of one thing that is looked for: an event with one of them may have it.
type wantedFacet []int64

func wantedFacets(wanted event.Wanted) []wantedFacet {
	var facets []wantedFacet
	for _, gram := range facetsOfGrams(wanted.Needle.Grams(askedGrams)) {
		facets = append(facets, wantedFacet{gram, longBody})
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

// facetsFilter matches what has all the facets and starts within the time: in whole months, or in a part of the first
// or of the last one. Whole months need no look at the instants, which one server has to collect for all events.
func facetsFilter(zone wiretime.Zone, facets []wantedFacet, from, to time.Time) bson.D {
	first, last := month(zone.DayOf(from)), month(zone.DayOf(to.Add(-time.Nanosecond)))
	begins := func(month int64) time.Time { return zone.Midnight(startOf(month)) }
	var either []bson.D
	part := func(month int64) {
		either = append(either, bson.D{{Key: "$and", Value: append(facetClauses(facets, []int64{monthBase + month}),
			startsWithin(from, to))}})
	}
	if from.After(begins(first)) {
		part(first)
		first++
	}
	if first <= last && to.Before(begins(last+1)) {
		part(last)
		last--
	}
	if first <= last {
		either = append(either, bson.D{{Key: "$and", Value: facetClauses(facets, coverMonths(first, last))}})
	}
	return anyOf(either)
}

func facetClauses(facets []wantedFacet, periods []int64) bson.A {
	clauses := make(bson.A, len(facets))
	for i, f := range facets {
		clauses[i] = keyedFilter(facetKeys(f, periods))
	}
	return clauses
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

// searchIndex also has the start, for the parts of a month.
func searchIndex() mongostore.Index {
	return mongostore.Index{
		Name: "search_keys", Keys: bson.D{{Key: "search_keys", Value: 1}, {Key: "starts", Value: 1}},
	}
}

// anyOf matches what one of the filters does, nil when there is none.
func anyOf(filters []bson.D) bson.D {
	switch len(filters) {
	case 0:
		return nil
	case 1:
		return filters[0]
	}
	return bson.D{{Key: "$or", Value: filters}}
}
