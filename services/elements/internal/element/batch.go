package element

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// maxAttempts bounds how often a write of many records starts over for those that other writers changed meanwhile.
const maxAttempts = 5

// retry makes attempts until one is done or fails; Conflict when others interfere in all of them.
func retry(ctx context.Context, attempt func(context.Context) (done bool, err error)) error {
	for range maxAttempts {
		if done, err := attempt(ctx); done || err != nil {
			return err
		}
	}
	return problem.New(problem.Conflict, "others kept changing the record")
}

// changes are the records that one attempt is to write.
type changes[T any] struct{ created, updated []T }

// writer is Store or MembershipStore.
type writer[T any] interface {
	Insert(ctx context.Context, records []T) (duplicates []int, err error)
	Replace(ctx context.Context, records []T) (all bool, err error)
}

// write sets the ids of the created records. It returns the positions of those that a unique key kept out, and
// whether all the updated ones were still at the version at which they were read.
func (c changes[T]) write(ctx context.Context, w writer[T]) (duplicates []int, all bool, err error) {
	if duplicates, err = w.Insert(ctx, c.created); err != nil {
		return nil, false, err
	}
	all, err = w.Replace(ctx, c.updated)
	return duplicates, all, err
}
