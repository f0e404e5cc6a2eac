// Package fact holds the part of a service's records that other services may read, and the questions for it. It is
// plain data, so that domain packages may import it; package neighbour sends the questions.
package fact

import (
	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Reach is an element whose commitments count for another, and the days on which they do: the element itself on all
// days of the question, a group on the days of the membership.
type Reach struct {
	ElementID int64           `json:"element_id"`
	Days      []wiretime.Days `json:"days"`
}

// ChangesQuestion asks for the changes of a service's records after a place in its log, up to limit, or, without one,
// where the log ends.
type ChangesQuestion struct {
	After *change.Position `json:"after,omitempty"`
	Limit int              `json:"limit"`
}

// ErasureQuestion asks a service for the next step of an erasure, after a place; "" is before the first.
type ErasureQuestion struct {
	Person erasure.Person `json:"person"`
	After  string         `json:"after,omitempty"`
}

// ErasureStep is what a step did: how many records it changed, and the place to go on after, "" after the last step.
type ErasureStep struct {
	After   string `json:"after,omitempty"`
	Changed int    `json:"changed"`
}
