package record

import (
	"slices"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Match is the versions of a record that a client allows to be changed (If-Match; decisions, part 1). The rules
// check it inside the change, on the version that it is about to replace. The zero Match lets any version pass.
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
