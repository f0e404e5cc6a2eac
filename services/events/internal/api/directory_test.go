package api_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// hits are what a replica of a service has answered from memory, of a shelf.
func hits(t *testing.T, service string, i int, shelf string) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(system(t).Metrics(t, service, i)) {
		if strings.HasPrefix(line, "belfry_directory_lookups") && strings.Contains(line, `outcome="hit"`) &&
			strings.Contains(line, fmt.Sprintf("shelf=%q", shelf)) {
			fields := strings.Fields(line)
			value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			errortest.None(t, err)
			n += int(value)
		}
	}
	return n
}

// version is the number in a name.
var version = regexp.MustCompile(`Version (\d+)`)

func versionIn(t *testing.T, a servicetest.Answer) int {
	t.Helper()
	found := version.FindStringSubmatch(a.Body)
	if a.Code != 200 || found == nil {
		t.Errorf("%s: %d %s", a.Request, a.Code, a.Body)
		return -1
	}
	n, err := strconv.Atoi(found[1])
	errortest.Report(t, err)
	return n
}

// TestDirectory_NoAnswerOfAnyReplicaIsFromBeforeAnAcknowledgedChangeOrAnotherAnswer changes a room, a group that the
// room belongs to, and the owner of an event over and over, while clients read them through each replica.
func TestDirectory_NoAnswerOfAnyReplicaIsFromBeforeAnAcknowledgedChangeOrAnotherAnswer(t *testing.T) {
	s := loadSchool(t)
	admin := system(t).Admin(t)
	room := admin.Import(t, "locations", map[string]any{"key": "near", "name": "Version 0"})["near"]
	group := admin.Import(t, "groups", map[string]any{"key": "near", "name": "Version 0"})["near"]
	admin.Import(t, "memberships", map[string]any{"key": "Group:near/Location:near", "group": "near",
		"member": "Location:near", "spans": []map[string]any{{"first_day": "2026-09-01", "last_day": "2026-09-30"}}})
	user := admin.Import(t, "users", map[string]any{"key": "near", "name": "Version 0", "email": "near@school.example",
		"uuid": "near-near-near-near-near", "can_api": true, "can_add_events": true})["near"]
	owner := system(t).Login(t, "near-near-near-near-near")
	ofRoom := book(t, s.as(t, "owner"), s.fields(), room).Event.ID
	ofOwner := book(t, owner, s.fields()).Event.ID
	ofGroup := book(t, s.as(t, "owner"), s.fields(), group).Event.ID
	if ofGroup == 0 {
		t.Fatal("no event of the group")
	}
	const changes = 25
	for _, c := range []struct {
		service, read, change string
		body                  func(n int) map[string]any
	}{
		{"elements", path("/api/elements/%d", room), path("/api/admin/elements/%d", room), named("element")},
		{"elements", path("/api/elements/%d/commitments?start_date=2026-09-07&end_date=2026-09-07", room),
			path("/api/admin/elements/%d", group), named("element")},
		{"events", path("/api/events/%d", ofRoom), path("/api/admin/elements/%d", room), named("element")},
		{"events", path("/api/events/%d", ofOwner), path("/api/admin/users/%d", user), named("user")},
	} {
		t.Run(c.service+" "+c.read, func(t *testing.T) {
			readers := []*servicetest.Client{
				s.as(t, "stranger").At(system(t).Replica(c.service, 0)),
				s.as(t, "stranger").At(system(t).Replica(c.service, 1)),
			}
			var mu sync.Mutex
			shown := versionIn(t, readers[0].Get(t, c.read)) // the newest that anybody was shown, or acknowledged
			base := shown
			done := make(chan struct{})
			var reading sync.WaitGroup
			for _, reader := range readers {
				for range 2 {
					reading.Go(func() {
						for n := 0; ; n++ {
							select {
							case <-done:
								return
							default:
							}
							mu.Lock()
							least := shown
							mu.Unlock()
							a, err := reader.Try(t, "GET", c.read, nil)
							if err != nil {
								t.Error(err)
								return
							}
							got := versionIn(t, a)
							if got < least || a.Code != 200 {
								t.Errorf("version %d after version %d was shown or acknowledged", got, least)
								return
							}
							mu.Lock()
							shown = max(shown, got)
							mu.Unlock()
						}
					})
				}
			}
			for n := base + 1; n <= base+changes; n++ {
				if a := admin.Patch(t, c.change, c.body(n)); a.Code != 200 {
					t.Errorf("change: %d %s", a.Code, a.Body)
					break
				}
				mu.Lock()
				shown = max(shown, n)
				mu.Unlock()
			}
			close(done)
			reading.Wait()
		})
	}
	for shelf, service := range map[string]string{
		"elements": "elements", "groups": "elements", "facts": "events", "users": "events",
	} {
		for i := range 2 {
			if hits(t, service, i, shelf) == 0 {
				t.Errorf("replica %d of %s answered nothing from its shelf %s: this proves little", i, service, shelf)
			}
		}
	}
}

// named returns the body that gives a record the name of a version.
func named(record string) func(n int) map[string]any {
	return func(n int) map[string]any {
		return map[string]any{record: map[string]any{"name": fmt.Sprintf("Version %d", n)}}
	}
}
