package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

func open(t *testing.T) (*users, *mongo.Database) {
	t.Helper()
	db := storetest.Mongo(t)
	errortest.None(t, EnsureIndexes(t.Context(), db))
	return New(db, mongostore.NewIDs(db), nil, nil).(*users), db
}

// person is a user whose values are all set, different for each n.
func person(n int) *user.User {
	return &user.User{
		Key: fmt.Sprint("k", n), ImportHash: fmt.Sprint("h", n), Name: fmt.Sprint("Person ", n),
		Email: fmt.Sprintf("P%d@School.example", n),
		Kind:  principal.Guest, ElementID: int64(n), Active: true,
		Permissions: principal.Permissions{CanAPI: true, Admin: n == 1},
		UUIDHash:    user.HashUUID(fmt.Sprint("uuid-of-person-", n)), SessionsSince: 1,
	}
}

func insert(t *testing.T, s *users, users ...*user.User) {
	t.Helper()
	refused, err := s.Insert(t.Context(), users)
	errortest.None(t, errors.Join(append(refused, err)...))
}

func TestWhatIsStoredComesBack(t *testing.T) {
	s, _ := open(t)
	a, b := person(1), person(2)
	insert(t, s, a, b)
	valuetest.Holds(t, a.ID != 0 && a.ID != b.ID && a.Version == 1, "ids %d and %d, version %d", a.ID, b.ID, a.Version)
	for name, read := range map[string]func() ([]user.User, error){
		"by id":    func() ([]user.User, error) { return s.Find(t.Context(), []int64{a.ID, 999}) },
		"by key":   func() ([]user.User, error) { return s.FindByKeys(t.Context(), []string{"k1", "", "k9"}) },
		"by uuid":  func() ([]user.User, error) { return s.FindByUUIDHashes(t.Context(), []string{a.UUIDHash, ""}) },
		"by email": func() ([]user.User, error) { return s.ListByEmail(t.Context(), "p1@school.example") },
		"by emails": func() ([]user.User, error) {
			return s.FindByEmails(t.Context(), []string{"p1@school.example", "p9@school.example"})
		},
		"paged": func() ([]user.User, error) { return s.List(t.Context(), user.Filter{After: a.ID - 1, Limit: 1}) },
	} {
		found, err := read()
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %d users, %v", name, len(found), err)
			continue
		}
		if diff := cmp.Diff(*a, found[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if found, err := s.Find(t.Context(), nil); len(found) != 0 || err != nil {
		t.Errorf("no ids give %v, %v", found, err)
	}
}

func TestPart5_6_AllWithAnAddressComeByID(t *testing.T) {
	s, _ := open(t)
	var want []int64
	for n := range 5 {
		u := person(n)
		u.Email, u.DuplicateEmail = []string{"Shared@School.example", "shared@school.EXAMPLE"}[n%2], n > 0
		insert(t, s, u)
		want = append(want, u.ID)
	}
	found, err := s.ListByEmail(t.Context(), user.FoldEmail("SHARED@school.example"))
	errortest.None(t, err)
	got := sequence.Map(found, func(u user.User) int64 { return u.ID })
	valuetest.List(t, got, want)
}

func TestUUIDsAndKeysAreUnique(t *testing.T) {
	s, _ := open(t)
	insert(t, s, person(1))
	sameUUID, sameKey, good := person(2), person(3), person(4)
	sameUUID.UUIDHash, sameKey.Key = person(1).UUIDHash, person(1).Key
	refused, err := s.Insert(t.Context(), []*user.User{sameUUID, good, sameKey})
	errortest.None(t, err)
	if !errors.Is(refused[0], user.ErrUUIDTaken) || refused[1] != nil || !errors.Is(refused[2], user.ErrKeyTaken) {
		t.Errorf("refused %v", refused)
	}
	errortest.Is(t, errortest.Of(s.Change(t.Context(), good.ID,
		func(u *user.User) error { u.UUIDHash = person(1).UUIDHash; return nil })), user.ErrUUIDTaken,
		"a change to another's uuid")
	byHand, another := person(5), person(6)
	byHand.Key, another.Key = "", ""
	insert(t, s, byHand, another) // those without a key do not collide
	if found, err := s.FindByKeys(t.Context(), []string{""}); err != nil || len(found) != 0 {
		t.Errorf("the empty key finds %v, %v", found, err)
	}
}

// TestHardToBreak_Row20_OneActiveUserClaimsAnAddress: of those who write at once, in any replica, too.
func TestHardToBreak_Row20_OneActiveUserClaimsAnAddress(t *testing.T) {
	s, _ := open(t)
	const writers = 8
	made := make(chan error, writers)
	for n := range writers {
		go func() {
			u := person(n)
			u.Email = []string{"Shared@School.example", "shared@school.EXAMPLE"}[n%2]
			refused, err := s.Insert(t.Context(), []*user.User{u})
			made <- errors.Join(append(refused, err)...)
		}()
	}
	stored := 0
	for range writers {
		switch err := <-made; {
		case err == nil:
			stored++
		case !errors.Is(err, user.ErrEmailTaken):
			t.Error(err)
		}
	}
	valuetest.Same(t, stored, 1, "users have the address")
	first, err := s.ListByEmail(t.Context(), "shared@school.example")
	valuetest.MustHold(t, err == nil && len(first) == 1, "%v, %v", first, err)
	meant, away := person(20), person(21)
	meant.Email, meant.DuplicateEmail = first[0].Email, true
	away.Email, away.Active = first[0].Email, false
	insert(t, s, meant, away)
	for name, change := range map[string]func(*user.User) error{
		"no longer meant": func(u *user.User) error { u.DuplicateEmail = false; return nil },
		"active again":    func(u *user.User) error { u.Active, u.DuplicateEmail = true, false; return nil },
	} {
		id := map[string]int64{"no longer meant": meant.ID, "active again": away.ID}[name]
		errortest.Is(t, errortest.Of(s.Change(t.Context(), id, change)), user.ErrEmailTaken, name)
	}
	leave := func(u *user.User) error { u.Active = false; return nil }
	errortest.None(t, errortest.Of(s.Change(t.Context(), first[0].ID, leave)))
	back := func(u *user.User) error { u.Active = true; return nil }
	errortest.Report(t, errortest.Of(s.Change(t.Context(), away.ID, back)), "the address is free")
}

func TestHardToBreak_Row07_AChangeThatSessionsFollowIsStoredWithItsTime(t *testing.T) {
	s, _ := open(t)
	u := person(1)
	insert(t, s, u)
	for _, c := range []struct {
		name    string
		change  func(*user.User) error
		follow  bool
		version int64
	}{
		{"nothing", func(*user.User) error { return record.ErrUnchanged }, false, 1},
		{"a name", func(u *user.User) error { u.Name = "Other"; return nil }, false, 2},
		{"a permission", func(u *user.User) error { u.Permissions.CanSU = true; return nil }, true, 3},
		{"a name again", func(u *user.User) error { u.Name = "Third"; return nil }, false, 4},
		{"the end of sessions", func(u *user.User) error { u.SessionsSince = 5; return nil }, true, 5},
		{"deactivation", func(u *user.User) error { u.Active = false; return nil }, true, 6},
	} {
		since := time.Now().Truncate(time.Millisecond)
		for time.Now().Before(since.Add(2 * time.Millisecond)) { // so that no time before is taken for one since
			time.Sleep(time.Millisecond)
		}
		changed, err := s.Change(t.Context(), u.ID, c.change)
		if err != nil || changed.Version != c.version {
			t.Fatalf("%s: version %d, %v; want %d", c.name, changed.Version, err, c.version)
		}
		users, _, err := s.ListRevoked(t.Context(), since.Add(time.Millisecond))
		errortest.None(t, err)
		valuetest.Same(t, len(users) == 1 && cmp.Equal(users[0], changed), c.follow,
			"%s: sessions have to follow %v", c.name, users)
	}
	failure := errors.New("no")
	errortest.Is(t, errortest.Of(s.Change(t.Context(), u.ID, func(*user.User) error { return failure })), failure,
		"the change's error")
	errortest.Is(t, errortest.Of(s.Change(t.Context(), 999, func(*user.User) error { return nil })), record.ErrNotFound,
		"an unknown id")
}

func TestHardToBreak_Row07_OfEachUserTheLastHundredEndedSessionsAreRemembered(t *testing.T) {
	s, _ := open(t)
	const many, others = 250, 20
	since := time.Now().Add(-time.Millisecond)
	var wg sync.WaitGroup
	for id := range int64(others) {
		wg.Go(func() {
			for _, hash := range []string{"a", "b"} {
				errortest.Report(t, s.MarkEnded(context.WithoutCancel(t.Context()), 2, fmt.Sprint(hash, id)))
			}
		})
	}
	wg.Wait()
	for n := range many {
		errortest.None(t, s.MarkEnded(t.Context(), 1, fmt.Sprint(n)))
	}
	_, ended, err := s.ListRevoked(t.Context(), since)
	errortest.None(t, err)
	valuetest.Same(t, len(ended), endedKept+2*others, "ended sessions")
	for n := many - endedKept; n < many; n++ {
		valuetest.Holds(t, slices.Contains(ended, fmt.Sprint(n)), "session %d is forgotten", n)
	}
	if _, ended, err = s.ListRevoked(t.Context(), time.Now().Add(time.Second)); err != nil || len(ended) > 0 {
		t.Errorf("ended in the future: %v, %v", ended, err)
	}
}

// TestPrivacy_EndedSessionsAreForgotten: the hashes and times of a user's last logouts were kept for ever.
func TestPrivacy_EndedSessionsAreForgotten(t *testing.T) {
	s, db := open(t)
	ended := endedCollection(db)
	at := time.Now()
	old := at.Add(-time.Hour)
	errortest.None(t, errortest.Of(ended.InsertMany(t.Context(), []any{
		endedDocument{UserID: 1, At: old, Sessions: []endedSession{{Hash: "old", At: old}}},
		endedDocument{UserID: 2, At: at, Sessions: []endedSession{{Hash: "new", At: at}}},
	})))
	errortest.None(t, s.ForgetEnded(t.Context(), at.Add(-time.Minute)))
	_, left, err := s.ListRevoked(t.Context(), time.Time{})
	errortest.None(t, err)
	valuetest.Holds(t, slices.Equal(left, []string{"new"}), "left are %v", left)
}

func TestFindAdministrators_AreActive(t *testing.T) {
	s, _ := open(t)
	administrator, inactive, plain := person(1), person(2), person(3)
	inactive.Permissions.Admin, inactive.Active = true, false
	insert(t, s, administrator, inactive, plain)
	if ids, err := s.FindAdministrators(t.Context(), 2); err != nil || !slices.Equal(ids, []int64{administrator.ID}) {
		t.Errorf("got %v, %v", ids, err)
	}
}

func TestNoRequestScansTheUsers(t *testing.T) {
	s, db := open(t)
	users := make([]*user.User, 3000)
	for n := range users {
		users[n] = person(n)
	}
	insert(t, s, users...)
	for name, command := range map[string]bson.D{
		"by ids":   {{Key: "filter", Value: withIDs([]int64{users[5].ID, users[6].ID})}},
		"by keys":  {{Key: "filter", Value: withKeys([]string{"k5", "k7"})}},
		"by uuids": {{Key: "filter", Value: withUUIDHashes([]string{users[5].UUIDHash})}},
		"by email": {{Key: "filter", Value: withEmail("p5@school.example")}, {Key: "sort", Value: byID()}},
		"a page": {{Key: "filter", Value: byFilter(user.Filter{After: users[2900].ID})}, {Key: "sort", Value: byID()},
			{Key: "limit", Value: 100}},
		"a page of a school": {
			{Key: "filter", Value: byFilter(user.Filter{Elements: []int64{7, 9}, After: users[100].ID})},
			{Key: "sort", Value: byID()}, {Key: "limit", Value: 100},
		},
		"administrators of schools": {
			{Key: "filter", Value: byFilter(user.Filter{AdminOf: []int64{7, 9}})},
			{Key: "sort", Value: byID()}, {Key: "limit", Value: 100},
		},
		"governing": {{Key: "filter", Value: activeAdministrators()}, {Key: "limit", Value: 2}},
		"changed":   {{Key: "filter", Value: changedSince(time.Now())}},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.NoScan(t, db, append(bson.D{{Key: "find", Value: "users"}}, command...))
		})
	}
}

