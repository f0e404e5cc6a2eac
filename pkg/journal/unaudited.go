package journal

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// The writes of this file leave no entry and no message: nothing that a client can see changes with them.

// Rewrite changes a document, but not the record in it: its shape, or a field that only the store uses. Change is
// also called for tombstones; it returns record.ErrUnchanged when there is nothing to write. Otherwise as
// mongostore.Update.
func (c *Collection[D, R]) Rewrite(ctx context.Context, id int64, change func(*D) error) error {
	_, err := c.update(ctx, id, change)
	return err
}

// Fence stores a tombstone in which nothing is pending, so that the id stays taken for ever.
// mongostore.IsDuplicateKey holds for the error when it is taken already.
func (c *Collection[D, R]) Fence(ctx context.Context, id int64, schema int32) error {
	var d D
	*c.head(&d) = mongostore.Head{ID: id, Schema: schema}
	c.tail(&d).Deleted = true
	return c.insert(ctx, &d)
}

// Forget removes from documents what the store no longer needs, by an update such as $unset. The versions stay.
func (c *Collection[D, R]) Forget(ctx context.Context, filter, update bson.D) error {
	if _, err := c.o.Collection.UpdateMany(ctx, filter, update); err != nil {
		return fmt.Errorf("forget in %s: %w", c.o.Collection.Name(), err)
	}
	return nil
}

// Purge removes the documents that match a filter and in which nothing is pending, without a tombstone. It is for
// records whose end is in the audit as part of another record's. It says whether any are left.
func (c *Collection[D, R]) Purge(ctx context.Context, filter bson.D) (left bool, err error) {
	_, err = c.o.Collection.DeleteMany(ctx, append(filter[:len(filter):len(filter)], mongostore.NonePending()...))
	if err != nil {
		return false, fmt.Errorf("purge %s: %w", c.o.Collection.Name(), err)
	}
	n, err := c.o.Collection.CountDocuments(ctx, filter, options.Count().SetLimit(1))
	if err != nil {
		return false, fmt.Errorf("count what is left of %s: %w", c.o.Collection.Name(), err)
	}
	return n > 0, nil
}
