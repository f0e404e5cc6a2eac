package changelog

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/record"
)

// Append does what Flush does, and ends before it removes anything from the documents, as a process that is killed
// there does.
func (l *Log) Append(ctx context.Context) error {
	found := make([]pending, len(l.Sources))
	for i, s := range l.Sources {
		var err error
		if found[i], err = l.findPending(ctx, s); err != nil {
			return err
		}
	}
	batches, err := l.batches.list(ctx)
	if err != nil {
		return err
	}
	for _, b := range batches {
		if _, _, err := l.appendBatch(ctx, b.ID); err != nil && !errors.Is(err, record.ErrNotFound) {
			return err
		}
	}
	for _, p := range found {
		if err := l.copy(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// KeepMost bounds the changes that Sweep leaves.
func (l *Log) KeepMost(n int64) { l.most = n }

// FlushClosed does what the loop does most times.
func (l *Log) FlushClosed(ctx context.Context) error { return l.flush(ctx, false) }

// Hold keeps the log from moving anything until release is called.
func (l *Log) Hold() (release func()) {
	l.atWork <- struct{}{}
	return func() { <-l.atWork }
}
