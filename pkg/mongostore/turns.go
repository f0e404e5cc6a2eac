package mongostore

import "context"

// gates is how many there are. Documents that share one by chance wait for each other, which costs a write's time.
const gates = 1024

// Turns has the writers of one process to the same document go one after another, first come, first served. Update is right without it, but a
// hundred writers at once would lose to each other again and again, and load the server with what they lose; with it, a writer's only rivals
// are those of the other replicas.
type Turns struct{ gates [gates]chan struct{} }

// NewTurns returns the turns of a collection's writers.
func NewTurns() *Turns {
	t := &Turns{}
	for i := range t.gates {
		t.gates[i] = make(chan struct{}, 1)
	}
	return t
}

// Take waits for the turn to write the document with the id, until the context ends. Call done once, when the document is written.
func (t *Turns) Take(ctx context.Context, id int64) (done func(), err error) {
	gate := t.gates[uint64(id)%gates]
	select {
	case gate <- struct{}{}:
		return func() { <-gate }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
