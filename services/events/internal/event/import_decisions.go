package event

import (
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// checkDecisions says what is wrong with what a row says was decided. A decision is of a single element of the row:
// what a request is allocated is no decision.
func (b *batch) checkDecisions(row Row, faults problem.Fields) {
	seen := map[string]bool{}
	for _, d := range row.Decisions {
		fault := func(reason string) { faults.Add("decisions", d.Element+" "+reason) }
		d.Faults = problem.Fields{}
		for _, messages := range d.check() {
			fault(messages[0])
		}
		fact, exists := b.elements[d.Element]
		switch {
		case d.Status == Uncontrolled:
			fault(problem.NotIncluded)
		case seen[d.Element]:
			fault(problem.Taken)
		case !slices.Contains(row.Elements, d.Element), exists && fact.Resource:
			fault(problem.MustExist)
		}
		seen[d.Element] = true
		if _, known := b.users[d.DecidedBy]; d.DecidedBy != "" && !known && !b.dryRun {
			fault("decided_by " + problem.MustExist)
		}
	}
}

// decide gives the commitments of an event the statuses that the row says. A commitment that has the status with the
// reason already stays as it is, with who decided it and when.
func (b *batch) decide(e *Event, row Row) {
	now := time.Now().UTC().Truncate(time.Second)
	for _, d := range row.Decisions {
		i := slices.IndexFunc(e.Commitments, func(c Commitment) bool {
			return c.RequestID == 0 && c.ElementID == b.elements[d.Element].ID
		})
		if i < 0 {
			continue
		}
		c := &e.Commitments[i]
		if c.Status == d.Status && c.Reason == d.Reason && c.DecidedBy == b.users[d.DecidedBy] {
			continue
		}
		c.Status, c.Reason, c.DecidedBy, c.DecidedAt = d.Status, d.Reason, 0, time.Time{}
		if d.Status != Requested {
			c.DecidedBy, c.DecidedAt = b.users[d.DecidedBy], now
		}
	}
}
