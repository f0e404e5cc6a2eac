package accesslog

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/erasure"
)

// Erase is the log's part of an erasure: it deletes the entries on reads of the person, and the network addresses in
// those on reads by the person's users.
func (l *Log) Erase(p erasure.Person) erasure.Part {
	return func(ctx context.Context, _ string) (next string, changed int, err error) {
		if err := l.write(ctx); err != nil { // other processes write theirs within a second
			return "", 0, err
		}
		gone, err := l.entries.DeleteMany(ctx, bson.D{{Key: "element", Value: p.ElementID}})
		if err != nil {
			return "", 0, fmt.Errorf("erase accesses: %w", err)
		}
		changed = int(gone.DeletedCount)
		if len(p.UserIDs) == 0 {
			return "", changed, nil
		}
		bare, err := l.entries.UpdateMany(ctx,
			bson.D{
				{Key: "actors", Value: bson.D{{Key: "$in", Value: p.UserIDs}}},
				{Key: "from", Value: bson.D{{Key: "$exists", Value: true}}},
			},
			bson.D{{Key: "$unset", Value: bson.D{{Key: "from", Value: ""}}}})
		if err != nil {
			return "", changed, fmt.Errorf("erase addresses of accesses: %w", err)
		}
		return "", changed + int(bare.ModifiedCount), nil
	}
}
