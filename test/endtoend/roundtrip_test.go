package endtoend_test

import (
	"bytes"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The school of the round trip, and what belfryctl may hold in it. `make roundtrip` takes another one.
var (
	tripPupils = flag.Int("pupils", 20, "pupils of the school that is exported and imported again")
	tripYears  = flag.Int("years", 1, "school years of it")
	tripMemory = flag.Int("memory", 100, "MiB that belfryctl may hold while it does so")
)

// belfryctl is the program, run as an administrator's.
type belfryctl struct{ program string }

func buildBelfryctl(t *testing.T) belfryctl {
	t.Helper()
	program := filepath.Join(t.TempDir(), "belfryctl")
	errortest.None(t, checkout.Build(t.Context(), program, "./cmd/belfryctl"))
	return belfryctl{program}
}

// run runs a command that must succeed, and logs how long it took and what it held at most. Holding more than the bound
// fails. It returns what the command says.
func (b belfryctl) run(t *testing.T, s *servicetest.System, args ...string) string {
	t.Helper()
	begun := time.Now()
	command, output := b.start(t, s.URL, s.AdminUUID, args...)
	peak := watch(t, command)
	errortest.None(t, command.Wait(), "belfryctl %q\n%s", args, output)
	held := peak()
	t.Logf("belfryctl %s: %.1f s, %d MiB at most", args[0], time.Since(begun).Seconds(), held>>20)
	if held > *tripMemory<<20 {
		t.Errorf("belfryctl %s held %d MiB, more than %d", args[0], held>>20, *tripMemory)
	}
	return output.String()
}

// fails runs a command that must end with code 1 and these texts.
func (b belfryctl) fails(t *testing.T, s *servicetest.System, texts []string, args ...string) {
	t.Helper()
	command, output := b.start(t, s.URL, s.AdminUUID, args...)
	err := command.Wait()
	if ended, failed := errors.AsType[*exec.ExitError](err); !failed || ended.ExitCode() != 1 {
		t.Fatalf("belfryctl %q: %v\n%s", args, err, output)
	}
	for _, text := range texts {
		valuetest.Has(t, output.String(), text, "belfryctl %q", args)
	}
}

func (b belfryctl) start(t *testing.T, address, uuid string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	var output bytes.Buffer
	command := exec.CommandContext(t.Context(), b.program, append(args, "--url", address)...)
	command.Env = append(os.Environ(), "BELFRY_UUID="+uuid)
	command.Stdout, command.Stderr = &output, &output
	errortest.None(t, command.Start())
	return command, &output
}

// killed runs a command until it has sent that many requests to a path, and kills it before the last one is answered.
// It returns the query of the first one.
func (b belfryctl) killed(t *testing.T, s *servicetest.System, path string, requests int, args ...string) url.Values {
	t.Helper()
	target, err := url.Parse(s.URL)
	errortest.None(t, err)
	door := httputil.NewSingleHostReverseProxy(target)
	reached, killed := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var first url.Values
	seen := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			mu.Lock()
			if seen++; seen == 1 {
				first = r.URL.Query()
			}
			n := seen
			mu.Unlock()
			if n == requests {
				close(reached)
			}
			if n >= requests {
				<-killed // its end is not noticed while the body of a request is not read
				return
			}
		}
		door.ServeHTTP(w, r)
	}))
	defer server.Close()
	defer close(killed)
	command, output := b.start(t, server.URL, s.AdminUUID, args...)
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case <-reached:
		errortest.Report(t, command.Process.Kill())
		errortest.Some(t, <-ended, "belfryctl %q ended by itself", args)
	case err := <-ended:
		t.Fatalf("belfryctl %q ended before %d requests to %s: %v\n%s", args, requests, path, err, output)
	}
	mu.Lock()
	defer mu.Unlock()
	return first
}

// watch follows the most memory that a process has held, in bytes, until the returned function is called. The kernel's
// figure at the end is of no use: it includes what this program held when it started the process.
func watch(t *testing.T, command *exec.Cmd) func() int {
	t.Helper()
	p, err := procfs.NewProc(command.Process.Pid)
	errortest.None(t, err)
	done, peak := make(chan struct{}), make(chan int)
	go func() {
		most := 0
		defer func() { peak <- most }()
		for {
			if status, err := p.NewStatus(); err == nil { // a process that has ended holds nothing
				most = max(most, int(status.VmHWM))
			}
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() int { close(done); return <-peak }
}

// loadByCommand imports a folder by the command, which is killed in the middle of the events and begins again. Then all
// of it is in the lists of changes.
func (b belfryctl) loadByCommand(t *testing.T, s *servicetest.System, c *client.Client, dir string) {
	t.Helper()
	b.killed(t, s, "/api/admin/import/events", 3, "import", dir)
	b.run(t, s, "import", dir)
	for deadline := time.Now().Add(20 * time.Minute); ; {
		_, _, err := c.Changes(t.Context(), "")
		if err == nil {
			return
		}
		if answer, away := errors.AsType[*client.Error](err); !away || answer.Code != http.StatusServiceUnavailable ||
			time.Now().After(deadline) {
			t.Fatalf("changes after an import: %v", err)
		}
	}
}

// exportByCommand exports into a folder by the command, which is killed among the events twice, and once among the
// notes, and finds no space after all that leaves something out. Each time it goes on after the last page that it has
// kept. It returns what the last run says.
func (b belfryctl) exportByCommand(t *testing.T, s *servicetest.System, dir string, noSpace []string) string {
	t.Helper()
	export := []string{"export", dir, "--origin", "a.example"}
	for i, requests := range []int{2, 3} {
		first := b.killed(t, s, "/api/admin/export/events", requests, export...)
		valuetest.Same(t, first.Has("after"), i > 0, "run %d of the export begins with the events at %v", i+1, first)
	}
	b.killed(t, s, "/api/admin/export/notes", 1, export...)
	full := filepath.Join(dir, "eventcategories.csv.part") // after events and users
	errortest.None(t, os.Symlink("/dev/full", full))
	b.fails(t, s, noSpace, export...)
	errortest.None(t, os.Remove(full))
	return b.run(t, s, export...)
}
