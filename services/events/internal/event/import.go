package event

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// importWriters is how many changed events of a batch are written at a time.
const importWriters = 8

// Row is a record of an import (administration: events.csv). References are import keys; "" is none.
type Row struct {
	Key       string
	Hash      string
	Fields    Fields // body, and times as set B
	Category  string
	Organiser string   // of a staff element, without its type
	Owner     string   // of a user
	Elements  []string // with their types: "Group:9A"
	Decisions []RowDecision
}

// RowDecision says what was decided of a commitment, before the event came to Belfry, and who asked for it. Of a
// request for items it says who asked alone, and so does Uncontrolled of what is not allocated: its status is then as
// without the row.
type RowDecision struct {
	Element   string    // of the row's elements, unless it is allocated
	Decision            // without faults
	DecidedBy string    // the key of a user; "" where nobody is known
	DecidedAt time.Time // zero where it is not known: then it is the time of the import
	Request   string    // the resource group, one of the row's elements, whose request it is allocated to; "": none
	AskedBy   string    // the key of the user who added the element; "": who is known of it stays
}

// batch is an import under way.
type batch struct {
	service *Service
	p       principal.Principal
	dryRun  bool
	rows    []Row

	stored     map[string]Event // by key
	lookup     *lookup
	elements   map[string]fact.Element // by key
	erased     map[string]bool         // keys of elements that have been erased; none in a dry run
	users      map[string]fact.User    // by key
	categories map[string]category.Category
	own        authority.Own // of all that the rows and their events refer to
	outcomes   []record.Outcome
}

// Import makes the events what the rows say, with p as the one who adds their elements. A row says all of its event:
// elements that it does not name are taken off. Commitments whose elements stay keep their ids and statuses; a re-timed
// event follows the re-approval rule. A row that did not change since its last import is left alone. Each outcome
// stands at its row's index; a row that is not right fails alone. A dry run writes nothing, and a reference that is not
// found is then no fault. An administrator of a school imports events of its school alone, see import_school.go.
func (s *Service) Import(
	ctx context.Context, p principal.Principal, rows []Row, dryRun bool,
) ([]record.Outcome, error) {
	b := &batch{
		service:  s,
		p:        p,
		dryRun:   dryRun,
		rows:     rows,
		stored:   map[string]Event{},
		outcomes: make([]record.Outcome, len(rows)),
	}
	changed, err := b.compare(ctx)
	if err != nil || len(changed) == 0 {
		return b.outcomes, err
	}
	if err := b.resolve(ctx, changed); err != nil {
		return nil, err
	}
	if err := b.readOwn(ctx); err != nil {
		return nil, err
	}
	if err := b.write(ctx, changed); err != nil {
		return nil, err
	}
	return b.outcomes, nil
}

// compare finds the stored events and returns the indexes of the rows that are new or changed.
func (b *batch) compare(ctx context.Context) (changed []int, err error) {
	keys := make([]string, len(b.rows))
	for i, row := range b.rows {
		keys[i] = row.Key
	}
	stored, err := b.service.store.Find(ctx, nil, keys)
	if err != nil {
		return nil, err
	}
	for _, e := range stored {
		b.stored[e.Key] = e
	}
	for i, row := range b.rows {
		if e, exists := b.stored[row.Key]; exists && e.ImportHash == row.Hash {
			b.outcomes[i] = record.Outcome{Result: record.Unchanged, ID: e.ID}
			continue
		}
		changed = append(changed, i)
	}
	return changed, nil
}

// write checks the rows and writes those that are right: the new ones at once, the changed ones a few at a time.
func (b *batch) write(ctx context.Context, changed []int) error {
	ids, err := b.takeIDs(ctx, changed)
	if err != nil {
		return err
	}
	var fresh []Event
	var freshRows, updates []int
	for _, i := range changed {
		e, exists := b.stored[b.rows[i].Key]
		wanted := Event{ID: ids[i].event}
		if exists {
			wanted = e
			wanted.Commitments, wanted.Requests = slices.Clone(e.Commitments), slices.Clone(e.Requests)
		}
		faults := b.apply(&wanted, b.rows[i], ids[i].ids)
		b.decide(&wanted, b.rows[i])
		switch {
		case len(faults) > 0:
			b.outcomes[i] = record.Fail(faults)
		case exists:
			b.outcomes[i] = record.Outcome{Result: record.Updated, ID: e.ID}
			updates = append(updates, i)
		case b.dryRun:
			b.outcomes[i] = record.Outcome{Result: record.Created}
		default:
			b.outcomes[i] = record.Outcome{Result: record.Created, ID: wanted.ID}
			fresh, freshRows = append(fresh, wanted), append(freshRows, i)
		}
	}
	if b.dryRun {
		return nil
	}
	taken, err := b.insert(ctx, fresh)
	if err != nil {
		return err
	}
	for _, n := range taken {
		updates = append(updates, freshRows[n])
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(importWriters)
	for _, i := range updates {
		g.Go(func() error { return b.update(ctx, i, ids[i].ids) })
	}
	return g.Wait()
}

// insert stores new events. When another import of the same keys came first, it finds those and returns their
// indexes, so that they are updated: the later import wins, and one of the same rows finds them unchanged.
func (b *batch) insert(ctx context.Context, fresh []Event) (taken []int, err error) {
	if len(fresh) == 0 {
		return nil, nil
	}
	taken, err = b.service.store.Insert(ctx, fresh)
	if err != nil || len(taken) == 0 {
		return nil, err
	}
	keys := make([]string, len(taken))
	for i, n := range taken {
		keys[i] = fresh[n].Key
	}
	first, err := b.service.store.Find(ctx, nil, keys)
	for _, e := range first {
		b.stored[e.Key] = e
	}
	return taken, err
}

// update changes the stored event of a row; each row has a place of its own in outcomes.
func (b *batch) update(ctx context.Context, i int, new ids) error {
	row := b.rows[i]
	stored := b.stored[row.Key]
	l := b.lookupOf(&stored)
	var faults problem.Fields
	result := record.Updated
	e, err := b.service.change(ctx, stored.ID, l, func(e *Event) error {
		if result, faults = record.Updated, nil; e.ImportHash == row.Hash { // since it was read
			result = record.Unchanged
			return record.ErrUnchanged
		}
		before := e.Span
		faults = b.apply(e, row, new)
		if !e.Span.Equal(before) {
			e.reconsider(b.p, l.elements)
		}
		b.decide(e, row) // of the new time
		return unchangedIf(len(faults) > 0)
	})
	switch {
	case errors.Is(err, record.ErrNotFound):
		b.outcomes[i] = record.Fail(problem.Fields{"key": {"was deleted meanwhile"}})
		return nil
	case err != nil:
		return err
	case len(faults) > 0:
		b.outcomes[i] = record.Fail(faults)
	default:
		b.outcomes[i] = record.Outcome{Result: result, ID: e.ID}
	}
	return nil
}

// apply makes the event what the row says, but for what was decided of it, and returns all that is wrong with the row.
func (b *batch) apply(e *Event, row Row, new ids) problem.Fields {
	faults := maps.Clone(row.Fields.Faults)
	b.checkOwn(e, row, faults)
	e.Key, e.ImportHash = row.Key, row.Hash
	e.Texts.apply(row.Fields.Texts, faults, true)
	span, wrong := b.service.zone.NewSpan(row.Fields.Span)
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
	b.allocate(e, row, new)
	b.checkDecisions(row, faults)
	return faults
}
