package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const patience = time.Minute

// container is a live run in folders of its own. Its programs are shell scripts that write what they do to the file
// "state".
type container struct {
	t     *testing.T
	image string // the folder of the program that came with the image
	dir   string // the folder of the newer program
	stop  context.CancelFunc
	code  chan int
}

func startContainer(t *testing.T, script string) *container {
	t.Helper()
	c := &container{t: t, image: t.TempDir(), dir: t.TempDir(), code: make(chan int, 1)}
	c.write(filepath.Join(c.image, "program"), script)
	serving := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if state := c.state(); !strings.HasSuffix(state, " serves\n") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(serving.Close)
	ctx, stop := context.WithCancel(t.Context())
	c.stop = stop
	s := &supervisor{dir: c.dir, ready: serving.URL, program: filepath.Join(c.image, "program"),
		arguments: []string{c.dir}, patience: 2 * time.Second}
	go func() {
		code, _ := s.run(ctx)
		c.code <- code
	}()
	t.Cleanup(func() { c.end() })
	return c
}

func (c *container) write(path, script string) {
	c.t.Helper()
	errortest.None(c.t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
}

func (c *container) state() string {
	text, err := os.ReadFile(filepath.Join(c.dir, "state"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Error(err)
	}
	return string(text)
}

// await waits for the newest line that a program has written.
func (c *container) await(line string) {
	c.t.Helper()
	for begun := time.Now(); !strings.HasSuffix(c.state(), line+"\n"); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > patience {
			c.t.Fatalf("state is %q, want %q at its end", c.state(), line)
		}
	}
}

// sync brings a newer program into the container, as Tilt does.
func (c *container) sync(script string) {
	c.t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	text := "#!/bin/sh\n" + script
	headerErr := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "program", Mode: 0o755, Size: int64(len(text))})
	_, textErr := io.WriteString(w, text)
	errortest.None(c.t, errors.Join(headerErr, textErr, w.Close()))
	code, err := run(c.t.Context(), "tar", []string{"-C", c.dir, "-x", "-f", "-"}, &archive)
	if code != 0 || err != nil {
		c.t.Fatal(code, err)
	}
}

func (c *container) restart() (int, error) {
	return run(c.t.Context(), "live", []string{"restart", "-dir", c.dir}, nil)
}

// end stops the container, as the kubelet does, and returns its exit code.
func (c *container) end() int {
	c.stop()
	return c.exit()
}

func (c *container) exit() int {
	c.t.Helper()
	select {
	case code := <-c.code:
		c.code <- code // for later calls
		return code
	case <-time.After(patience):
		c.t.Error("the container does not end")
		return -1
	}
}

// serving is a program that serves until SIGTERM, and then ends with an exit code.
func serving(name, code string) string {
	return `trap 'echo ` + name + ` stopped >>"$1/state"; exit ` + code + `' TERM; echo ` + name +
		` serves >>"$1/state"; while :; do sleep 0.02; done`
}

func TestStopReachesTheProgramAndItsExitCodeTheContainer(t *testing.T) {
	c := startContainer(t, serving("first", "7"))
	c.await("first serves")
	valuetest.Same(t, c.end(), 7, "exit code")
	c.await("first stopped")
}

func TestAProgramThatEndsByItselfEndsTheContainer(t *testing.T) {
	c := startContainer(t, `exit 3`)
	valuetest.Same(t, c.exit(), 3, "exit code")
}

func TestAProgramThatASignalEndsEndsTheContainerAsInAShell(t *testing.T) {
	c := startContainer(t, `kill -9 $$`)
	valuetest.Same(t, c.exit(), 128+9, "exit code")
}

func TestRestartReturnsOnceTheNewerProgramServes(t *testing.T) {
	c := startContainer(t, serving("first", "0"))
	c.await("first serves")
	c.sync(`sleep 0.3; ` + serving("second", "0"))
	if code, err := c.restart(); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	valuetest.Same(t, c.state(), "first serves\nfirst stopped\nsecond serves\n", "when restart returned")
}

func TestRestartFailsWhereTheNewerProgramEndsAndTheNextOneMendsIt(t *testing.T) {
	c := startContainer(t, serving("first", "0"))
	c.await("first serves")
	c.sync(`exit 4`)
	if code, err := c.restart(); code != 1 || err == nil || !strings.Contains(err.Error(), "exit code 4") {
		t.Errorf("exit code %d, %v", code, err)
	}
	c.sync(serving("third", "0"))
	if code, err := c.restart(); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	c.await("third serves")
}

func TestRestartFailsWhereTheNewerProgramDoesNotServe(t *testing.T) {
	c := startContainer(t, serving("first", "0"))
	c.await("first serves")
	c.sync(`trap 'exit 0' TERM; while :; do sleep 0.02; done`)
	if code, err := c.restart(); code != 1 || err == nil || !strings.Contains(err.Error(), "does not serve") {
		t.Errorf("exit code %d, %v", code, err)
	}
}

func TestRestartFailsWhereTheNewerProgramCannotBeStarted(t *testing.T) {
	c := startContainer(t, serving("first", "0"))
	c.await("first serves")
	errortest.None(t, os.WriteFile(filepath.Join(c.dir, "program"), []byte("no program"), 0o600))
	if code, err := c.restart(); code != 1 || err == nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	valuetest.Same(t, c.end(), 0, "exit code of the one that ran last")
}

func TestAContainerThatStartsAgainRunsTheNewerProgram(t *testing.T) {
	c := startContainer(t, serving("first", "0"))
	c.await("first serves")
	c.sync(serving("second", "0"))
	c.end()
	s := &supervisor{dir: c.dir, program: filepath.Join(c.image, "program"), arguments: []string{c.dir}}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := s.run(ctx); done <- err }()
	c.await("second serves")
	stop()
	errortest.Report(t, <-done)
}

func TestATarThatBreaksOffLeavesTheFormerFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	errortest.None(t, os.WriteFile(path, []byte("former"), 0o600))
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	errortest.None(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "program", Mode: 0o755, Size: 4096}))
	_, err := w.Write(make([]byte, 2048))
	errortest.None(t, err)
	if code, err := run(t.Context(), "tar", []string{"-C", dir, "-x", "-f", "-"}, &archive); code == 0 || err == nil {
		t.Error("half a file was taken")
	}
	files, err := os.ReadDir(dir)
	if text, readErr := os.ReadFile(path); err != nil || readErr != nil || string(text) != "former" || len(files) != 1 {
		t.Errorf("%q, %d files, %v, %v", text, len(files), err, readErr)
	}
}

func TestTarKnowsOnlyWhatTiltAsks(t *testing.T) {
	if code, err := run(t.Context(), "tar", []string{"-tf", "-"}, nil); code != exitUsage || err == nil {
		t.Errorf("exit code %d, %v", code, err)
	}
}
