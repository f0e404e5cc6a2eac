package note

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const (
	owner = 7
	other = 8
)

func TestDecisionsPart6_AnUnknownKindAndNoUserSeeNoNote(t *testing.T) {
	all := Visibility{Guest: true, Staff: true, Pupil: true}
	for _, v := range []fact.Viewer{{UserID: other, Kind: "robot"}, {}} {
		for _, ownerID := range []int64{owner, 0} {
			valuetest.Same(t, Note{OwnerID: ownerID, Visibility: all}.VisibleTo(v), false, "owner %d, %+v", ownerID, v)
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
		n := Note{OwnerID: c.ownerID}
		valuetest.Same(t, n.OwnedBy(c.viewer), c.want, "note of %d, %+v", c.ownerID, c.viewer)
		err := deletableBy(c.viewer, record.Match{})(&n)
		valuetest.Same(t, err == nil, c.want, "note of %d, deleted by %+v: %v", c.ownerID, c.viewer, err)
	}
}
