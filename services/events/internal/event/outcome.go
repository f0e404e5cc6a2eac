package event

import "github.com/belfry-schools/belfry/pkg/problem"

// Action is what an import did with a record.
type Action string

// The actions.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged"
	Failed    Action = "failed"
)

// Outcome of one record of an import.
type Outcome struct {
	Action Action
	ID     int64 // 0: failed, or would be created
	Faults problem.Fields
}
