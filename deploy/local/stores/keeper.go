package stores

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/process"
)

// program is a process that a store needs as long as it runs.
type program struct {
	name    string
	command func() *exec.Cmd
	signal  syscall.Signal // stops it in an orderly way
}

// A program that ended is started again after a pause. The pause doubles up to the longest, and is the first one
// again after the program has run for the steady time.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	steady       = 10 * time.Second
	// tries is after how many quick ends in a row a program counts as failed.
	tries = 4
	// stopPatience is how long a program may take to stop before it is killed. The engine itself waits three
	// seconds for its clients.
	stopPatience = 20 * time.Second
)

// kept is a program that is kept running.
type kept struct {
	*process.Keeper
	name, logPath string
}

// keep starts the program and keeps it running until Stop.
func keep(p program, at site) kept {
	path := filepath.Join(at.dir, "log", p.name+".log")
	return kept{name: p.name, logPath: path, Keeper: process.Keep(process.KeeperOptions{
		Command: func() *exec.Cmd {
			command := p.command()
			command.ExtraFiles = []*os.File{at.lock}
			// A process group of its own: an interrupt from the terminal reaches only the process that runs the
			// stores, which stops them in order.
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: p.signal}
			return command
		},
		Log:    func() (io.WriteCloser, error) { return OpenLog(path) },
		Signal: p.signal, Patience: stopPatience,
		FirstPause: firstPause, LongestPause: longestPause, Steady: steady, Tries: tries,
		Ended: func(err error, pause time.Duration) {
			at.say.line("%s ended (%v); starting it again in %s", p.name, err, pause)
		},
	})}
}

// logLimit is the size in bytes from which a log is rotated when its program starts.
const logLimit = 8 << 20

// OpenLog opens a program's log to write at its end.
func OpenLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > logLimit {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
}
