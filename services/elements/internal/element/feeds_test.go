package element

import (
	"reflect"
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestHardToBreak_Row12_AFeedWorksForItsUserAsItIsNow has what no test of the interface can time: a session that ends
// while it makes a feed, and pods of two releases.
func TestHardToBreak_Row12_AFeedWorksForItsUserAsItIsNow(t *testing.T) {
	ann, room := Element{ID: 7, EntityType: form.Pupil}, Element{ID: 8, EntityType: form.Location}
	staff := fact.User{Active: true, CanAPI: true, Kind: principal.Staff}
	with := func(change func(*fact.User)) fact.User { u := staff; change(&u); return u }
	for name, c := range map[string]struct {
		version int64 // of the user in the session that made the feed
		user    fact.User
		of      Element
		works   bool
	}{
		"staff":               {3, staff, ann, true},
		"ended before":        {5, with(func(u *fact.User) { u.FeedsSince = 5 }), ann, true},
		"ended since":         {4, with(func(u *fact.User) { u.FeedsSince = 5 }), ann, false},
		"inactive":            {3, with(func(u *fact.User) { u.Active = false }), ann, false},
		"without can_api":     {3, with(func(u *fact.User) { u.CanAPI = false }), ann, false},
		"no such user":        {3, fact.User{}, ann, false},
		"a guest":             {3, with(func(u *fact.User) { u.Kind = principal.Guest }), room, false},
		"a pupil, of another": {3, with(func(u *fact.User) { u.Kind = principal.Pupil }), ann, false},
		"a pupil, of a room":  {3, with(func(u *fact.User) { u.Kind = principal.Pupil }), room, true},
	} {
		valuetest.Same(t, (Feed{UserVersion: c.version}).worksFor(c.user, c.of), c.works, name)
	}
}

func TestHardToBreak_Row12_AFeedSeesTheSchoolsThatItsUserAdministers(t *testing.T) {
	s := New(Options{Sights: principal.Sights{Staff: principal.SeesSchool}})
	of := s.viewerOf(fact.User{Kind: principal.Staff, ElementID: 7, StandsFor: []int64{8}, AdminOf: []int64{9}})
	session := principal.Principal{Kind: principal.Staff, ElementID: 7, StandsFor: []int64{8}, AdminOf: []int64{9}}
	valuetest.Holds(t, reflect.DeepEqual(of, s.viewer(session)), "a feed sees as %+v", of)
}
