package api_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
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

func versionIn(t *testing.T, a servicetest.Answer) int64 {
	t.Helper()
	found := version.FindStringSubmatch(a.Body)
	if a.Code != 200 || found == nil {
		t.Errorf("%s: %d %s", a.Request, a.Code, a.Body)
		return -1
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	errortest.Report(t, err)
	return n
}

// A room and the owner of an event change over and over, while clients read the event through each replica. The stores'
// tests have what elements itself keeps in memory.
func TestDirectory_NoAnswerOfAnyReplicaIsFromBeforeAnAcknowledgedChangeOrAnotherAnswer(t *testing.T) {
	s, admin := loadSchool(t), system(t).Admin(t)
	const key, changes = "near", 25
	room := admin.Import(t, "locations", map[string]any{"key": key, "name": "Version 0"})[key]
	owner := enter(t, "name", "Version 0", "can_add_events", true)
	ofRoom, ofOwner := book(t, s.as(t, "owner"), s.fields(), room), book(t, owner, s.fields())
	for record, c := range map[string]struct {
		of     created
		change string
	}{
		"element": {ofRoom, path("/api/admin/elements/%d", room)},
		"user":    {ofOwner, path("/api/admin/users/%d", whoIs(t, owner))},
	} {
		t.Run(record, func(t *testing.T) {
			read, readers := path("/api/events/%d", c.of.Event.ID), s.through(t, "stranger")
			var shown atomic.Int64 // the newest version that anybody was shown, or was acknowledged
			newest := func(n int64) {
				for old := shown.Load(); n > old && !shown.CompareAndSwap(old, n); old = shown.Load() {
				}
			}
			var done atomic.Bool
			var reading sync.WaitGroup
			for _, reader := range append(readers, readers...) {
				reading.Go(func() {
					for !done.Load() {
						least := shown.Load()
						a, err := reader.Try(t, "GET", read, nil)
						errortest.Report(t, err)
						got := versionIn(t, a)
						if err != nil || got < least {
							t.Errorf("version %d after version %d was shown or acknowledged", got, least)
							return
						}
						newest(got)
					}
				})
			}
			for n := range int64(changes) {
				name := map[string]any{"name": fmt.Sprint("Version ", n+1)}
				admin.Patch(t, c.change, map[string]any{record: name}).WantCode(t, 200)
				newest(n + 1)
			}
			done.Store(true)
			reading.Wait()
		})
	}
	for _, shelf := range []string{"facts", "users"} {
		for i := range 2 {
			valuetest.Holds(t, hits(t, "events", i, shelf) > 0,
				"replica %d answered nothing from its shelf %s: this proves little", i, shelf)
		}
	}
}
