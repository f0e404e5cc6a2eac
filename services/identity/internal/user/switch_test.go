package user

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// outcome names what an error means; "" is success.
func outcome(err error) string {
	if err == nil {
		return ""
	}
	return problem.As(err).Kind.Status()
}

// TestDecisionsPart2_WhoMaySwitchToWhom is the matrix of contract 3.3 over the stored state of both users, in the
// order of decisions, part 2.
func TestDecisionsPart2_WhoMaySwitchToWhom(t *testing.T) {
	with := func(id int64, p principal.Permissions) *User { return &User{ID: id, Active: true, Permissions: p} }
	su := principal.Permissions{CanAPI: true, CanSU: true}
	inactive := func(u *User) *User { u.Active = false; return u }
	for name, c := range map[string]struct {
		caller, target *User
		want           string
	}{
		"A with can_su to B":          {with(1, su), with(2, principal.Permissions{CanAPI: true}), ""},
		"the target needs no can_api": {with(1, su), with(2, principal.Permissions{}), ""},
		"an admin implies can_su": {with(1, principal.Permissions{Admin: true}),
			with(2, principal.Permissions{}), ""},
		"an admin to an admin": {with(1, principal.Permissions{Admin: true}),
			with(2, principal.Permissions{Admin: true}), ""},
		"A without can_su": {with(1, principal.Permissions{CanAPI: true}),
			with(2, principal.Permissions{}), "Forbidden"},
		"A without can_su, target unknown": {with(1, principal.Permissions{CanAPI: true}), nil, "Forbidden"},
		"target unknown":                   {with(1, su), nil, "Not found"},
		"target is the user itself":        {with(1, su), with(1, su), "Forbidden"},
		"target is an admin, the caller is not": {with(1, su), with(2, principal.Permissions{Admin: true}),
			"Forbidden"},
		"target inactive": {with(1, su), inactive(with(2, principal.Permissions{})), "Forbidden"},
		"the caller has gone inactive": {inactive(with(1, su)), with(2, principal.Permissions{}),
			"Access denied"},
		"the caller has lost can_api": {with(1, principal.Permissions{CanSU: true}),
			with(2, principal.Permissions{}), "Access denied"},
		"the caller's record is gone": {nil, with(2, principal.Permissions{}), "Access denied"},
	} {
		t.Run(name, func(t *testing.T) {
			valuetest.Same(t, outcome(maySwitch(c.caller, c.target, 2)), c.want)
		})
	}
}

// TestDecisionsPart2_WhatIsRefusedBeforeAnybodyIsLookedUp has no store: a case that went on to ask it would panic.
func TestDecisionsPart2_WhatIsRefusedBeforeAnybodyIsLookedUp(t *testing.T) {
	s := &Service{}
	su := principal.Permissions{CanAPI: true, CanSU: true}
	for name, c := range map[string]struct {
		caller principal.Principal
		target int64
		want   string
	}{
		"without can_su": {principal.Principal{UserID: 1,
			Permissions: principal.Permissions{CanAPI: true}}, 2, "Forbidden"},
		"without can_su and without a target": {principal.Principal{UserID: 1}, 0, "Forbidden"},
		"nested": {principal.Principal{UserID: 2, OriginalID: 1, Permissions: su}, 3,
			"Forbidden"},
		"nested, to the effective user": {principal.Principal{UserID: 2, OriginalID: 1, Permissions: su}, 2,
			"Forbidden"},
		"nested, effective user without can_su": {principal.Principal{UserID: 2, OriginalID: 1}, 3, "Forbidden"},
		"nested, without a target": {principal.Principal{UserID: 2, OriginalID: 1, Permissions: su}, 0,
			"Forbidden"},
		"with can_su and without a valid target": {principal.Principal{UserID: 1, Permissions: su}, 0, "Bad request"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Switch(t.Context(), c.caller, c.target, problem.New(problem.Malformed, "session is missing"))
			valuetest.Same(t, outcome(err), c.want)
		})
	}
	for name, c := range map[string]struct {
		caller principal.Principal
		want   string
	}{
		"revert without having switched":            {principal.Principal{UserID: 1, Permissions: su}, ""},
		"revert without having switched nor can_su": {principal.Principal{UserID: 1}, "Forbidden"},
	} {
		valuetest.Same(t, outcome(s.MayRevert(c.caller)), c.want, name)
	}
}
