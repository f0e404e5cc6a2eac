package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// KeeperOptions describe a program that is kept running. Command is required.
type KeeperOptions struct {
	// Command returns the command for the next start. Its output goes to Log.
	Command func() *exec.Cmd
	// Log, if set, is opened for each start and closed when the program has ended.
	Log func() (io.WriteCloser, error)

	// Signal stops the program; after Patience it is killed. nil: SIGTERM.
	Signal   os.Signal
	Patience time.Duration

	// FirstPause is the pause before a program that ended is started again. It doubles up to LongestPause, and is
	// FirstPause again after the program has run for longer than Steady.
	FirstPause, LongestPause, Steady time.Duration
	// Tries is after how many ends in a row, with no run longer than Steady between them, Hopeless is closed; 0:
	// one.
	Tries int

	// Ended, if set, is called after each end that Stop did not cause, with the pause before the next start.
	Ended func(err error, pause time.Duration)
}

// Keeper keeps a program running. It is safe for concurrent use.
type Keeper struct {
	options  KeeperOptions
	hopeless chan struct{}
	stopping chan struct{}
	done     chan struct{}

	mu      sync.Mutex
	current *Process // nil while none runs
}

// Keep starts a program, and starts it again whenever it ends, until Stop is called.
func Keep(o KeeperOptions) *Keeper {
	if o.Signal == nil {
		o.Signal = syscall.SIGTERM
	}
	o.Tries = max(o.Tries, 1)
	k := &Keeper{options: o, hopeless: make(chan struct{}), stopping: make(chan struct{}), done: make(chan struct{})}
	go k.run()
	return k
}

// Hopeless is closed when the program has ended KeeperOptions.Tries times in a row. The program is still started
// again.
func (k *Keeper) Hopeless() <-chan struct{} { return k.hopeless }

// Await is [Process.Await] for a kept program. It returns ErrEnded once Hopeless is closed.
func (k *Keeper) Await(ctx context.Context, ready func(context.Context) bool) error {
	return await(ctx, k.hopeless, ready)
}

// Stop stops the program, and returns when it has ended. It returns an error when the program had to be killed. It
// may be called once.
func (k *Keeper) Stop() error {
	k.mu.Lock()
	close(k.stopping)
	current := k.current
	k.mu.Unlock()
	var err error
	if current != nil {
		err = current.Stop(k.options.Signal, k.options.Patience)
	}
	<-k.done
	return err
}

func (k *Keeper) run() {
	defer close(k.done)
	pause, quick := k.options.FirstPause, 0
	for {
		begun := time.Now()
		err := k.once()
		if k.isStopping() {
			return
		}
		if time.Since(begun) > k.options.Steady {
			pause, quick = k.options.FirstPause, 0
		}
		if quick++; quick == k.options.Tries && !closed(k.hopeless) {
			close(k.hopeless)
		}
		if k.options.Ended != nil {
			k.options.Ended(err, pause)
		}
		select {
		case <-k.stopping:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, k.options.LongestPause)
	}
}

// once starts the program and waits for its end. The error is how it ended, or why it did not start.
func (k *Keeper) once() error {
	command := k.options.Command()
	if k.options.Log != nil {
		log, err := k.options.Log()
		if err != nil {
			return err
		}
		defer func() { _ = log.Close() }() // the program wrote it
		command.Stdout, command.Stderr = log, log
	}
	p, err := k.start(command)
	if p == nil {
		return err
	}
	<-p.Ended()
	k.mu.Lock()
	k.current = nil
	k.mu.Unlock()
	return p.Err()
}

// start starts the command. It returns nil when the keeper was stopped.
func (k *Keeper) start(command *exec.Cmd) (*Process, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isStopping() {
		return nil, nil //nolint:nilnil // run checks whether the keeper was stopped
	}
	p, err := Start(command)
	k.current = p
	return p, err
}

func (k *Keeper) isStopping() bool { return closed(k.stopping) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
