package endtoend_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// killPause lets the system recover before the next process is killed: this tests recovery, not a permanent outage.
const killPause = 4 * time.Second

// victims are parts of command lines that identify the processes of a run: the four services and the three stores.
var victims = []string{"bin/events", "postgres", "bin/elements", "redis-server", "bin/identity", "engine", "bin/notes"}

// make endure holds that single writes are not lost. This is about an import, and about a local run that starts what
// was killed again.
func TestKillNineLosesNothingOfAnImport(t *testing.T) {
	t.Parallel()
	// a batch takes long while its stores recover on a busy machine
	run := startLocal(t, "DEMO=0", "BELFRY_REQUEST_TIMEOUT=25s")
	dir := filepath.Join(t.TempDir(), "school")
	o := demo.Options{Pupils: 400, Years: 1, Seed: 7, LastYear: demo.DefaultLastYear}
	_, err := demo.Generate(dir, o)
	errortest.None(t, err)
	school, err := bundle.Open(dir, bundle.Options{Zone: timetest.London(t)})
	errortest.None(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := loggedIn(t, run.URL, run.adminUUID)
	imported := make(chan error, 1)
	go func() {
		_, err := loadOnce(ctx, c, school)
		imported <- err
	}()
	for _, victim := range victims {
		time.Sleep(killPause)
		killOne(t, run.PID(), victim)
	}
	if err := <-imported; err != nil {
		t.Fatalf("the import gave up: %v\n%s", err, run.Output)
	}
	report, err := loadOnce(ctx, c, school)
	errortest.None(t, err)
	for _, kind := range report.Kinds {
		if kind.Created+kind.Updated > 0 {
			t.Errorf("the second load changed %s: %+v", kind.Kind, kind)
		}
	}
}

// loadOnce imports a bundle, of which no record may be refused.
func loadOnce(ctx context.Context, c *client.Client, b *bundle.Bundle) (load.Report, error) {
	report, err := load.Run(ctx, c, b, load.Options{})
	if err == nil && report.Refused > 0 {
		err = fmt.Errorf("%d records were refused, the first: %s", report.Refused, report.First[0])
	}
	return report, err
}

// killOne sends SIGKILL to the oldest process below root whose command line holds name.
func killOne(t *testing.T, root int, name string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		below, err := process.Below(root)
		errortest.None(t, err)
		for _, p := range below {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
			if err != nil || !strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), name) {
				continue
			}
			errortest.Report(t, syscall.Kill(p.PID, syscall.SIGKILL), "kill %s", name)
			t.Logf("killed %s (%d)", name, p.PID)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatalf("no process %q to kill", name)
}
