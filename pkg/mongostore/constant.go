package mongostore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Constant is a random text of the deployment, which the first caller stores, and which never changes.
type Constant struct {
	collection *mongo.Collection
	id         string
	known      atomic.Pointer[string]
}

// NewConstant returns the text that is stored in the collection under the id.
func NewConstant(collection *mongo.Collection, id string) *Constant {
	return &Constant{collection: collection, id: id}
}

type constantDocument struct {
	ID   string `bson:"_id"`
	Text string `bson:"text"`
}

// Get returns the text. It is read once in each process.
func (c *Constant) Get(ctx context.Context) (string, error) {
	if known := c.known.Load(); known != nil {
		return *known, nil
	}
	for {
		var d constantDocument
		err := c.collection.FindOne(ctx, bson.D{{Key: "_id", Value: c.id}}).Decode(&d)
		if err == nil {
			c.known.Store(&d.Text)
			return d.Text, nil
		}
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return "", fmt.Errorf("read %s of %s: %w", c.id, c.collection.Name(), err)
		}
		_, err = c.collection.InsertOne(ctx, constantDocument{ID: c.id, Text: rand.Text()})
		if err != nil && !IsDuplicateKey(err) { // another process stored it meanwhile
			return "", fmt.Errorf("store %s of %s: %w", c.id, c.collection.Name(), err)
		}
	}
}
