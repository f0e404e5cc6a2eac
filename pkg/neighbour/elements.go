package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
)

// Elements asks the elements service.
type Elements struct{ peer peer }

// NewElements returns the client for the service whose internal listener is at base.
func NewElements(t *Transport, base string) *Elements { return &Elements{peer{t, base, "elements"}} }

// FactsPath is where elements answers Facts.
const FactsPath = "/internal/elements/facts"

// FactsReply holds the elements that exist, current or not, in no order.
type FactsReply struct {
	Elements []fact.Element `json:"elements"`
}

// Facts returns those of the elements asked for that exist.
func (e *Elements) Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error) {
	if len(q.IDs)+len(q.Keys) == 0 {
		return nil, nil
	}
	reply, err := read[fact.ElementsQuestion, FactsReply](ctx, e.peer, FactsPath, q)
	return reply.Elements, err
}

// AdministeredPath is where elements answers Administered.
const AdministeredPath = "/internal/elements/administered"

// Administered returns the elements that the user is an administrator of, current or not, in no order.
func (e *Elements) Administered(ctx context.Context, userID int64) ([]fact.Element, error) {
	reply, err := read[fact.AdministeredQuestion, FactsReply](ctx, e.peer, AdministeredPath, fact.AdministeredQuestion{UserID: userID})
	return reply.Elements, err
}

// ReachesPath is where elements answers Reaches.
const ReachesPath = "/internal/elements/reaches"

// ReachesReply holds the elements that exist, in the order asked for.
type ReachesReply struct {
	Elements []fact.ElementReaches `json:"elements"`
}

// Reaches returns whose commitments count for elements on a run of days: their own, and those of their groups on the days of membership.
func (e *Elements) Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error) {
	if len(q.IDs) == 0 {
		return nil, nil
	}
	reply, err := read[fact.ReachesQuestion, ReachesReply](ctx, e.peer, ReachesPath, q)
	return reply.Elements, err
}

// PupilsPath is where elements answers Pupils.
const PupilsPath = "/internal/elements/pupils"

// PupilsReply holds each pupil once, in order of id.
type PupilsReply struct {
	Pupils []form.Element `json:"pupils"`
}

// Pupils returns the current pupils who are one of the elements or belong to one on any of the days, nested groups resolved. There may be a few
// besides, whose memberships of nested groups don't meet on any day: Reaches is exact.
func (e *Elements) Pupils(ctx context.Context, q fact.PupilsQuestion) ([]form.Element, error) {
	if len(q.IDs) == 0 {
		return nil, nil
	}
	reply, err := read[fact.PupilsQuestion, PupilsReply](ctx, e.peer, PupilsPath, q)
	return reply.Pupils, err
}
