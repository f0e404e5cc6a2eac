package store

import (
	"slices"
	"testing"

	metricnoop "go.opentelemetry.io/otel/metric/noop"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// TestDirectory_WhoIsAnElementIsTheSameAtEveryReplica: whichever replica has it in memory, a user who is made, becomes
// another element, or none, is listed as it is from the answer on.
func TestDirectory_WhoIsAnElementIsTheSameAtEveryReplica(t *testing.T) {
	_, db := open(t)
	client, prefix := storetest.Redis(t)
	var replicas []*users
	for range 2 {
		versions := directory.New(directory.Options{Redis: client, Prefix: prefix})
		memory, err := directory.NewMemory(directory.MemoryOptions{
			Versions: versions, Bytes: 1 << 20, Meter: metricnoop.NewMeterProvider(),
		})
		errortest.None(t, err)
		replicas = append(replicas, New(db, mongostore.NewIDs(db), versions, memory).(*users))
	}
	want := func(when string, elements []int64, after int64, limit int, ids ...int64) {
		t.Helper()
		for range 2 { // from the store, then from memory
			for i, s := range replicas {
				users, err := s.List(directory.Begin(t.Context()),
					user.Filter{Elements: elements, After: after, Limit: limit})
				got := sequence.Map(users, func(u user.User) int64 { return u.ID })
				if err != nil || !slices.Equal(got, ids) {
					t.Errorf("%s, replica %d: %v, %v, not %v", when, i, got, err, ids)
				}
			}
		}
	}
	both := []int64{71, 72}
	want("no users", both, 0, 10)
	a, b, c := person(71), person(72), person(73)
	c.ElementID = 71
	for _, u := range []*user.User{a, b, c} {
		insert(t, replicas[1], u)
	}
	want("all", both, 0, 10, a.ID, b.ID, c.ID)
	want("the first page", both, 0, 2, a.ID, b.ID)
	want("the next page", both, b.ID, 2, c.ID)
	want("of one element", []int64{72}, 0, 10, b.ID)
	move := func(id, element int64) {
		t.Helper()
		_, err := replicas[0].Change(t.Context(), id, func(u *user.User) error {
			u.ElementID = element
			return nil
		})
		errortest.None(t, err)
	}
	move(a.ID, 72)
	want("one who is another element, of the one before", []int64{71}, 0, 10, c.ID)
	want("of the one that it is", []int64{72}, 0, 10, a.ID, b.ID)
	want("a page that has to go on behind one who has left", []int64{71}, 0, 1, c.ID)
	move(b.ID, 0)
	want("one who is none", both, 0, 10, a.ID, c.ID)
}
