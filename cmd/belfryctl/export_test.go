package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestExport_AfterAMoveKeysAreNotGivenTwice exports a Belfry into which another's export was imported, of the same
// address: both have a first administrator, of the id 1 and made by hand.
func TestExport_AfterAMoveKeysAreNotGivenTwice(t *testing.T) {
	t.Parallel()
	old, moved := newOffice(t), newOffice(t)
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	old.does(t, "export", first, "--origin", "school.example")
	moved.does(t, "import", first)
	moved.does(t, "export", second, "--origin", "school.example")
	out := old.does(t, "import", second, "--dry-run")
	for _, want := range []string{"created school.example:1 First", "created school.example-2:1 First"} {
		valuetest.Same(t, strings.Count(out, want), 1, "%q in %s", want, out)
	}
}

// TestExport_OneThatIsRefusedLeavesTheEarlierOne: an expired token, or the administrator of a school, cost the export
// that was in the folder.
func TestExport_OneThatIsRefusedLeavesTheEarlierOne(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	dir := filepath.Join(t.TempDir(), "school")
	o.does(t, "export", dir)
	var made struct{ Element struct{ ID int64 } }
	o.reads(t, &made, "elements", "add", "Group", "--name", "North", "--school")
	head := o.newUser(t, "Ann", "ann@school.example", "--grant", "can_api", "--admin-of", fmt.Sprint(made.Element.ID))
	o.fails(t, exitFailure, "belfryctl: GET /api/changes: 400 Bad request", "export", dir, "--since", "none")
	o.does(t, "import", dir, "--dry-run")
	head.fails(t, exitFailure, "belfryctl: GET /api/admin/export/events: 403 Forbidden: needs admin", "export", dir)
	o.does(t, "import", dir, "--dry-run")
}
