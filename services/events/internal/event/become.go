package event

import (
	"slices"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// become gives the event exactly the wanted elements, at most MaxSubmitted. Commitments and requests whose elements stay keep their ids and statuses; a request
// gets the quantity of its repetitions, but not less than what is allocated. What was allocated goes only with its request. The rest is
// added as by add.
func (e *Event) become(p principal.Principal, wanted []Submitted, facts map[int64]fact.Element, new ids) []Failure {
	times := map[int64]int{}
	for _, s := range wanted {
		times[s.ID]++
	}
	for _, r := range slices.Clone(e.Requests) {
		if times[r.ElementID] == 0 {
			e.removeRequest(r.ID)
		}
	}
	e.Commitments = slices.DeleteFunc(e.Commitments, func(c Commitment) bool {
		return c.RequestID == 0 && times[c.ElementID] == 0
	})
	var missing []Submitted // those that the event lacks, and those that are too many
	for _, s := range wanted {
		if !e.keep(s.ID, times) {
			missing = append(missing, s)
		}
	}
	return e.add(p, missing, facts, new, nil)
}

// keep settles an element that the event has: a request takes its quantity from all repetitions at once, a commitment takes one.
func (e *Event) keep(element int64, times map[int64]int) bool {
	if i := slices.IndexFunc(e.Requests, func(r Request) bool { return r.ElementID == element }); i >= 0 {
		e.Requests[i].Quantity = max(times[element], e.Allocated(e.Requests[i].ID))
		return true
	}
	if times[element] > 0 && slices.ContainsFunc(e.Commitments, func(c Commitment) bool { return c.ElementID == element }) {
		times[element] = 0
		return true
	}
	return false
}
