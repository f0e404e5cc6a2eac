package event

import (
	"fmt"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// checkDecisions adds the faults of a row's decisions. A decision is about an ordinary element of the row, or about one
// that is allocated to the request for a resource group of the row. A row may also say who asked for such a group.
func (b *batch) checkDecisions(row Row, faults problem.Fields) {
	if !fit(sequence.Map(row.Decisions, func(d RowDecision) string { return d.Reason })) {
		faults.Add("decisions", longReasons)
	}
	seen, allocated := map[string]bool{}, map[string]int{}
	for _, d := range row.Decisions {
		fault := func(reason string) { faults.Add("decisions", d.Element+" "+reason) }
		d.Faults = problem.Fields{}
		for _, messages := range d.check() {
			fault(messages[0])
		}
		fact, exists := b.elements[d.Element]
		allocated[d.Request]++
		switch {
		case d.Status == Uncontrolled && d.Request == "" && d.AskedBy == "":
			fault(problem.NotIncluded)
		case seen[d.Element]:
			fault(problem.Taken)
		case d.Request != "":
			if reason := b.cannotAllocate(row, d, allocated[d.Request]); reason != "" {
				fault(reason)
			}
		case !slices.Contains(row.Elements, d.Element), exists && fact.Resource && !d.onlyAsked():
			fault(problem.MustExist)
		}
		seen[d.Element] = true
		if _, known := b.users[d.DecidedBy]; d.DecidedBy != "" && !known && !b.dryRun {
			fault("decided_by " + problem.MustExist)
		}
		if _, known := b.users[d.AskedBy]; d.AskedBy != "" && !known && !b.dryRun {
			fault("asked_by " + problem.MustExist)
		}
	}
}

// onlyAsked says whether a decision says no more than who asked.
func (d RowDecision) onlyAsked() bool {
	return d.AskedBy != "" && d.Status == Requested && d.Reason == "" && d.DecidedBy == "" && d.DecidedAt.IsZero()
}

// cannotAllocate says why an element can't be allocated as a row says; "" when it can. It need not be a member of the
// group any more.
func (b *batch) cannotAllocate(row Row, d RowDecision, allocated int) string {
	fact, exists := b.elements[d.Element]
	group, groupExists := b.elements[d.Request]
	quantity := 0
	for _, key := range row.Elements {
		if key == d.Request {
			quantity++
		}
	}
	switch {
	case b.erased[d.Element]:
		return erasure.Gone
	case !exists && !b.dryRun, exists && fact.EntityType == form.Group:
		return problem.MustExist
	case quantity == 0, groupExists && !group.Resource:
		return "request " + problem.MustExist
	case allocated > quantity:
		return "is more than is requested"
	case slices.Contains(row.Elements, d.Element):
		return problem.Taken
	}
	return ""
}

// allocate adds the allocations of the row that the event lacks. With those made by hand they may be more than the row
// requests: the quantity rises with them. It adds the faults of those that exceed the bounds of the event.
func (b *batch) allocate(e *Event, row Row, new IDs, faults problem.Fields) {
	for _, d := range row.Decisions {
		request := b.requestOf(e, d)
		fact, exists := b.elements[d.Element]
		if request == 0 || !exists || e.committed()[fact.ID] {
			continue
		}
		r := e.Request(request)
		quantity := max(r.Quantity, e.Allocated(request)+1)
		wrong := e.checkElement(false, false)["element_id"]
		if quantity > maxQuantity {
			wrong = append(wrong, fmt.Sprintf("is one too many: a request has at most %d", maxQuantity))
		}
		if len(wrong) > 0 {
			faults.Add("decisions", d.Element+" "+wrong[0])
			continue
		}
		last := len(new.Commitments) - 1
		c := Commitment{ID: new.Commitments[last], ElementID: fact.ID, RequestID: request, Status: Requested}
		new.Commitments = new.Commitments[:last]
		e.Commitments = append(e.Commitments, c)
		r.Quantity = quantity
	}
}

// requestOf is the event's request that a decision allocates to; 0 when there is none.
func (b *batch) requestOf(e *Event, d RowDecision) int64 {
	group, exists := b.elements[d.Request]
	i := slices.IndexFunc(e.Requests, func(r Request) bool { return r.ElementID == group.ID })
	if !exists || i < 0 {
		return 0
	}
	return e.Requests[i].ID
}

// decide gives an event's commitments their statuses, and its commitments and requests the users who asked, as the row
// says.
func (b *batch) decide(e *Event, row Row) {
	now := time.Now().UTC().Truncate(time.Second)
	for _, d := range row.Decisions {
		request, element, asked := b.requestOf(e, d), b.elements[d.Element].ID, b.users[d.AskedBy].ID
		for i, r := range e.Requests {
			if r.ElementID == element && asked != 0 {
				e.Requests[i].AddedBy = asked
			}
		}
		i := slices.IndexFunc(e.Commitments, func(c Commitment) bool {
			return c.RequestID == request && c.ElementID == element
		})
		if i < 0 {
			continue
		}
		c := &e.Commitments[i]
		if asked != 0 {
			c.AddedBy = asked
		}
		if d.Status != Uncontrolled || d.Request != "" {
			c.become(d, b.users[d.DecidedBy].ID, now)
		}
	}
}

// become gives a commitment the decision of a row. If it already has the status and the reason, it stays as it is, with
// its decider and time, unless the row gives another time. A commitment that is requested again keeps the user who
// returned it.
func (c *Commitment) become(d RowDecision, by int64, now time.Time) {
	told := d.DecidedAt.UTC().Truncate(time.Millisecond) // as it is stored
	if c.Status == d.Status && c.Reason == d.Reason && c.DecidedBy == by &&
		(d.DecidedAt.IsZero() || told.Equal(c.DecidedAt)) {
		return
	}
	c.Status, c.Reason, c.DecidedBy, c.DecidedAt = d.Status, d.Reason, 0, time.Time{}
	switch {
	case d.Status == Uncontrolled:
	case !d.DecidedAt.IsZero():
		c.DecidedBy, c.DecidedAt = by, told
	case d.Status == Requested:
		c.DecidedBy = by
	default:
		c.DecidedBy, c.DecidedAt = by, now
	}
}
