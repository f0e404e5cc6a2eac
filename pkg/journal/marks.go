package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// mark is that of one write; the zero mark is one of records that nobody keeps in memory.
type mark struct {
	marks Marks
	is    directory.Stamp
}

// mark opens the mark of a write about the keys.
func (c *Collection[D, R]) mark(ctx context.Context, keys []directory.Key) (mark, error) {
	if c.o.Marks == nil {
		return mark{}, nil
	}
	s, err := c.o.Marks.Open(ctx, keys)
	return mark{c.o.Marks, s}, err
}

// stamp makes a document one that is written under the mark.
func (m mark) stamp(t *Tail) {
	if m.marks != nil {
		t.Stamp = &m.is
	}
}

// close ends the mark of a write that is stored.
func (m mark) close(ctx context.Context, keys []directory.Key) error {
	if m.marks == nil {
		return nil
	}
	return m.marks.Close(ctx, m.is, keys)
}

// cancel ends the mark of a write that is not stored, and never will be. When that fails, the mark runs out.
func (m mark) cancel(ctx context.Context) {
	if m.marks != nil {
		_ = m.marks.Cancel(ctx, m.is)
	}
}

// fail is called with the error of a write. The mark stays when the write may be stored all the same, now or later.
func (m mark) fail(ctx context.Context, err error) {
	if mongostore.IsDuplicateKey(err) || errors.Is(err, mongostore.ErrConflict) {
		m.cancel(ctx)
	}
}

// keys returns what a record is about.
func (c *Collection[D, R]) keys(id int64, r R) []directory.Key {
	if c.o.Marks == nil {
		return nil
	}
	return c.o.Keys(id, r)
}

// settleAll makes sure that documents may be shown that were read by Reader.
func (c *Collection[D, R]) settleAll(ctx context.Context, documents []D) error {
	if c.o.Marks == nil {
		return nil
	}
	var open []directory.Document
	for i := range documents {
		if d := &documents[i]; !c.o.Marks.Closed(c.tail(d).Stamp) {
			open = append(open, c.read(d))
		}
	}
	if len(open) == 0 {
		return nil
	}
	return c.o.Marks.Settle(ctx, open)
}

func (c *Collection[D, R]) settle(ctx context.Context, d *D) error {
	if c.o.Marks == nil || c.o.Marks.Closed(c.tail(d).Stamp) {
		return nil
	}
	return c.o.Marks.Settle(ctx, []directory.Document{c.read(d)})
}

func (c *Collection[D, R]) read(d *D) directory.Document {
	head := c.head(d)
	return directory.Document{
		Name:  fmt.Sprintf("%s:%d:%d", c.o.Collection.Name(), head.ID, head.Version),
		Stamp: c.tail(d).Stamp,
		Keys:  c.keys(head.ID, c.o.Record(d)),
	}
}
