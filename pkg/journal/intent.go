package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record"
)

// writeIntent is the intent of one write; the zero value is for records that are not in the directory.
type writeIntent struct {
	directory Directory
	name      directory.Intent
}

// intend opens the intent of a write about the keys; none in a dry run.
func (c *Collection[D, R]) intend(ctx context.Context, keys []directory.Key) (writeIntent, error) {
	if c.o.Directory == nil || record.IsDryRun(ctx) {
		return writeIntent{}, nil
	}
	name, err := c.o.Directory.Open(ctx, keys)
	return writeIntent{c.o.Directory, name}, err
}

// nameIn names the intent in a document that is written under it.
func (i writeIntent) nameIn(t *Tail) {
	if i.directory != nil {
		t.Intent = &i.name
	}
}

// close closes the intent of a write that is stored.
func (i writeIntent) close(ctx context.Context, keys []directory.Key) error {
	if i.directory == nil {
		return nil
	}
	return i.directory.Close(ctx, i.name, keys)
}

// cancel closes the intent of a write that is not stored and never will be. When that fails, the intent expires.
func (i writeIntent) cancel(ctx context.Context) {
	if i.directory != nil {
		_ = i.directory.Cancel(ctx, i.name)
	}
}

// fail handles the error of a write. The intent stays open if the write may still be stored.
func (i writeIntent) fail(ctx context.Context, err error) {
	if mongostore.IsDuplicateKey(err) || errors.Is(err, mongostore.ErrConflict) {
		i.cancel(ctx)
	}
}

// keys returns the keys of a record.
func (c *Collection[D, R]) keys(id int64, r R) []directory.Key {
	if c.o.Directory == nil {
		return nil
	}
	return c.o.Keys(id, r)
}

// resolve is called before documents that Reader has read are shown.
func (c *Collection[D, R]) resolve(ctx context.Context, documents ...D) error {
	if c.o.Directory == nil {
		return nil
	}
	var open []directory.Document
	for i := range documents {
		if d := &documents[i]; !c.o.Directory.Closed(c.tail(d).Intent) {
			open = append(open, c.read(d))
		}
	}
	if len(open) == 0 {
		return nil
	}
	return c.o.Directory.Resolve(ctx, open)
}

func (c *Collection[D, R]) read(d *D) directory.Document {
	head := c.head(d)
	return directory.Document{
		Name:   fmt.Sprintf("%s:%d:%d", c.o.Collection.Name(), head.ID, head.Version),
		Intent: c.tail(d).Intent,
		Keys:   c.keys(head.ID, c.o.Record(d)),
	}
}
