package event

import (
	"fmt"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// InvalidError says that a record (Event, Category, CommitmentView or RequestView), as it would have become, is invalid; nothing was
// written. Fields with a fault are those stored, or empty; the id is 0 when it was never stored.
type InvalidError[T any] struct {
	Record T
	Faults problem.Fields
}

// Error says it for logs.
func (e *InvalidError[T]) Error() string { return fmt.Sprintf("the record is invalid: %v", e.Faults) }

func invalid[T any](record T, faults problem.Fields) error { return &InvalidError[T]{record, faults} }
