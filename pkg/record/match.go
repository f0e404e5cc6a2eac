package record

import (
	"slices"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Match is the versions of a record that a client allows to be changed (If-Match, decisions part 1). The domain
// checks it inside Change, against the version that is about to be replaced. The zero Match accepts any version.
type Match struct {
	demanded bool
	versions []int64
}

// Versions returns a Match that accepts only those versions, and none when there are none.
func Versions(versions ...int64) Match { return Match{true, versions} }

// Check returns nil when the Match accepts that version, and PreconditionFailed otherwise.
func (m Match) Check(version int64) error {
	if m.demanded && !slices.Contains(m.versions, version) {
		return problem.New(problem.PreconditionFailed, "the record is not at a version that If-Match names")
	}
	return nil
}
