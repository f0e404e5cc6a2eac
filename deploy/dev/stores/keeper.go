package stores

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// program is a process of a store that has to be there as long as the store is.
type program struct {
	name    string
	command func() *exec.Cmd
	signal  syscall.Signal // asks it to end in good order
}

// A program that ended is started again after a pause: the first one at once for a human, then doubled up to the longest, and the
// first again after it had been up for a while.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	steady       = 10 * time.Second
	// hopelessAfter is how many quick ends in a row mean that a program will not come up.
	hopelessAfter = 4
	// stopPatience is how long a program may take to end in good order before it is killed. The engine gives its clients three seconds.
	stopPatience = 20 * time.Second
)

// keeper keeps a program running.
type keeper struct {
	program
	logPath  string
	lock     *os.File
	say      *speaker
	hopeless chan struct{} // closed when the program ended too often
	done     chan struct{}

	mu       sync.Mutex
	process  *os.Process // nil while none runs
	stopping chan struct{}
}

// keep starts the program and keeps it running until stop.
func keep(p program, at site) *keeper {
	k := &keeper{
		program:  p,
		logPath:  filepath.Join(at.dir, "log", p.name+".log"),
		lock:     at.lock,
		say:      at.say,
		hopeless: make(chan struct{}),
		done:     make(chan struct{}),
		stopping: make(chan struct{}),
	}
	go k.run()
	return k
}

func (k *keeper) run() {
	// The kernel sends Pdeathsig when the thread that started the process ends, so that thread has to be this goroutine's alone.
	runtime.LockOSThread()
	defer close(k.done)
	pause, quick := firstPause, 0
	for {
		begin := time.Now()
		err := k.once()
		if k.isStopping() {
			return
		}
		if time.Since(begin) > steady {
			pause, quick = firstPause, 0
		}
		if quick++; quick == hopelessAfter {
			close(k.hopeless)
		}
		k.say.line("%s ended (%v); starting it again in %s", k.name, err, pause)
		select {
		case <-k.stopping:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// once starts the program and waits for its end. The error says how it ended.
func (k *keeper) once() error {
	log, err := openLog(k.logPath)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // written by the program, not by us
	cmd := k.command()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{k.lock}
	// A group of its own: an interrupt from the terminal is for whoever runs the stores, who stops them in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: k.signal}
	if err := k.begin(cmd); err != nil {
		return err
	}
	err = cmd.Wait()
	k.mu.Lock()
	k.process = nil
	k.mu.Unlock()
	if err == nil {
		err = errors.New("exit status 0")
	}
	return err
}

func (k *keeper) begin(cmd *exec.Cmd) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isStopping() {
		return errors.New("it was stopped before it started")
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	k.process = cmd.Process
	return nil
}

func (k *keeper) isStopping() bool {
	select {
	case <-k.stopping:
		return true
	default:
		return false
	}
}

// stop ends the program and returns when it is gone.
func (k *keeper) stop() {
	k.mu.Lock()
	close(k.stopping)
	k.send(k.signal)
	k.mu.Unlock()
	select {
	case <-k.done:
		return
	case <-time.After(stopPatience):
	}
	k.say.line("%s does not end within %s; killing it", k.name, stopPatience)
	k.mu.Lock()
	k.send(syscall.SIGKILL)
	k.mu.Unlock()
	<-k.done
}

// send signals the process if there is one. The caller holds mu.
func (k *keeper) send(s syscall.Signal) {
	if k.process != nil {
		_ = k.process.Signal(s) // it may have ended by itself
	}
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
