package principal_test

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestHardToBreak_Row07_WhoHasARightLessDoesNotCover: what was answered to a user is not answered again to the same one
// with fewer rights.
func TestHardToBreak_Row07_WhoHasARightLessDoesNotCover(t *testing.T) {
	then := principal.Principal{UserID: 1, Kind: principal.Staff, ElementID: 5,
		Permissions: principal.Permissions{CanAPI: true, Privileged: true}, AdminOf: []int64{7}}
	for name, c := range map[string]struct {
		change func(*principal.Principal)
		covers bool
	}{
		"the same":          {func(*principal.Principal) {}, true},
		"a permission more": {func(p *principal.Principal) { p.Permissions.Admin = true }, true},
		"a school more":     {func(p *principal.Principal) { p.AdminOf = []int64{7, 8} }, true},
		"a later version":   {func(p *principal.Principal) { p.Version++ }, true},
		"a permission less": {func(p *principal.Principal) { p.Permissions.Privileged = false }, false},
		"a school less":     {func(p *principal.Principal) { p.AdminOf = []int64{8} }, false},
		"another kind":      {func(p *principal.Principal) { p.Kind = principal.Pupil }, false},
		"another element":   {func(p *principal.Principal) { p.ElementID = 6 }, false},
	} {
		now := then
		c.change(&now)
		valuetest.Same(t, now.Covers(then), c.covers, name)
	}
}
