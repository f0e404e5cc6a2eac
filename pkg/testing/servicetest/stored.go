package servicetest

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// Stored returns all that the system has in its stores: each document as it is, after the name of its collection, and
// each key of Redis with its value.
func (s *System) Stored(t testing.TB) (places []string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	names, err := s.DB.ListCollectionNames(ctx, bson.D{})
	errortest.None(t, err)
	for _, name := range names {
		cursor, err := s.DB.Collection(name).Find(ctx, bson.D{})
		errortest.None(t, err)
		for cursor.Next(ctx) {
			places = append(places, name+": "+string(cursor.Current))
		}
		errortest.None(t, cursor.Err())
	}
	keys, err := s.Redis.Keys(ctx, s.Prefix+"*").Result()
	errortest.None(t, err)
	for _, key := range keys { // a value has one of these types
		places = append(places, fmt.Sprint(key, ": ", s.Redis.Get(ctx, key).Val(), s.Redis.HGetAll(ctx, key).Val(),
			s.Redis.SMembers(ctx, key).Val(), s.Redis.ZRange(ctx, key, 0, -1).Val(),
			s.Redis.LRange(ctx, key, 0, -1).Val(), s.Redis.XRange(ctx, key, "-", "+").Val()))
	}
	return places
}
