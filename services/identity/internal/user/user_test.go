package user

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func text(s string) *string { return &s }

func TestAdministration_WhatMakesAUserInvalid(t *testing.T) {
	valid := Edit{Name: text("Ann"), Email: text("ann@school.example")}
	for name, c := range map[string]struct {
		edit func(*Edit)
		want problem.Fields
	}{
		"nothing":          {func(*Edit) {}, problem.Fields{}},
		"no name":          {func(e *Edit) { e.Name = nil }, problem.Fields{"name": {"can't be blank"}}},
		"a name of spaces": {func(e *Edit) { e.Name = text(" \t ") }, problem.Fields{"name": {"can't be blank"}}},
		"a name of 255":    {func(e *Edit) { e.Name = text(strings.Repeat("é", 255)) }, problem.Fields{}},
		"a name of 256": {func(e *Edit) { e.Name = text(strings.Repeat("é", 256)) },
			problem.Fields{"name": {"is too long (maximum is 255 characters)"}}},
		"a name with NUL": {func(e *Edit) { e.Name = text("A\x00n") },
			problem.Fields{"name": {"has a control character"}}},
		"a name that is no string": {func(e *Edit) {
			e.Name, e.Faults = nil,
				problem.Fields{"name": {"is not a string"}}
		}, problem.Fields{"name": {"is not a string"}}},
		"no address": {func(e *Edit) { e.Email = nil }, problem.Fields{"email": {"can't be blank"}}},
		"an address with a name": {func(e *Edit) { e.Email = text("Ann <ann@school.example>") },
			problem.Fields{"email": {"is not an e-mail address"}}},
		"no at sign": {func(e *Edit) { e.Email = text("ann.school.example") },
			problem.Fields{"email": {"is not an e-mail address"}}},
		"two addresses": {func(e *Edit) { e.Email = text("a@b.example, c@d.example") },
			problem.Fields{"email": {"is not an e-mail address"}}},
		"an address of 254": {func(e *Edit) { e.Email = text(strings.Repeat("a", 244) + "@b.example") },
			problem.Fields{}},
		"an address of 255": {func(e *Edit) { e.Email = text(strings.Repeat("a", 245) + "@b.example") },
			problem.Fields{"email": {"is too long (maximum is 254 characters)"}}},
		"an address in spaces": {func(e *Edit) { e.Email = text(" ann@school.example ") }, problem.Fields{}},
		"another kind": {func(e *Edit) { e.Kind = text("teacher") },
			problem.Fields{"kind": {"is not included in the list"}}},
		"several at once": {func(e *Edit) { e.Name, e.Email = nil, nil },
			problem.Fields{"name": {"can't be blank"}, "email": {"can't be blank"}}},
	} {
		t.Run(name, func(t *testing.T) {
			e, u := valid, newUser()
			c.edit(&e)
			valuetest.Equal(t, c.want, e.apply(&u))
			if strings.TrimSpace(u.Email) != u.Email || strings.TrimSpace(u.Name) != u.Name {
				t.Errorf("not trimmed: %q, %q", u.Name, u.Email)
			}
		})
	}
}

func TestAdministration_WhatAnEditDoesNotMentionStays(t *testing.T) {
	full := User{Name: "Ann", Email: "ann@school.example", Kind: principal.Pupil, ElementID: 7, Active: false,
		Permissions: principal.Permissions{CanAPI: true, CanSU: true}}
	changed := full
	if faults := (Edit{}).apply(&changed); len(faults) > 0 || !changed.equals(full) {
		t.Errorf("an empty edit makes %+v, %v", changed, faults)
	}
	none := int64(0)
	e := Edit{ElementID: &none, Permissions: map[string]bool{"can_su": false, "admin": true}}
	e.apply(&changed)
	want := full
	want.ElementID, want.Permissions = 0, principal.Permissions{CanAPI: true, Admin: true}
	valuetest.Holds(t, changed.equals(want), "got %+v, want %+v", changed, want)
}

