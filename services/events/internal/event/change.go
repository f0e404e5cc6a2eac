package event

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Change changes the basic fields given (contract 4.2 rule 10). Missing; Forbidden without edit rights, and for a
// privileged category without privileged; PreconditionFailed at another version; Invalid for a field with a fault. When
// the event is re-timed, its decided commitments to controlled elements return to requested. Where clashes are skipped
// or refused, a change that makes some is a ClashError: one event can't be changed without its elements.
func (s *Service) Change(
	ctx context.Context, p principal.Principal, id int64, f Fields, match record.Match, clashes Clashing,
) (View, error) {
	v, err := untilCurrent(func() (View, error) {
		c := change{service: s, p: p, fields: f, match: match, lookup: newLookupBy(p)}
		e, found, err := c.run(ctx, id, clashes)
		if err != nil {
			return View{}, err
		}
		return s.shown(ctx, p, c.lookup, e, nil, found)
	})
	return v, record.Missing(s.Refusal(ctx, p, err), Record, id)
}

// change is a change of one event that is being decided.
type change struct {
	service *Service
	p       principal.Principal
	fields  Fields
	match   record.Match
	lookup  *lookup
}

// run makes the change, and returns its clashes: nil unless they are reported. ErrOutdated when the event has changed
// since its clashes were found.
func (c *change) run(ctx context.Context, id int64, clashes Clashing) (Event, []Clash, error) {
	s := c.service
	if clashes == AllowClashes {
		e, err := s.o.Store.Change(ctx, id, func(e *Event) error { return c.apply(ctx, e) })
		return e, nil, err
	}
	before, err := s.o.Store.Get(ctx, id)
	if err != nil {
		return Event{}, nil, err
	}
	after := before
	after.Commitments = slices.Clone(before.Commitments)
	if err := c.apply(ctx, &after); err != nil && !errors.Is(err, record.ErrUnchanged) {
		return Event{}, nil, err
	}
	several := Several{Elements: sequence.Map(after.Commitments, func(of Commitment) fact.Element {
		return c.lookup.elements[of.ElementID]
	})}
	if clashes == ReportClashes {
		v, err := s.sightIn(ctx, c.p, c.lookup)
		if err != nil {
			return Event{}, nil, err
		}
		several.Elements = filter(several.Elements, v.mayName) // the others are not read
		several.Reader = &v.Sight
	}
	if several.Events, err = s.o.Clashes.Moving(ctx, []Event{before}, []Event{after}, clashes); err != nil {
		return Event{}, nil, err
	}
	var e Event
	write := func(found [][]Clash) (err error) {
		if taken := slices.Concat(found...); len(taken) > 0 {
			return NewClashError(Taken{Span: after.Span, Clashes: taken})
		}
		e, err = s.o.Store.Change(ctx, id, func(e *Event) error {
			if e.Version != before.Version {
				return ErrOutdated
			}
			return c.apply(ctx, e)
		})
		return err
	}
	if clashes.Exact() {
		err := s.o.Clashes.BookEach(ctx, several, write)
		return e, nil, err
	}
	if err := write(nil); err != nil {
		return Event{}, nil, err
	}
	found, err := s.o.Clashes.Each(ctx, several)
	return e, append([]Clash{}, slices.Concat(found...)...), err
}

// apply decides on the event as it is. record.ErrUnchanged when it stays as it is.
func (c *change) apply(ctx context.Context, e *Event) error {
	s, l := c.service, c.lookup
	if err := s.mustEdit(ctx, c.p, e); err != nil {
		return err
	}
	if err := s.resolve(ctx, c.p, l, c.fields, e, e.elementIDs(), nil, e.OwnerID); err != nil {
		return err
	}
	if err := c.match.Check(e.Version); err != nil {
		return err
	}
	before := *e
	if faults := c.fields.apply(e, s.o.Zone, l, false); len(faults) > 0 {
		return record.Invalid(*e, faults)
	}
	if !e.Span.Equal(before.Span) {
		e.reconsider(c.p, l.elements)
	}
	return unchangedIf(!e.changedAlone(before))
}
