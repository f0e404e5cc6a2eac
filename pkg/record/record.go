// Package record says of any stored record what every service has to say: that it is missing, unchanged or invalid,
// and what an import did with it. It is plain data, for stores, rules and handlers alike.
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

// Missing makes a store's ErrNotFound the problem that clients see: the record of that type name ("Event", "Note",
// …) with that id does not exist (contract 7.2). Any other error, and nil, is returned as it is.
func Missing(err error, name string, id int64) error {
	if errors.Is(err, ErrNotFound) {
		return problem.Missing(name, id)
	}
	return err
}

// InvalidError says that a record is invalid and was not written. Record is as it would have become, a field with a
// fault as it is stored or empty. Handlers answer with 422, the record, valid false and the faults as errors
// (contract 7.1, decisions part 1).
type InvalidError[T any] struct {
	Record T
	Faults problem.Fields // by the API's name of the field, never empty
}

// Error is for the log.
func (e *InvalidError[T]) Error() string { return fmt.Sprintf("the record is invalid: %v", e.Faults) }

// Invalid returns an InvalidError, and nil when there are no faults, so that a check can end with it.
func Invalid[T any](record T, faults problem.Fields) error {
	if len(faults) == 0 {
		return nil
	}
	return &InvalidError[T]{record, faults}
}
