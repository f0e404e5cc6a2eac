package absence

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	// pupilsAtOnce bounds one question for reaches, elementsAtOnce one read of events, and askersAtOnce how many of
	// either are under way.
	pupilsAtOnce   = 250
	elementsAtOnce = 200
	askersAtOnce   = 4
)

// pupil is a pupil with the elements whose commitments count for them, by day.
type pupil struct {
	form.Element
	reaches []fact.Reach
}

// find returns the absences of events that start within a week, in their order. It asks elements who their pupils
// are, and for each 250 pupils what they belong to; then it reads, for each 200 pupils and groups, their busy
// events and the categories of these. When there are absences, it asks elements for the places of the other events.
func (s *Service) find(ctx context.Context, events []placed) ([]Absence, error) {
	days := events[0].days
	var ids []int64
	for _, e := range events {
		days.Last = max(days.Last, e.days.Last)
		ids = append(ids, attending(e.Event)...)
	}
	found, err := s.Elements.Pupils(ctx, fact.PupilsQuestion{IDs: sequence.Distinct(ids), Days: days})
	if err != nil {
		return nil, err
	}
	pupils, err := s.pupils(ctx, found, days)
	if err != nil {
		return nil, err
	}
	taken, err := s.taken(ctx, pupils, days)
	if err != nil {
		return nil, err
	}
	absences := s.absences(events, pupils, taken)
	if len(absences) == 0 {
		return nil, nil
	}
	return absences, s.locate(ctx, absences)
}

// attending are the elements with a commitment to an event that is not rejected.
func attending(e event.Event) []int64 {
	var ids []int64
	for _, c := range e.Commitments {
		if c.Status != event.Rejected {
			ids = append(ids, c.ElementID)
		}
	}
	return ids
}

// pupils asks for the reaches of pupils, in batches.
func (s *Service) pupils(ctx context.Context, found []form.Element, days wiretime.Days) ([]pupil, error) {
	all := make([]pupil, len(found))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(askersAtOnce)
	for first := 0; first < len(found); first += pupilsAtOnce {
		batch := found[first:min(first+pupilsAtOnce, len(found))]
		g.Go(func() error {
			ids := sequence.Map(batch, func(p form.Element) int64 { return p.ID })
			reaches, err := s.Elements.Reaches(ctx, fact.ReachesQuestion{IDs: ids, Days: days})
			if err != nil {
				return err
			}
			of := sequence.By(reaches, func(r fact.ElementReaches) int64 { return r.ElementID })
			for i, p := range batch {
				all[first+i] = pupil{p, of[p.ID].Reaches}
			}
			return nil
		})
	}
	return all, g.Wait()
}

// taken returns, by the element committed, the events that make the pupils and their groups busy on the days.
func (s *Service) taken(ctx context.Context, pupils []pupil, days wiretime.Days) (map[int64][]placed, error) {
	var ids []int64
	for _, p := range pupils {
		for _, r := range p.reaches {
			ids = append(ids, r.ElementID)
		}
	}
	ids = sequence.Distinct(ids)
	batches := slices.Collect(slices.Chunk(ids, elementsAtOnce))
	found := make([][]event.Placed[event.Commitment], len(batches))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(askersAtOnce)
	for i, batch := range batches {
		g.Go(func() (err error) {
			reaches := sequence.Map(batch, func(id int64) fact.Reach {
				return fact.Reach{ElementID: id, Days: []wiretime.Days{days}}
			})
			found[i], err = s.Clashes.Busy(ctx, reaches, 0, false)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	taken := map[int64][]placed{}
	for _, f := range slices.Concat(found...) {
		if f.Event.Lasts() { // nothing is missed for the others
			taken[f.Item.ElementID] = append(taken[f.Item.ElementID], placed{*f.Event, f.Event.Days(s.Zone)})
		}
	}
	return taken, nil
}

// presence is an event that a pupil is part of, with the days on which they are.
type presence struct {
	event *placed
	days  []wiretime.Days
}

// presences returns the events, by the element committed, that a pupil is part of on a day that the event touches.
func (p pupil) presences(events map[int64][]*placed) []presence {
	var all []presence
	at := map[int64]int{} // index by event
	for _, r := range p.reaches {
		for _, e := range events[r.ElementID] {
			if !slices.ContainsFunc(r.Days, e.days.Overlaps) {
				continue
			}
			i, seen := at[e.ID]
			if !seen {
				i, at[e.ID] = len(all), len(all)
				all = append(all, presence{event: e})
			}
			all[i].days = append(all[i].days, r.Days...)
		}
	}
	return all
}

// on says whether the pupil is part of the event on a day.
func (p presence) on(day wiretime.Days) bool {
	return slices.ContainsFunc(p.days, func(d wiretime.Days) bool { return d.First <= day.First && day.Last <= d.Last })
}

// clash says whether a pupil is part of both events at the same time, each by the memberships of that day.
func (s *Service) clash(a, b presence) bool {
	common, ok := clash.Common(s.Zone, &a.event.Event, &b.event.Event)
	if !ok || a.event.ID == b.event.ID {
		return false
	}
	for day := common.First; day <= common.Last; day++ {
		if only := (wiretime.Days{First: day, Last: day}); a.on(only) && b.on(only) {
			return true
		}
	}
	return false
}

// absences returns those of the events whose pupils are elsewhere, given the events that make them busy, by the element
// committed.
func (s *Service) absences(events []placed, pupils []pupil, taken map[int64][]placed) []Absence {
	checked, others := map[int64][]*placed{}, make(map[int64][]*placed, len(taken))
	for i := range events {
		for _, id := range sequence.Distinct(attending(events[i].Event)) {
			checked[id] = append(checked[id], &events[i])
		}
	}
	for id := range taken {
		for i := range taken[id] {
			others[id] = append(others[id], &taken[id][i])
		}
	}
	found := map[int64]*Absence{}
	for _, p := range pupils {
		elsewhere := p.presences(others)
		for _, own := range p.presences(checked) {
			a := found[own.event.ID]
			if a == nil {
				a = &Absence{Event: own.event.Event}
				found[own.event.ID] = a
			}
			a.Pupils++
			var missed []presence
			for _, other := range elsewhere {
				if s.clash(own, other) {
					missed = append(missed, other)
				}
			}
			a.miss(p, missed)
		}
	}
	var all []Absence
	for _, e := range events {
		if a := found[e.ID]; a != nil && a.Elsewhere > 0 {
			a.sort()
			all = append(all, *a)
		}
	}
	return all
}

// miss says where else a pupil is, if anywhere.
func (a *Absence) miss(p pupil, elsewhere []presence) {
	if len(elsewhere) > 0 {
		a.Elsewhere++
	}
	for _, other := range elsewhere {
		i := slices.IndexFunc(a.places, func(at place) bool { return at.event.ID == other.event.ID })
		if i < 0 {
			i = len(a.places)
			a.places = append(a.places, place{event: &other.event.Event})
		}
		a.places[i].pupils = append(a.places[i].pupils, p.Element)
	}
}

// sort brings the places into the order of their events, and the pupils of each into that of their names.
func (a *Absence) sort() {
	slices.SortFunc(a.places, func(x, y place) int { return x.event.Compare(y.event) })
	for _, at := range a.places {
		slices.SortFunc(
			at.pupils,
			func(x, y form.Element) int { return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID)) },
		)
	}
}
