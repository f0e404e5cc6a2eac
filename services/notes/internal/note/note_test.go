package note

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const (
	owner = 7
	other = 8
)

func TestDecisionsPart6_WhoSeesANote(t *testing.T) {
	viewers := map[string]fact.Viewer{
		"owner (pupil)": {UserID: owner, Kind: principal.Pupil},
		"admin (guest)": {UserID: other, Kind: principal.Guest, Admin: true},
		"guest":         {UserID: other, Kind: principal.Guest},
		"staff":         {UserID: other, Kind: principal.Staff},
		"pupil":         {UserID: other, Kind: principal.Pupil},
		"unknown kind":  {UserID: other, Kind: "robot"},
		"no user":       {},
	}
	for _, c := range []struct {
		ownerID int64
		flags   Visibility
		seenBy  []string
	}{
		{owner, Visibility{}, []string{"admin (guest)", "owner (pupil)"}},
		{owner, Visibility{Guest: true}, []string{"admin (guest)", "guest", "owner (pupil)"}},
		{owner, Visibility{Staff: true}, []string{"admin (guest)", "owner (pupil)", "staff"}},
		{owner, Visibility{Pupil: true}, []string{"admin (guest)", "owner (pupil)", "pupil"}},
		{owner, Visibility{Guest: true, Staff: true, Pupil: true},
			[]string{"admin (guest)", "guest", "owner (pupil)", "pupil", "staff"}},
		{0, Visibility{}, []string{"admin (guest)"}},
		{0, Visibility{Staff: true}, []string{"admin (guest)", "staff"}},
		{0, Visibility{Pupil: true}, []string{"admin (guest)", "owner (pupil)", "pupil"}},
	} {
		n := Note{OwnerID: c.ownerID, Visibility: c.flags}
		var seenBy []string
		for _, name := range slices.Sorted(maps.Keys(viewers)) {
			if n.VisibleTo(viewers[name]) {
				seenBy = append(seenBy, name)
			}
		}
		if diff := cmp.Diff(c.seenBy, seenBy); diff != "" {
			t.Errorf("owner %d, %+v: %s", c.ownerID, c.flags, diff)
		}
	}
}

func TestPart4_3_Rule03_OnlyTheOwnerOwns(t *testing.T) {
	for _, c := range []struct {
		ownerID int64
		viewer  fact.Viewer
		want    bool
	}{
		{owner, fact.Viewer{UserID: owner}, true},
		{owner, fact.Viewer{UserID: other}, false},
		{owner, fact.Viewer{UserID: other, Admin: true}, false},
		{0, fact.Viewer{UserID: other, Admin: true}, false},
		{0, fact.Viewer{}, false},
	} {
		valuetest.Same(t, (Note{OwnerID: c.ownerID}).OwnedBy(c.viewer), c.want, "note of %d, %+v", c.ownerID, c.viewer)
	}
}

func TestPart4_3_Rule02_FieldsNotGivenKeepTheirValues(t *testing.T) {
	stored := Note{ID: 1, EventID: 2, OwnerID: owner, Contents: "a", Visibility: Visibility{Guest: true, Pupil: true}}
	for name, c := range map[string]struct {
		edit Edit
		want Note
	}{
		"none": {Edit{}, stored},
		"no contents": {Edit{Contents: new("")},
			Note{ID: 1, EventID: 2, OwnerID: owner, Visibility: Visibility{Guest: true, Pupil: true}}},
		"hid from guests": {Edit{VisibleGuest: new(false)},
			Note{ID: 1, EventID: 2, OwnerID: owner, Contents: "a", Visibility: Visibility{Pupil: true}}},
		"shown to staff": {
			Edit{VisibleStaff: new(true)},
			Note{ID: 1, EventID: 2, OwnerID: owner, Contents: "a",
				Visibility: Visibility{Guest: true, Staff: true, Pupil: true}},
		},
		"hid from pupils": {Edit{VisiblePupil: new(false)},
			Note{ID: 1, EventID: 2, OwnerID: owner, Contents: "a", Visibility: Visibility{Guest: true}}},
	} {
		got := stored
		if faults := c.edit.apply(&got); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestDecisionsPart6_ContentsHaveAtMost65536Characters(t *testing.T) {
	tooLong := problem.Fields{"contents": {"is too long (maximum is 65536 characters)"}}
	unreadable := problem.Fields{"contents": {"is not a string"}, "visible_guest": {"is not true or false"}}
	for name, c := range map[string]struct {
		edit Edit
		want problem.Fields
	}{
		"empty":                 {Edit{Contents: new("")}, problem.Fields{}},
		"as long as can be":     {Edit{Contents: new(strings.Repeat("a", 65536))}, problem.Fields{}},
		"characters, not bytes": {Edit{Contents: new(strings.Repeat("🚌", 65536))}, problem.Fields{}},
		"one more":              {Edit{Contents: new(strings.Repeat("a", 65537))}, tooLong},
		"not to be read":        {Edit{Faults: unreadable}, unreadable},
	} {
		if diff := cmp.Diff(c.want, c.edit.check()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
