// Package ifmatch is what a client demands of a record before it is changed (If-Match; decisions, part 1). It is plain data, so that
// the rules can check it where it counts: on the version that a change is about to replace, inside that change.
package ifmatch

import (
	"slices"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Match is the versions of a record that may be changed. The zero Match lets any version pass.
type Match struct {
	demanded bool
	versions []int64
}

// Versions lets those versions pass and no others; none at all when there are none.
func Versions(versions ...int64) Match { return Match{true, versions} }

// Check returns nil when that version passes, and a PreconditionFailed problem when not.
func (m Match) Check(version int64) error {
	if m.demanded && !slices.Contains(m.versions, version) {
		return problem.New(problem.PreconditionFailed, "the record is not at a version that If-Match names")
	}
	return nil
}
