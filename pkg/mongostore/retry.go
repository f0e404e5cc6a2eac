package mongostore

import (
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	firstPause   = 2 * time.Millisecond
	longestPause = 64 * time.Millisecond
)

// Retry calls write until it is done, with [Pauses] of up to 64 ms. It calls again where write returns false, since
// another writer was first, or an error for which [Conflicted] holds. Any other error of write is returned as it is.
// The options limit the tries or the time, after which the error is ErrConflict. Without one Retry goes on until ctx
// ends.
func Retry(ctx context.Context, write func() (done bool, err error), limits ...backoff.RetryOption) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		done, err := write()
		switch {
		case Conflicted(err):
			err = fmt.Errorf("%w: %w", ErrConflict, err)
		case err != nil:
			err = backoff.Permanent(err)
		case !done:
			err = ErrConflict
		}
		return struct{}{}, err
	}, append([]backoff.RetryOption{backoff.WithBackOff(Pauses(longestPause)), backoff.WithMaxElapsedTime(0)},
		limits...)...)
	return err
}

// Pauses are of random length, so that writers who met do not meet again: the first is below 2 ms, and each may be
// twice as long as the one before, up to the longest.
func Pauses(longest time.Duration) backoff.BackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: firstPause / 2, RandomizationFactor: 1, Multiplier: 2, MaxInterval: longest / 2,
	}
}
