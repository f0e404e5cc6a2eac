package event

import (
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// Status of a commitment (contract 3.1).
type Status string

// The statuses.
const (
	Uncontrolled Status = "uncontrolled"
	Confirmed    Status = "confirmed"
	Requested    Status = "requested"
	Rejected     Status = "rejected"
	Noted        Status = "noted"
)

// Statuses lists every status.
func Statuses() []Status { return []Status{Uncontrolled, Confirmed, Requested, Rejected, Noted} }

// Valid says whether s is a status.
func (s Status) Valid() bool { return slices.Contains(Statuses(), s) }

// decisions returns the statuses to which an administrator of the element may move a commitment from s (decisions,
// part 5).
func (s Status) decisions() []Status {
	switch s {
	case Requested:
		return []Status{Confirmed, Rejected, Noted}
	case Noted:
		return []Status{Confirmed, Rejected, Requested}
	case Rejected:
		return []Status{Confirmed, Noted, Requested}
	case Confirmed:
		return []Status{Rejected, Requested}
	}
	return nil // uncontrolled never moves
}

// decidable says whether an administrator's decision may move a commitment from s.
func (s Status) decidable() bool { return len(s.decisions()) > 0 }

// decided says whether an administrator has acted on a commitment of status s.
func (s Status) decided() bool { return s == Confirmed || s == Rejected || s == Noted }

// waits says whether a commitment of status s still waits for a final decision.
func (s Status) waits() bool { return s == Requested || s == Noted }

// statusFor is the status of a new commitment to an element (contract 3.1, decisions part 5).
func statusFor(p principal.Principal, element fact.Element) Status {
	if element.Controlled() && !element.DecidedBy(p) {
		return Requested
	}
	return Uncontrolled
}

// StaysDecided says whether decisions about an element stay when p re-times an event: if it is not controlled for p, or
// p decides on it (decisions, part 4). The zero Element is not controlled.
func StaysDecided(p principal.Principal, element fact.Element) bool {
	return !element.Controlled() || element.DecidedBy(p)
}

// reconsider moves the decided commitments of an event that p re-times back to requested where they don't stay. An
// element that facts lacks counts as not controlled.
func (e *Event) reconsider(p principal.Principal, facts map[int64]fact.Element) {
	e.reopen(func(element int64) bool { return StaysDecided(p, facts[element]) })
}

// reopen moves decided commitments back to requested, except those to elements whose decisions stay.
func (e *Event) reopen(stays func(element int64) bool) {
	for i, c := range e.Commitments {
		if c.Status.decided() && !stays(c.ElementID) {
			e.Commitments[i] = Commitment{
				ID: c.ID, ElementID: c.ElementID, Status: Requested, RequestID: c.RequestID, AddedBy: c.AddedBy,
			}
		}
	}
}
