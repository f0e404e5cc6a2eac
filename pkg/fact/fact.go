// Package fact is what one service may know of another's records, and the questions by which it comes to know them. It is plain data: package
// neighbour asks the questions, and domain packages import this package alone.
package fact

import "github.com/belfry-schools/belfry/pkg/wiretime"

// Reach is an element whose commitments count, on the days on which they do: the queried element itself on all days asked for, a group
// on those of the membership.
type Reach struct {
	ElementID int64           `json:"element_id"`
	Days      []wiretime.Days `json:"days"`
}