func TestCheckUUID(t *testing.T) {
	for text, want := range map[string]string{
		"6e0f5f44-5a53-4c8f-9d4e-2f6d2a1b7c01": "",
		strings.Repeat("x", 16):                "",
		strings.Repeat("x", 255):               "",
		strings.Repeat("x", 15):                "must have 16 to 255 characters",
		strings.Repeat("x", 256):               "must have 16 to 255 characters",
		"":                                     "must have 16 to 255 characters",
		"six teen letters":                     "must be printable ASCII without spaces",
		"ümlaut-is-not-ascii":                  "must be printable ASCII without spaces",
		"a-line-break-in-it\n":                 "must be printable ASCII without spaces",
	} {
		got := ""
		if err := CheckUUID(text); err != nil {
			got = err.Error()
		}
		valuetest.Same(t, got, want, "%q", text)
	}
	if made := newUUID(); CheckUUID(made) != nil || made == newUUID() {
		t.Error("a made uuid is not fit to be one")
	}
}

func TestPart5_6_LetterCaseOfAnAddressDoesNotMatter(t *testing.T) {
	for _, pair := range [][2]string{{"Ann@School.Example", "ann@school.example"},
		{"ÄNN@school.example", "änn@SCHOOL.example"}, {" a@b.example", "a@b.example "}, {"ΣΟΦΙΑΣ@b.example",
			"σοφιας@b.example"}} {
		valuetest.Same(t, FoldEmail(pair[0]), FoldEmail(pair[1]), "%q and %q differ", pair[0], pair[1])
	}
	valuetest.Holds(t, FoldEmail("a@b.example") != FoldEmail("a@c.example"), "different addresses are alike")
}

func TestSessionsAreToldOfWhatTheyKnow(t *testing.T) {
	base := User{ID: 1, Version: 3, Name: "Ann", Kind: principal.Staff, Active: true}
	for name, c := range map[string]struct {
		change    func(*User)
		refreshed bool
	}{
		"name":        {func(u *User) { u.Name = "Bea" }, false},
		"email":       {func(u *User) { u.Email = "b@b.example" }, false},
		"version":     {func(u *User) { u.Version++ }, false},
		"kind":        {func(u *User) { u.Kind = principal.Guest }, true},
		"element":     {func(u *User) { u.ElementID = 5 }, true},
		"active":      {func(u *User) { u.Active = false }, true},
		"permissions": {func(u *User) { u.Permissions.CanAPI = true }, true},
		"ended":       {(*User).endSessions, true},
	} {
		changed := base
		c.change(&changed)
		valuetest.Same(t, !changed.SameInSessions(base), c.refreshed, "%s: refreshed", name)
	}
}

func TestImport_WhatARowLeavesOutIsAtItsDefaultButForUUIDActiveAndSchools(t *testing.T) {
	before := User{
		ID: 4, Version: 2, Key: "1", ImportHash: "old", Name: "Ann", Email: "ann@school.example", Kind: principal.Guest,
		ElementID: 9, Active: false,
		Permissions: principal.Permissions{Admin: true}, AdminOf: []int64{7}, UUIDHash: "hash",
	}
	after := before
	row := Row{Row: record.Row{Key: "1", Hash: "new"}, Edit: Edit{Name: text("Bea"), Email: text("bea@school.example")}}
	if faults := row.apply(&after, importBatch{}); len(faults) > 0 {
		t.Fatal(faults)
	}
	want := User{ID: 4, Version: 2, Key: "1", ImportHash: "new", Name: "Bea", Email: "bea@school.example",
		Kind: principal.Staff, AdminOf: []int64{7}, UUIDHash: "hash"}
	valuetest.Holds(t, after.equals(want), "got %+v, want %+v", after, want)
	const given = "6e0f5f44-5a53-4c8f-9d4e-2f6d2a1b7c01"
	row.UUID = text(given)
	row.apply(&after, importBatch{})
	if after.UUIDHash != HashUUID(given) || after.SessionsSince != before.Version+1 {
		t.Errorf("a new uuid leaves %q and sessions since %d", after.UUIDHash, after.SessionsSince)
	}
}
