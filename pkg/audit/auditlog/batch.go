package auditlog

import (
	"context"
	"sync"

	"github.com/belfry-schools/belfry/pkg/audit"
)

// Batch is one import at work: a call that may write up to 1,000 records. Its writes have no entries of their own.
// An entry import, with the kind, the number of records and their keys from the first to the last, is there before
// the first of them is written, so that a process that dies in between leaves no write without one; an entry
// imported, with the counts, when all is done. A batch that writes nothing leaves none.
type Batch struct {
	log     *Log
	record  audit.Record
	opening []audit.Change

	mu    sync.Mutex
	begun bool
}

// NewBatch returns an import of that kind with records of those keys, which are not empty.
func (l *Log) NewBatch(kind string, keys []string) *Batch {
	return &Batch{log: l, record: audit.Record{Type: "Import", ID: kind}, opening: audit.Compare(nil, []audit.Value{
		audit.Int("records", int64(len(keys))), audit.Text("first_key", keys[0]),
		audit.Text("last_key", keys[len(keys)-1]),
	})}
}

// Begin implements audit.Batch: one round trip the first time.
func (b *Batch) Begin(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.begun {
		return nil
	}
	if err := b.log.Record(ctx, audit.Make(ctx, audit.Import, b.record, b.opening)); err != nil {
		return err
	}
	b.begun = true
	return nil
}

// End says what became of the records. One round trip, none when nothing was written.
func (b *Batch) End(ctx context.Context, created, updated, unchanged, failed int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.begun {
		return nil
	}
	counts := audit.Compare(nil, []audit.Value{
		audit.Int("created", int64(created)), audit.Int("updated", int64(updated)),
		audit.Int("unchanged", int64(unchanged)), audit.Int("failed", int64(failed)),
	})
	return b.log.Record(ctx, audit.Make(ctx, audit.Imported, b.record, append(b.opening, counts...)))
}