func TestNoRequestScansTheEndedSessions(t *testing.T) {
	s, db := open(t)
	documents := make([]any, 3000)
	for n := range documents {
		documents[n] = endedDocument{UserID: int64(n), At: time.UnixMilli(int64(n)), Sessions: []endedSession{}}
	}
	errortest.None(t, errortest.Of(s.ended.InsertMany(t.Context(), documents)))
	storetest.NoScan(t, db, bson.D{
		{Key: "find", Value: "ended_sessions"}, {Key: "filter", Value: endedSince(time.UnixMilli(2990))},
	})
}

func TestAdministration_TheFirstAdministratorIsMadeOnce(t *testing.T) {
	s, db := open(t)
	const uuid = "bootstrap-uuid-of-the-test"
	var made atomic.Int64
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			// Each as a process of its own, with ids of its own.
			first, err := user.EnsureFirst(context.WithoutCancel(t.Context()), New(db, mongostore.NewIDs(db), nil, nil),
				uuid)
			errortest.Report(t, err)
			if first {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	found, err := s.List(t.Context(), user.Filter{Limit: 10})
	if err != nil || made.Load() != 1 || len(found) != 1 {
		t.Fatalf("made %d times; %d users, %v", made.Load(), len(found), err)
	}
	if u := found[0]; u.Permissions != principal.All() || !u.MayLogIn() || u.UUIDHash != user.HashUUID(uuid) {
		t.Errorf("the first administrator is %+v", u)
	}
	if again, err := user.EnsureFirst(t.Context(), s, "another-uuid-some-day"); again || err != nil {
		t.Errorf("with a user there: made %t, %v", again, err)
	}
}
