package stores

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/belfry-schools/belfry/pkg/process"
)

// program is a process of a store that has to be there as long as the store is.
type program struct {
	name    string
	command func() *exec.Cmd
	signal  syscall.Signal // asks it to end in good order
}

// A program that ended is started again after a pause: the first one at once for a human, then doubled up to the
// longest, and the first again after it had been up for a while.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	steady       = 10 * time.Second
	// tries is how many quick ends in a row mean that a program will not come up.
	tries = 4
	// stopPatience is how long a program may take to end in good order before it is killed. The engine gives its
	// clients three seconds.
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
			// A group of its own: an interrupt from the terminal is for whoever runs the stores, who stops them in
			// order.
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: p.signal}
			return command
		},
		Log:    func() (io.WriteCloser, error) { return openLog(path) },
		Signal: p.signal, Patience: stopPatience,
		FirstPause: firstPause, LongestPause: longestPause, Steady: steady, Tries: tries,
		Ended: func(err error, pause time.Duration) {
			at.say.line("%s ended (%v); starting it again in %s", p.name, err, pause)
		},
	})}
}

// logLimit is the size from which a log is set aside for a new one when its program starts.
const logLimit = 8 << 20

func openLog(path string) (*os.File, error) {
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
