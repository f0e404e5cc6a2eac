package changelog

import "context"

// Append does what Settle does, and ends before it removes anything from the documents, as a process that is killed
// there does.
func (l *Log) Append(ctx context.Context) error {
	for _, s := range l.sources {
		found, err := findPending(ctx, s)
		if err != nil {
			return err
		}
		if err := l.record(ctx, found.items); err != nil {
			return err
		}
	}
	return nil
}

// KeepMost bounds the changes that Sweep leaves.
func (l *Log) KeepMost(n int64) { l.most = n }
