// Package record holds what every service says of a stored record: that it is missing, unchanged or invalid, and
// the outcome of its import. It is plain data for stores, domain packages and handlers.
package record

import (
	"errors"
	"fmt"

	"github.com/belfry-schools/belfry/pkg/problem"
)

var (
	// ErrNotFound is what a store returns when there is no record with the id.
	ErrNotFound = errors.New("no such record")
	// ErrUnchanged is returned by the function given to a store's Change when nothing needs to be written. The
	// store then returns the record as it is, without an error.
	ErrUnchanged = errors.New("the record is unchanged")
)

// Missing turns a store's ErrNotFound into the problem that clients see: the record of that type ("Event", "Note",
// …) with that id does not exist (contract 7.2). It returns any other error, and nil, unchanged.
func Missing(err error, name string, id int64) error {
	if errors.Is(err, ErrNotFound) {
		return problem.Missing(name, id)
	}
	return err
}

// InvalidError says that a record is invalid and was not written. Record is the record after the change; a field
// with a fault is as stored, or empty. Handlers answer 422 with the record, valid false and the faults as errors
// (contract 7.1, decisions part 1).
type InvalidError[T any] struct {
	Record T
	Faults problem.Fields // by the API's name of the field, never empty
}

// Error is for the log.
func (e *InvalidError[T]) Error() string { return fmt.Sprintf("the record is invalid: %v", e.Faults) }

// Invalid returns an InvalidError, and nil when there are no faults, so that a check can return it directly.
func Invalid[T any](record T, faults problem.Fields) error {
	if len(faults) == 0 {
		return nil
	}
	return &InvalidError[T]{record, faults}
}
