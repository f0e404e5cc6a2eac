// Package record holds what every service says of a stored record: that it is missing, unchanged or invalid, and
// the outcome of its import. It is plain data for stores, domain packages and handlers.
package record

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

type dryRun struct{}

// DryRun returns a context in which nothing is stored: reads, checks and answers are those of the real call. Stores
// (mongostore, journal) look at it; a use case does only where it writes past them, or makes a secret.
func DryRun(ctx context.Context) context.Context { return context.WithValue(ctx, dryRun{}, true) }

// IsDryRun says whether the context is one of DryRun.
func IsDryRun(ctx context.Context) bool { return ctx.Value(dryRun{}) != nil }

// Match is the versions of a record that a client allows to be changed (If-Match, decisions part 1). The domain
// checks it inside Change, against the version that is about to be replaced. The zero Match accepts any version.
type Match struct {
	demanded bool
	versions []int64
}

// Versions returns a Match that accepts only those versions, and none when there are none.
func Versions(versions ...int64) Match { return Match{true, versions} }

// Check returns nil when the Match accepts that version, and PreconditionFailed otherwise.
func (m Match) Check(version int64) error {
	if m.demanded && !slices.Contains(m.versions, version) {
		return problem.New(problem.PreconditionFailed, "the record is not at a version that If-Match names")
	}
	return nil
}
