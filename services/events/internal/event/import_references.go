package event

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// resolve fetches everything that the rows refer to.
func (b *batch) resolve(ctx context.Context, rows []Row) error {
	elements, users, categories := map[string]bool{}, map[string]bool{}, map[string]bool{}
	b.lookup = newLookup()
	for _, row := range rows {
		stored := b.stored[row.Key]
		for _, id := range stored.elementIDs() {
			b.lookup.asked[id] = true
		}
		for _, key := range row.Elements {
			elements[key] = true
		}
		if row.Organiser != "" {
			elements[staffKey(row.Organiser)] = true
		}
		if row.Owner != "" {
			users[row.Owner] = true
		}
		for _, d := range row.Decisions {
			elements[d.Element] = true
			for _, user := range []string{d.DecidedBy, d.AskedBy} {
				if user != "" {
					users[user] = true
				}
			}
		}
		categories[row.Category] = true
	}
	b.elements, b.erased = map[string]fact.Element{}, map[string]bool{}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		question := fact.ElementsQuestion{
			IDs:  slices.Collect(maps.Keys(b.lookup.asked)),
			Keys: slices.Collect(maps.Keys(elements)), Erased: !b.dryRun,
		}
		facts, err := b.service.o.Elements.Facts(ctx, question)
		for _, f := range facts {
			if f.Erased {
				b.erased[f.Key] = true
				continue
			}
			if elements[f.Key] {
				b.elements[f.Key] = f
			}
			b.lookup.elements[f.ID] = f
			b.lookup.asked[f.ID] = true
		}
		return err
	})
	g.Go(func() error {
		facts, err := b.service.o.Users.Users(ctx, fact.UsersQuestion{Keys: slices.Collect(maps.Keys(users))})
		b.users = sequence.By(facts, func(u fact.User) string { return u.Key })
		return err
	})
	g.Go(func() error {
		found, err := b.service.o.Categories.Find(ctx, nil, slices.Collect(maps.Keys(categories)))
		b.categories = sequence.By(found, func(c category.Category) string { return c.Key })
		return err
	})
	return g.Wait()
}

// lookupOf returns a lookup of an event's elements, for the update of that event alone.
func (b *batch) lookupOf(e *Event) *lookup {
	l := newLookup()
	for _, id := range e.elementIDs() {
		if l.asked[id] = b.lookup.asked[id]; l.asked[id] {
			l.elements[id] = b.lookup.elements[id]
		}
	}
	return l
}

// applyReferences sets the fields that the row gives by keys.
func (b *batch) applyReferences(e *Event, row Row, faults problem.Fields) {
	category, exists := b.categories[row.Category]
	switch {
	case faults["category"] != nil:
	case row.Category == "":
		faults.Add("category", problem.Blank)
	case !exists && !b.dryRun:
		faults.Add("category", problem.MustExist)
	case !exists:
	case !category.UsableBy(b.p), category.School != 0 && !b.own.Has(category.School) && category.ID != e.CategoryID:
		faults.Add("category", problem.NotAdministered)
	}
	organiser, exists := b.elements[staffKey(row.Organiser)]
	switch {
	case row.Organiser == "":
	case b.erased[staffKey(row.Organiser)]:
		faults.Add("organiser", erasure.Gone)
	case !b.dryRun && (!exists || organiser.EntityType != form.Staff):
		faults.Add("organiser", problem.NotStaff)
	}
	owner, exists := b.users[row.Owner]
	if row.Owner != "" && !exists && !b.dryRun {
		faults.Add("owner", problem.MustExist)
	}
	e.CategoryID, e.OrganiserID, e.OwnerID = category.ID, organiser.ID, owner.ID
}

// submitted returns the elements of the row that exist.
func (b *batch) submitted(row Row, faults problem.Fields) []Submitted {
	var elements []Submitted
	for _, key := range row.Elements {
		fact, exists := b.elements[key]
		switch {
		case exists:
			elements = append(elements, Submitted{Text: key, ID: fact.ID})
		case b.erased[key]:
			faults.Add("elements", key+" "+erasure.Gone)
		case !b.dryRun:
			faults.Add("elements", key+" "+problem.MustExist)
		}
	}
	return elements
}

func staffKey(key string) string { return form.Staff + ":" + key }

// takeIDs takes the ids for all rows; a dry run counts from 1.
func (b *batch) takeIDs(ctx context.Context, rows []Row) error {
	commitments, requests := 0, 0
	for _, row := range rows {
		c, r := b.needs(row)
		commitments, requests = commitments+c, requests+r
	}
	take := b.service.o.Store.NewIDs
	if b.dryRun {
		take = countUp
	}
	all, err := take(ctx, len(rows), commitments, requests)
	if err != nil {
		return err
	}
	b.ids = make(map[string]IDs, len(rows))
	for i, row := range rows {
		c, r := b.needs(row)
		b.ids[row.Key] = IDs{all.Events[i : i+1], all.Commitments[:c], all.Requests[:r]}
		all.Commitments, all.Requests = all.Commitments[c:], all.Requests[r:]
	}
	return nil
}

func countUp(_ context.Context, events, commitments, requests int) (IDs, error) {
	numbers := make([]int64, max(events, commitments, requests))
	for i := range numbers {
		numbers[i] = int64(i + 1)
	}
	return IDs{numbers[:events], numbers[:commitments], numbers[:requests]}, nil
}

// needs counts the commitments and the requests that the row's elements become, and the allocations, whose ids are the
// last ones.
func (b *batch) needs(row Row) (commitments, requests int) {
	seen := map[string]bool{}
	for _, key := range row.Elements {
		fact, exists := b.elements[key]
		switch {
		case !exists || seen[key]:
		case fact.Resource:
			requests++
		default:
			commitments++
		}
		seen[key] = true
	}
	for _, d := range row.Decisions {
		if d.Request != "" {
			commitments++
		}
	}
	return commitments, requests
}

// The rest of this file decides which events an administrator of a school may import: events with elements, all of
// which, and the organiser, belong to its schools today, as stored and by the row. So do all users whom the row names.

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
