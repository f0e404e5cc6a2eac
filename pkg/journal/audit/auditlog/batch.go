package auditlog

import (
	"context"
	"sync"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
)

// Batch is one running import: a call that may write up to 1,000 records. Its writes have no entries of their own.
// The entry import, with the kind, the number of records and the first and last key, is stored before the first
// record, so that no write is without an entry when the process dies. The entry imported, with the counts, is stored
// at the end. A batch that writes nothing leaves no entry.
type Batch struct {
	log     *Log
	record  audit.Record
	opening []audit.Change

	mu    sync.Mutex
	begun bool
}

// NewBatch returns an import of that kind with records of those keys. There must be at least one key.
func (l *Log) NewBatch(kind string, keys []string) *Batch {
	opening := audit.Compare(nil, []audit.Value{
		audit.Int("records", int64(len(keys))), audit.Text("first_key", keys[0]),
		audit.Text("last_key", keys[len(keys)-1]),
	})
	return &Batch{log: l, record: audit.Record{Type: audit.Batches, ID: kind}, opening: opening}
}

// Begin implements audit.Batch.
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

// End stores the counts of the import. It writes nothing when no record was written.
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
