package mongostore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/record"
)

// idBlock is how many ids a process takes from the counter at a time. Those left when the process ends are gaps.
const idBlock = 50

// IDs allocates integer ids, from 1, each at most once over all processes. Ids of one process rise; those of several
// are interleaved in blocks, with gaps. The unique index of _id guards against a repetition. Safe for concurrent use.
type IDs struct {
	counters *mongo.Collection
	mu       sync.Mutex
	blocks   map[string]*block
}

// block is the ids [next, end) that this process still has of one name.
type block struct {
	turn      chan struct{} // holds one token; a waiter can leave when its context ends
	next, end int64
}

// NewIDs uses the collection counters of the database.
func NewIDs(db *mongo.Database) *IDs {
	return &IDs{counters: db.Collection("counters"), blocks: map[string]*block{}}
}

// Next returns one id; 0 in a dry run.
func (ids *IDs) Next(ctx context.Context, name string) (int64, error) {
	if record.IsDryRun(ctx) {
		return 0, nil
	}
	b := ids.block(name)
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if b.next == b.end {
		first, err := ids.Take(ctx, name, idBlock)
		if err != nil {
			return 0, err
		}
		b.next, b.end = first, first+idBlock
	}
	b.next++
	return b.next - 1, nil
}

// Take returns the first of n consecutive ids, for a batch. N must be positive. In a dry run none is taken: the first
// is 0.
func (ids *IDs) Take(ctx context.Context, name string, n int) (first int64, err error) {
	if n < 1 {
		return 0, fmt.Errorf("take %d ids of %s", n, name)
	}
	if record.IsDryRun(ctx) {
		return 0, nil
	}
	for {
		first, err = ids.advance(ctx, name, n)
		if !errors.Is(err, mongo.ErrNoDocuments) {
			break
		}
		// The first ids of this name. An upsert in advance would not do: two at once make one fail, and not every
		// server reports that as a duplicate key there.
		_, err = ids.counters.InsertOne(ctx, bson.D{{Key: "_id", Value: name}, {Key: "next", Value: int64(1)}})
		if err != nil && !IsDuplicateKey(err) {
			break
		}
	}
	if err != nil {
		return 0, fmt.Errorf("take ids of %s: %w", name, err)
	}
	return first, nil
}

// advance adds n to the counter in one atomic step and returns its value before.
func (ids *IDs) advance(ctx context.Context, name string, n int) (int64, error) {
	var counter struct {
		Next int64 `bson:"next"`
	}
	step := bson.D{{Key: "$inc", Value: bson.D{{Key: "next", Value: int64(n)}}}}
	err := ids.counters.FindOneAndUpdate(ctx, byID(name), step).Decode(&counter)
	return counter.Next, err
}

func (ids *IDs) block(name string) *block {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	b := ids.blocks[name]
	if b == nil {
		b = &block{turn: make(chan struct{}, 1)}
		ids.blocks[name] = b
	}
	return b
}

// FirstUUID is the smallest version 7 UUID that a document of that millisecond may have: they begin with the
// milliseconds since 1970 in 48 bits.
func FirstUUID(t time.Time) string {
	var id uuid.UUID
	ms := max(t.UnixMilli(), 0)
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id.String()
}
