package api_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/identity/internal/api"
	"github.com/belfry-schools/belfry/services/identity/internal/store"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// writeTime is short here, so that what a confirmation looks back at is soon past.
const writeTime = 20 * time.Millisecond

// office is identity's use cases on stores that a test sets back, without the service and its loop.
type office struct {
	*user.Service
	store    user.Store
	sessions *session.Store
	redis    *redis.Client
	prefix   string
	users    int
}

func newOffice(t *testing.T, through func(user.Sessions) user.Sessions) *office {
	t.Helper()
	db := storetest.Mongo(t)
	errortest.None(t, store.EnsureIndexes(t.Context(), db))
	client, prefix := storetest.Redis(t)
	o := &office{
		store: store.New(db, mongostore.NewIDs(db), nil, nil), redis: client, prefix: prefix,
		sessions: session.NewStore(client, session.Options{Prefix: prefix, Idle: time.Hour, Absolute: time.Hour}),
	}
	known := api.Sessions(o.sessions)
	if through != nil {
		known = through(known)
	}
	o.Service = user.New(user.Options{Store: o.store, Sessions: known, SessionLife: time.Hour, WriteTime: writeTime})
	return o
}

// login makes a user and a session of it.
func (o *office) login(t *testing.T) (user.User, session.Token) {
	t.Helper()
	o.users++
	u := user.User{
		Name: "Person", Kind: principal.Staff, Active: true, UUIDHash: user.HashUUID(fmt.Sprint("uuid ", o.users)),
		Permissions: principal.Permissions{CanAPI: true},
	}
	refused, err := o.store.Insert(t.Context(), []*user.User{&u})
	errortest.None(t, errors.Join(append(refused, err)...))
	token, err := o.sessions.Create(t.Context(), api.RecordOf(u), session.Token{})
	errortest.None(t, err)
	return u, token
}

// lives says whether there is a session.
func (o *office) lives(t *testing.T, token session.Token) bool {
	t.Helper()
	_, err := o.sessions.Load(t.Context(), token)
	if err != nil && !errors.Is(err, session.ErrNone) {
		t.Fatal(err)
	}
	return err == nil
}

// confirm confirms the sessions some times, with pauses after which no more is looked back at what was before.
func (o *office) confirm(t *testing.T, times int) {
	t.Helper()
	for range times {
		errortest.None(t, o.ConfirmSessions(t.Context()))
		time.Sleep(2 * writeTime)
	}
}

// logout ends a session as the handler does.
func (o *office) logout(t *testing.T, token session.Token) {
	t.Helper()
	held, err := o.sessions.Find(t.Context(), token)
	errortest.None(t, err)
	errortest.None(t, o.MarkEnded(t.Context(), held.UserID, held.Hash))
	errortest.None(t, o.sessions.End(t.Context(), held.Hash))
}

// snapshot returns a function that sets Redis back, as far as it is this test's, to what it holds now.
func (o *office) snapshot(t *testing.T) (setBack func()) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	keys := func() []string {
		all, err := o.redis.Keys(ctx, o.prefix+"*").Result()
		errortest.None(t, err)
		return all
	}
	dumps := map[string]string{}
	for _, key := range keys() {
		text, err := o.redis.Dump(ctx, key).Result()
		errortest.None(t, err)
		dumps[key] = text
	}
	return func() {
		_, err := o.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range keys() {
				p.Del(ctx, key)
			}
			for key, text := range dumps {
				p.Restore(ctx, key, time.Hour, text)
			}
			return nil
		})
		errortest.None(t, err)
	}
}

