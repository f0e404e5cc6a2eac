package note

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
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
		"nobody":        {},
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
		{owner, Visibility{Guest: true, Staff: true, Pupil: true}, []string{"admin (guest)", "guest", "owner (pupil)", "pupil", "staff"}},
		{0, Visibility{}, []string{"admin (guest)"}},
		{0, Visibility{Staff: true}, []string{"admin (guest)", "staff"}},
		{0, Visibility{Pupil: true}, []string{"admin (guest)", "owner (pupil)", "pupil"}},
	} {
		n := Note{OwnerID: c.ownerID, Visible: c.flags}
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
		if got := (Note{OwnerID: c.ownerID}).OwnedBy(c.viewer); got != c.want {
			t.Errorf("note of %d, %+v: %v", c.ownerID, c.viewer, got)
		}
	}
}

func TestPart4_3_Rule02_FieldsNotGivenKeepTheirValues(t *testing.T) {
	stored := Note{ID: 1, EventID: 2, OwnerID: owner, Contents: "a", Visible: Visibility{Guest: true, Pupil: true}}
	for body, want := range map[string]Note{
		`{}`:                              stored,
		`{"contents":null,"other":1}`:     stored,
		`{"contents":""}`:                 {ID: 1, EventID: 2, OwnerID: owner, Visible: Visibility{Guest: true, Pupil: true}},
		`{"visible_guest":false}`:         {ID: 1, EventID: 2, OwnerID: owner, Contents: "a", Visible: Visibility{Pupil: true}},
		`{"visible_staff":"true"}`:        {ID: 1, EventID: 2, OwnerID: owner, Contents: "a", Visible: Visibility{Guest: true, Staff: true, Pupil: true}},
		`{"visible_pupil":false,"id":99}`: {ID: 1, EventID: 2, OwnerID: owner, Contents: "a", Visible: Visibility{Guest: true}},
	} {
		got := stored
		if faults := ReadEdit(object(t, body)).apply(&got); len(faults) > 0 {
			t.Errorf("%s: %v", body, faults)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestDecisionsPart6_ContentsHaveAtMost65536Characters(t *testing.T) {
	tooLong := problem.Fields{"contents": {"is too long (maximum is 65536 characters)"}}
	for _, c := range []struct {
		name, body string
		want       problem.Fields
	}{
		{"empty", `{"contents":""}`, problem.Fields{}},
		{"as long as can be", contents(strings.Repeat("a", 65536)), problem.Fields{}},
		{"characters, not bytes", contents(strings.Repeat("🚌", 65536)), problem.Fields{}},
		{"one more", contents(strings.Repeat("a", 65537)), tooLong},
		{"wrong types", `{"contents":5,"visible_guest":1,"visible_staff":"yes","visible_pupil":[]}`, problem.Fields{
			"contents": {"is not a string"}, "visible_guest": {"is not true or false"}, "visible_staff": {"is not true or false"}, "visible_pupil": {"is not true or false"}}},
	} {
		if diff := cmp.Diff(c.want, ReadEdit(object(t, c.body)).check()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func contents(text string) string { return fmt.Sprintf(`{"contents":%q}`, text) }

func object(t *testing.T, text string) Fields {
	t.Helper()
	var o web.Object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}
