package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// TestRows_TakeLittleMemory, however long keys are: of an event less than its key is kept.
func TestRows_TakeLittleMemory(t *testing.T) {
	const events, members = 30_000, 20_000
	const perEvent, perPair = 80, 400 // bytes; with the keys and days themselves 100 to 133, and 589
	dir := t.TempDir()
	write := func(name, head string, n int, row func(i int) string) {
		t.Helper()
		var b strings.Builder
		b.WriteString(head + "\n")
		for i := range n {
			b.WriteString(row(i) + "\n")
		}
		errortest.None(t, os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600))
	}
	long := strings.Repeat("k", 60)
	write("pupils.csv", "key,forename,surname", members, func(i int) string { return fmt.Sprintf("%d,A,B", i) })
	write("groups.csv", "key,name", 2, func(i int) string { return fmt.Sprintf("%s%d,G%d", long, i, i) })
	write("eventcategories.csv", "key,name", 1, func(int) string { return "c,Lesson" })
	write("memberships.csv", "group,member,first_day,last_day", members, func(i int) string {
		return fmt.Sprintf("%s%d,Pupil:%d,2026-09-01,2027-07-21", long, i%2, i)
	})
	write("events.csv", "key,body,category,starts_at,ends_at", events, func(i int) string {
		return fmt.Sprintf("%s%d,Lesson,c,2026-09-07 09:00,2026-09-07 10:00", long, i)
	})
	zone := timetest.London(t)
	start := inUse()
	b, err := bundle.Open(dir, bundle.Options{Zone: zone})
	errortest.None(t, err)
	kept := inUse() - start
	t.Logf("%d bytes of %d keys", kept, events+members)
	if most := perEvent * (events + members); kept > most {
		t.Errorf("%d bytes are kept of %d keys, at most %d are expected", kept, events+members, most)
	}
	mosts := map[bundle.Kind]int{bundle.Events: perEvent * events, bundle.Memberships: perPair * members}
	for kind, most := range mosts {
		n := 0
		for _, err := range b.Rows(kind) {
			errortest.None(t, err)
			if n++; n == b.Count(kind) {
				took := inUse() - start - kept
				t.Logf("%s: %d bytes of %d rows", kind, took, n)
				if took > most {
					t.Errorf("%s: %d bytes at the end of %d rows, at most %d are expected", kind, took, n, most)
				}
			}
		}
	}
	runtime.KeepAlive(b)
}

// inUse is how much of the heap is in use.
func inUse() int {
	runtime.GC()
	runtime.GC() // what finalizers of the first let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