func TestHardToBreak_Row07_WhatRedisLostIsConfirmedAnew(t *testing.T) {
	o := newOffice(t, nil)
	deactivated, first := o.login(t)
	_, second := o.login(t)
	_, third := o.login(t)
	o.confirm(t, 1)
	setBack := o.snapshot(t)
	time.Sleep(2 * writeTime)
	errortest.None(t, o.Deactivate(t.Context(), admin, deactivated.ID, record.Match{}))
	o.logout(t, second)
	o.confirm(t, 5)
	valuetest.MustHold(t, !o.lives(t, first) && !o.lives(t, second), "the sessions have not ended")
	for range 2 { // however often
		setBack()
		valuetest.MustHold(t, o.lives(t, first) && o.lives(t, second), "Redis was not set back: this proves nothing")
		o.confirm(t, 1)
		valuetest.Holds(t, !o.lives(t, first) && !o.lives(t, second), "a session lives again")
		o.confirm(t, 3)
	}
	valuetest.Holds(t, o.lives(t, third), "a session ended by itself")
}

// TestHardToBreak_Row07_RedisGoesBackInTheMidstOfAConfirmation sets Redis back before and after each of its steps.
// State confirmed before must not be taken for the current one.
func TestHardToBreak_Row07_RedisGoesBackInTheMidstOfAConfirmation(t *testing.T) {
	for _, step := range []string{"confirmed", "confirm", "refresh"} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(step, " after ", after), func(t *testing.T) {
				between := &interrupted{step: step, after: after}
				o := newOffice(t, func(s user.Sessions) user.Sessions { between.Sessions = s; return between })
				u, first := o.login(t)
				_, second := o.login(t)
				o.confirm(t, 1)
				setBack := o.snapshot(t)
				time.Sleep(2 * writeTime)
				if _, err := o.store.Change(t.Context(), u.ID, func(u *user.User) error {
					u.Active = false // as if the process had died before it could refresh the sessions
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				o.logout(t, second)
				time.Sleep(2 * writeTime)
				between.setBack = setBack
				o.confirm(t, 1)
				valuetest.MustHold(t, between.setBack == nil, "Redis was not set back: this proves nothing")
				o.confirm(t, 1)
				valuetest.Holds(t, !o.lives(t, first) && !o.lives(t, second), "a session lives again")
			})
		}
	}
}

// interrupted sets Redis back once, before or after a step.
type interrupted struct {
	user.Sessions
	step    string
	after   bool
	setBack func()
}

func (i *interrupted) at(step string, after bool) {
	if i.setBack != nil && i.step == step && i.after == after {
		i.setBack()
		i.setBack = nil
	}
}

func (i *interrupted) Confirmed(ctx context.Context) (time.Time, error) {
	i.at("confirmed", false)
	defer i.at("confirmed", true)
	return i.Sessions.Confirmed(ctx)
}

func (i *interrupted) Confirm(
	ctx context.Context, confirmed, upTo time.Time, users []user.User, ended []string,
) ([]int64, error) {
	i.at("confirm", false)
	defer i.at("confirm", true)
	return i.Sessions.Confirm(ctx, confirmed, upTo, users, ended)
}

func (i *interrupted) Refresh(ctx context.Context, u user.User) error {
	i.at("refresh", false)
	defer i.at("refresh", true)
	return i.Sessions.Refresh(ctx, u)
}

// TestHardToBreak_Row07_ALoginOfBeforeIsRefusedAfterRedisIsEmpty: a login read the user before it was deactivated,
// and makes its session after Redis was flushed.
func TestHardToBreak_Row07_ALoginOfBeforeIsRefusedAfterRedisIsEmpty(t *testing.T) {
	o := newOffice(t, nil)
	empty := o.snapshot(t)
	before, _ := o.login(t)
	errortest.None(t, o.Deactivate(t.Context(), admin, before.ID, record.Match{}))
	o.confirm(t, 3)
	empty()
	late, err := o.sessions.Create(t.Context(), api.RecordOf(before), session.Token{})
	errortest.None(t, err)
	o.confirm(t, 1)
	valuetest.Holds(t, !o.lives(t, late), "the session lives")
	errortest.Is(t, errortest.Of(o.sessions.Create(t.Context(), api.RecordOf(before), session.Token{})),
		session.ErrStale, "another login of before")
}

// admin is who deactivates and changes users in tests without a session.
var admin = principal.Principal{Permissions: principal.All()}
