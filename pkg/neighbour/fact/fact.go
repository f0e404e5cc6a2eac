// Package fact holds the part of a service's records that other services may read, and the questions for it. It is
// plain data, so that domain packages may import it; package neighbour sends the questions.
package fact

import "github.com/belfry-schools/belfry/pkg/wiretime"

// Reach is an element whose commitments count for another, and the days on which they do: the element itself on all
// days of the question, a group on the days of the membership.
type Reach struct {
	ElementID int64           `json:"element_id"`
	Days      []wiretime.Days `json:"days"`
}
