package event

import (
	"context"
	"maps"
	"slices"

	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// This file decides which events an administrator of a school may import: events with elements, all of which belong to
// its schools today, and whose owner, organiser, deciders and requesters, if set, belong to its schools too. A stored
// event must meet this before the row and after it.

// readOwn asks which of the records that the rows and their events refer to are p's to administer.
func (b *batch) readOwn(ctx context.Context) (err error) {
	ids := slices.Collect(maps.Keys(b.lookup.asked))
	for _, u := range b.users {
		ids = append(ids, u.ElementID)
	}
	for _, c := range b.categories {
		ids = append(ids, c.School)
	}
	b.own, err = authority.AskOwn(ctx, b.p, ids, b.service.o.Elements.Belonging)
	return err
}

// mayEnter says whether an event may have a category: one of a school that p administers, of no school, or the event's
// current one.
func (b *batch) mayEnter(c category.Category, e *Event) bool {
	return c.School == 0 || b.own.Has(c.School) || c.ID == e.CategoryID
}

// checkOwn adds the faults of what is not p's in the stored event and in its row. Records that do not exist are
// reported elsewhere.
func (b *batch) checkOwn(e *Event, row Row, faults problem.Fields) {
	if b.own.All() {
		return
	}
	foreign := func(id int64) bool { return id != 0 && !b.own.Has(id) }
	if e.Key != "" && (len(e.Commitments)+len(e.Requests) == 0 || slices.ContainsFunc(e.elementIDs(), foreign)) {
		faults.Add("key", problem.NotAdministered)
		return // what it refers to is not shown to others
	}
	if len(row.Elements) == 0 && faults["elements"] == nil {
		faults.Add("elements", problem.Blank)
	}
	for _, key := range row.Elements {
		if foreign(b.elements[key].ID) {
			faults.Add("elements", key+" "+problem.NotAdministered)
		}
	}
	if foreign(b.elements[staffKey(row.Organiser)].ID) {
		faults.Add("organiser", problem.NotAdministered)
	}
	foreignUser := func(key string) bool {
		u, exists := b.users[key]
		return exists && !b.own.Has(u.ElementID)
	}
	if foreignUser(row.Owner) {
		faults.Add("owner", problem.NotAdministered)
	}
	for _, d := range row.Decisions {
		if foreign(b.elements[d.Element].ID) {
			faults.Add("decisions", d.Element+" "+problem.NotAdministered)
		}
		if foreignUser(d.DecidedBy) {
			faults.Add("decisions", "decided_by "+problem.NotAdministered)
		}
		if foreignUser(d.AskedBy) {
			faults.Add("decisions", "asked_by "+problem.NotAdministered)
		}
	}
}
