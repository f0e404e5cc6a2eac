package event

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Row is a record of an import (administration: events.csv). References are import keys; "" is none.
type Row struct {
	record.Row
	Fields    Fields // body, and times as set B
	Category  string
	Organiser string   // of a staff element, without its type
	Owner     string   // of a user
	Elements  []string // with their types: "Group:9A"
	Decisions []RowDecision
}

// RowDecision says what was decided about a commitment before the event was imported, and who asked for it. For a
// request, and for an Uncontrolled commitment that is not allocated, it only says who asked: the status is then as
// without the row.
type RowDecision struct {
	Element   string    // of the row's elements, unless it is allocated
	Decision            // without faults
	DecidedBy string    // the key of a user; "" where it is not known
	DecidedAt time.Time // zero where it is not known: then it is the time of the import
	Request   string    // the resource group, one of the row's elements, whose request it is allocated to; "": none
	AskedBy   string    // the key of the user who added the element; "": who is known of it stays
}

// batch is an import under way.
type batch struct {
	service *Service
	p       principal.Principal
	dryRun  bool

	stored     map[string]Event // by key
	ids        map[string]IDs   // by key
	lookup     *lookup
	elements   map[string]fact.Element // by key
	erased     map[string]bool         // keys of elements that have been erased; none in a dry run
	users      map[string]fact.User    // by key
	categories map[string]category.Category
	own        authority.Own // of all that the rows and their events refer to
}

// Import makes the events what the rows say, with p as the user who adds their elements; see record.Import. A row
// describes its whole event: elements that it does not name are removed. Commitments whose elements stay keep their ids
// and statuses; a re-timed event follows the re-approval rule. In a dry run a reference that is not found is not a
// fault. An administrator of a school imports only events of its school; see import_references.go.
func (s *Service) Import(
	ctx context.Context, p principal.Principal, rows []Row, dryRun bool,
) ([]record.Outcome, error) {
	b := &batch{service: s, p: p, dryRun: dryRun}
	return record.Import[Row, Event]{
		DryRun:   dryRun,
		Find:     b.find,
		Imported: func(e Event) (int64, string) { return e.ID, e.ImportHash },
		Resolve: func(ctx context.Context, rows []Row) error {
			if err := b.resolve(ctx, rows); err != nil {
				return err
			}
			if err := b.readOwn(ctx); err != nil {
				return err
			}
			return b.takeIDs(ctx, rows)
		},
		Apply:  b.eventOf,
		Insert: b.insert,
		Change: b.update,
	}.Run(ctx, rows)
}

// find returns the stored events of the rows, by key.
func (b *batch) find(ctx context.Context, rows []Row) (map[string]Event, error) {
	keys := sequence.Map(rows, func(row Row) string { return row.Key })
	stored, err := b.service.o.Store.Find(ctx, nil, keys)
	b.stored = sequence.By(stored, func(e Event) string { return e.Key })
	return b.stored, err
}

// eventOf returns the event that a row asks for.
func (b *batch) eventOf(row Row, stored Event) (Event, error) {
	e := stored
	e.Commitments, e.Requests = slices.Clone(stored.Commitments), slices.Clone(stored.Requests)
	if stored.ID == 0 {
		e.ID = b.ids[row.Key].Events[0]
	}
	faults := b.apply(&e, row, b.ids[row.Key])
	b.decide(&e, row)
	return e, record.Invalid(e, faults)
}

// insert stores new events. An event whose key another import used first is refused.
func (b *batch) insert(ctx context.Context, events []Event) ([]problem.Fields, error) {
	if len(events) == 0 {
		return nil, nil
	}
	taken, err := b.service.o.Store.Insert(ctx, events)
	refused := make([]problem.Fields, len(events))
	for _, i := range taken {
		refused[i] = problem.Fields{"key": {problem.Taken}}
	}
	return refused, err
}

// update changes the stored event of a row.
func (b *batch) update(ctx context.Context, row Row, stored, _ Event) error {
	l := b.lookupOf(&stored)
	var outcome error
	_, err := b.service.change(ctx, stored.ID, l, func(e *Event) error {
		if outcome = nil; e.ImportHash == row.Hash { // since it was read
			outcome = record.ErrUnchanged
			return outcome
		}
		before := e.Span
		outcome = record.Invalid(*e, b.apply(e, row, b.ids[row.Key]))
		if !e.Span.Equal(before) {
			e.reconsider(b.p, l.elements)
		}
		b.decide(e, row) // of the new time
		return unchangedIf(outcome != nil)
	})
	return cmp.Or(err, outcome)
}

// apply makes the event what the row says, except for decisions, and returns the row's faults.
func (b *batch) apply(e *Event, row Row, new IDs) problem.Fields {
	faults := maps.Clone(row.Fields.Faults)
	b.checkOwn(e, row, faults)
	e.Key, e.ImportHash = row.Key, row.Hash
	e.Texts.apply(row.Fields.Texts, faults, true)
	span, wrong := b.service.o.Zone.NewSpan(row.Fields.Span)
	for field, messages := range wrong {
		faults[field] = append(faults[field], messages...)
	}
	if wrong == nil {
		e.Span = span
	}
	b.applyReferences(e, row, faults)
	submitted := b.submitted(row, faults)
	for _, f := range e.replaceElements(b.p, submitted, b.lookup.elements, new) {
		for _, messages := range f.Errors {
			faults.Add("elements", f.Submitted.Text+" "+messages[0])
		}
	}
	b.allocate(e, row, new, faults)
	b.checkDecisions(row, faults)
	return faults
}
