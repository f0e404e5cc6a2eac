package endtoend_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// Three schools in one Belfry: a member of each is told their school and finds their own people by it, and the head of
// each, who administers it by the bundle, lists what is of it, and of no other.
func TestSeveralSchools_EachSeesItsOwn(t *testing.T) {
	t.Parallel()
	system := servicetest.Start(t, servicetest.Options{NoRace: true})
	year := timetest.London(t).Wall(time.Now()).AddDate(0, -8, 0).Year() // the memberships of pupils begin in September
	dir := filepath.Join(t.TempDir(), "district")
	made, err := demo.Generate(dir, demo.Options{Pupils: 10, Years: 1, Schools: 3, Seed: 1, LastYear: year})
	errortest.None(t, err)
	loadAll(t, loggedIn(t, system.URL, system.AdminUUID), dir)

	admin := system.Admin(t)
	logins := map[string]map[string]demo.Login{}
	for _, l := range made.Logins {
		if logins[l.School] == nil {
			logins[l.School] = map[string]demo.Login{}
		}
		logins[l.School][l.Kind] = cmp.Or(logins[l.School][l.Kind], l) // the first
	}
	valuetest.MustSame(t, len(logins), 4, "logins of %d schools: %v", len(logins), logins)
	for n := range 3 {
		prefix := fmt.Sprintf("s%d-", n+1)
		school := admin.Get(t, "/api/admin/elements?key=Group:"+prefix+"own")
		id, name := school.Int(t, "elements.0.id"), school.Text(t, "elements.0.name")
		for _, kind := range []string{"staff", "pupil"} {
			me := system.Login(t, logins[name][kind].UUID)
			got := me.Get(t, "/api/me")
			if got.Len(t, "schools") != 1 || got.Int(t, "schools.0.id") != id || got.Text(t, "schools.0.name") != name {
				t.Errorf("%s of %s is told %s", kind, name, got.Body)
			}
		}
		head := logins[name]["staff"]
		as := system.Login(t, head.UUID)
		for _, list := range []struct {
			query, key string
			fewest     int
		}{
			{"users?limit=1000", prefix, 10},
			{"elements?entity_type=Pupil&limit=1000", "Pupil:" + prefix, 10},
			{"elements?entity_type=Location&limit=1000", "Location:" + prefix, 12},
			{"elements?limit=1000", ":" + prefix, 100},
		} {
			got := listedIn(t, as, "/api/admin/"+list.query)
			other := slices.IndexFunc(got, func(k adminRecord) bool { return !strings.Contains(k.Key, list.key) })
			if other >= 0 || len(got) < list.fewest {
				t.Errorf("the administrator of %s lists %d %s, and the first of others is at %d: %v", name, len(got),
					list.query, other, got)
			}
		}
		found := as.Get(t, "/api/elements?namelike=a&entity_type=Pupil&school=own")
		all := admin.Get(t, at("/api/admin/elements?school=%d&entity_type=Pupil&limit=1000", id))
		if all.Len(t, "elements") != 10 || found.Len(t, "elements") > 10 || found.Len(t, "elements") == 0 {
			t.Errorf("%s has %d pupils, of whom %d are found", name, all.Len(t, "elements"), found.Len(t, "elements"))
		}
	}
}

// adminRecord is a record of an administrators' list.
type adminRecord struct{ Key string }

// listedIn returns the records of a list, which has to be one page.
func listedIn(t *testing.T, c *servicetest.Client, path string) (all []adminRecord) {
	t.Helper()
	var answer struct{ Users, Elements []adminRecord }
	c.Get(t, path).Must(t, 200).Decode(t, &answer)
	return append(answer.Users, answer.Elements...)
}
