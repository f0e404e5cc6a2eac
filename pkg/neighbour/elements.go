package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/form"
)

// Elements asks the elements service.
type Elements struct{ peer peer }

// NewElements returns the client for the service whose internal listener is at base.
func NewElements(t *Transport, base string) *Elements { return &Elements{peer{t, base, "elements"}} }

// FactsPath is where elements answers Facts.
const FactsPath = "/internal/elements/facts"

// FactsQuestion asks for elements by id and by import key ("Staff:17").
type FactsQuestion struct {
	IDs  []int64  `json:"ids,omitempty"`
	Keys []string `json:"keys,omitempty"`
}

// ElementFact is what other services need to know of an element to decide.
type ElementFact struct {
	form.Element
	Key            string  `json:"key,omitempty"` // of the import, with its type; empty when made by hand
	Current        bool    `json:"current"`
	Resource       bool    `json:"resource"` // a resource group: it gets requests, not commitments
	Administrators []int64 `json:"administrators,omitempty"`
}

// Controlled says whether additions of the element have to be asked for (decisions, part 5).
func (f ElementFact) Controlled() bool { return len(f.Administrators) > 0 }

// FactsReply holds the elements that exist, current or not, in no order.
type FactsReply struct {
	Elements []ElementFact `json:"elements"`
}

// Facts returns those of the elements asked for that exist.
func (e *Elements) Facts(ctx context.Context, q FactsQuestion) ([]ElementFact, error) {
	if len(q.IDs)+len(q.Keys) == 0 {
		return nil, nil
	}
	reply, err := read[FactsQuestion, FactsReply](ctx, e.peer, FactsPath, q)
	return reply.Elements, err
}

// AdministeredPath is where elements answers Administered.
const AdministeredPath = "/internal/elements/administered"

// AdministeredQuestion asks for the elements that a user is an administrator of.
type AdministeredQuestion struct {
	UserID int64 `json:"user_id"`
}

// Administered returns the elements that the user is an administrator of, current or not, in no order.
func (e *Elements) Administered(ctx context.Context, userID int64) ([]ElementFact, error) {
	reply, err := read[AdministeredQuestion, FactsReply](ctx, e.peer, AdministeredPath, AdministeredQuestion{userID})
	return reply.Elements, err
}

// ReachesPath is where elements answers Reaches.
const ReachesPath = "/internal/elements/reaches"

// ReachesQuestion asks whose commitments count for elements on a run of days.
type ReachesQuestion struct {
	IDs  []int64 `json:"ids"`
	Days Days    `json:"days"`
}

// ElementReaches is an element that exists with all whose commitments count for it: itself first, then its groups.
type ElementReaches struct {
	ElementID int64   `json:"element_id"`
	Reaches   []Reach `json:"reaches"`
}

// ReachesReply holds the elements that exist, in the order asked for.
type ReachesReply struct {
	Elements []ElementReaches `json:"elements"`
}

// Reaches returns whose commitments count for elements on a run of days: their own, and those of their groups on the days of membership.
func (e *Elements) Reaches(ctx context.Context, q ReachesQuestion) ([]ElementReaches, error) {
	if len(q.IDs) == 0 {
		return nil, nil
	}
	reply, err := read[ReachesQuestion, ReachesReply](ctx, e.peer, ReachesPath, q)
	return reply.Elements, err
}

// PupilsPath is where elements answers Pupils.
const PupilsPath = "/internal/elements/pupils"

// PupilsQuestion asks which pupils elements stand for on a run of days.
type PupilsQuestion struct {
	IDs  []int64 `json:"ids"`
	Days Days    `json:"days"`
}

// PupilsReply holds each pupil once, in order of id.
type PupilsReply struct {
	Pupils []form.Element `json:"pupils"`
}

// Pupils returns the current pupils who are one of the elements or belong to one on any of the days, nested groups resolved. There may be a few
// besides, whose memberships of nested groups don't meet on any day: Reaches is exact.
func (e *Elements) Pupils(ctx context.Context, q PupilsQuestion) ([]form.Element, error) {
	if len(q.IDs) == 0 {
		return nil, nil
	}
	reply, err := read[PupilsQuestion, PupilsReply](ctx, e.peer, PupilsPath, q)
	return reply.Pupils, err
}
