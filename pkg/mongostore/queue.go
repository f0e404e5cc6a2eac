package mongostore

import "context"

// gates is the number of queues. Documents that share one by chance wait for each other.
const gates = 1024

// WriterQueues makes the writers of one process to the same document write one after another, first come, first
// served. Update is correct without it. But a hundred writers at once would lose to each other again and again, and
// load the server with their lost writes. With it, a writer competes only with writers of other replicas.
type WriterQueues struct{ gates [gates]chan struct{} }

// NewWriterQueues returns the queues of a collection's writers.
func NewWriterQueues() *WriterQueues {
	t := &WriterQueues{}
	for i := range t.gates {
		t.gates[i] = make(chan struct{}, 1)
	}
	return t
}

// Wait waits until the caller may write the document with the id, or the context ends. Call done once, when the
// document is written.
func (t *WriterQueues) Wait(ctx context.Context, id int64) (done func(), err error) {
	gate := t.gates[uint64(id)%gates]
	select {
	case gate <- struct{}{}:
		return func() { <-gate }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
