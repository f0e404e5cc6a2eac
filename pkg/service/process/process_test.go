package process_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

const patience = time.Minute

func shell(script string) *exec.Cmd { return exec.Command("sh", "-c", script) }

func start(t *testing.T, command *exec.Cmd) *process.Process {
	t.Helper()
	p, err := process.Start(command)
	errortest.None(t, err)
	t.Cleanup(func() { _ = p.Stop(syscall.SIGKILL, patience) })
	return p
}

// there returns a check for Await: whether a file exists.
func there(path string) func(context.Context) bool {
	return func(context.Context) bool {
		_, err := os.Stat(path)
		return err == nil
	}
}

func TestStop_AsksAndTheProgramEndsInOrder(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	p := start(t, shell(`trap 'exit 7' TERM; : >`+ready+`; while :; do sleep 0.02; done`))
	errortest.None(t, p.Await(t.Context(), there(ready)))
	if err := p.Stop(syscall.SIGTERM, patience); err != nil || p.ExitCode() != 7 || p.Err().Error() != "exit status 7" {
		t.Errorf("%v, exit code %d, %v", err, p.ExitCode(), p.Err())
	}
	errortest.Report(t, p.Stop(syscall.SIGTERM, patience), "stopped again")
}

func TestStop_KillsWhatDoesNotEnd(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	p := start(t, shell(`trap '' TERM; : >`+ready+`; while :; do sleep 0.02; done`))
	errortest.None(t, p.Await(t.Context(), there(ready)))
	err := p.Stop(syscall.SIGTERM, 100*time.Millisecond)
	const want = "sh did not end within 100ms of terminated and was killed"
	if err == nil || err.Error() != want || p.ExitCode() != 128+9 {
		t.Errorf("%v, exit code %d", err, p.ExitCode())
	}
}

func TestAwait_EndsWithTheProgramAndWithTheContext(t *testing.T) {
	never := func(context.Context) bool { return false }
	errortest.Is(t, start(t, shell(`exit 0`)).Await(t.Context(), never), process.ErrEnded, "the program ended")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	errortest.Is(t, start(t, shell(`sleep 60`)).Await(ctx, never), context.DeadlineExceeded, "the context ended")
}

func TestServes_IsAnAnswerOf200(t *testing.T) {
	code := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	defer server.Close()
	serves := process.Serves(server.URL)
	if serves(t.Context()) {
		t.Error("503 counts")
	}
	code = http.StatusOK
	if !serves(t.Context()) {
		t.Error("200 does not count")
	}
	server.Close()
	if serves(t.Context()) {
		t.Error("no answer counts")
	}
}

func TestStart_SaysWhatCannotBeStarted(t *testing.T) {
	errortest.Says(t, errortest.Of(process.Start(exec.Command("/nowhere/program"))), "start program")
}

func TestKillGroup_KillsWhatTheProgramStarted(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	p := start(t, shell(`sleep 60 & echo $! >`+ready+`.new; mv `+ready+`.new `+ready+`; wait`))
	errortest.None(t, p.Await(t.Context(), there(ready)))
	text, err := os.ReadFile(ready)
	errortest.None(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	errortest.None(t, err)
	errortest.Report(t, p.KillGroup())
	timetest.Eventually(t, "the child is gone", patience, func() bool { return gone(child) })
}

// gone reports whether a process has ended; it may still be a zombie.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}

// notes keeps what a keeper reports.
type notes struct {
	mu     sync.Mutex
	pauses []time.Duration
	ends   []string
	closed int
}

func (n *notes) ended(err error, pause time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pauses, n.ends = append(n.pauses, pause), append(n.ends, err.Error())
}

type log struct {
	io.Writer
	n *notes
}

func (l log) Close() error {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	l.n.closed++
	return nil
}

func TestKeeper_StartsAProgramAgainUntilStop(t *testing.T) {
	var n notes
	var out output.Buffer
	pids := func() []string { return strings.Fields(out.String()) }
	keeper := process.Keep(process.KeeperOptions{
		Command:  func() *exec.Cmd { return shell(`echo $$; exec sleep 60`) },
		Log:      func() (io.WriteCloser, error) { return log{&out, &n}, nil },
		Patience: patience, FirstPause: time.Millisecond, LongestPause: time.Millisecond, Tries: 3, Ended: n.ended,
	})
	up := func(context.Context) bool { return len(pids()) == 1 }
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	errortest.None(t, keeper.Await(ctx, up))
	first, err := strconv.Atoi(pids()[0])
	errortest.None(t, err)
	errortest.None(t, syscall.Kill(first, syscall.SIGKILL))
	another := func(context.Context) bool { return len(pids()) == 2 }
	errortest.None(t, keeper.Await(ctx, another))
	errortest.Report(t, keeper.Stop())
	if len(n.ends) != 1 || n.ends[0] != "signal: killed" || n.closed != 2 {
		t.Errorf("ends %q, the log was closed %d times", n.ends, n.closed)
	}
	if second, err := strconv.Atoi(pids()[1]); err != nil || second == first || !gone(second) {
		t.Errorf("%v: the second process is there after Stop, or was the first: %q", err, pids())
	}
}

func TestKeeper_BacksOffAndSaysWhenAProgramDoesNotStayUp(t *testing.T) {
	var n notes
	keeper := process.Keep(process.KeeperOptions{
		Command:    func() *exec.Cmd { return shell(`exit 3`) },
		FirstPause: time.Millisecond, LongestPause: 4 * time.Millisecond, Steady: time.Minute, Tries: 5, Ended: n.ended,
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	errortest.Is(t, keeper.Await(ctx, func(context.Context) bool { return false }), process.ErrEnded)
	errortest.Report(t, keeper.Stop())
	for i, want := range []time.Duration{1, 2, 4, 4} {
		if n.pauses[i] != want*time.Millisecond || n.ends[i] != "exit status 3" {
			t.Errorf("end %d: %s, pause %v, want %v ms", i, n.ends[i], n.pauses[i], want)
		}
	}
}

func TestKeeper_StopEndsAPauseAtOnce(t *testing.T) {
	ended := make(chan struct{}, 1)
	keeper := process.Keep(process.KeeperOptions{
		Command:    func() *exec.Cmd { return exec.Command("/nowhere/program") },
		FirstPause: time.Hour, LongestPause: time.Hour, Ended: func(error, time.Duration) { ended <- struct{}{} },
	})
	<-ended
	errortest.Report(t, keeper.Stop())
}
