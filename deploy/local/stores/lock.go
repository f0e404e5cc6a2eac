package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// dirLock is held by the process that runs the stores of one folder. It is two locked files. The kernel releases a
// lock when the last process that has the file open ends, for whatever reason, so a lock is never stale.
//
//   - "claim" is locked by the process that keeps the stores running; its text describes that process.
//   - "children" is inherited by every process of the stores: while it is locked, one of them has the data open.
type dirLock struct {
	own      *os.File
	children *os.File
}

// ErrLocked says that another process has locked a file: the stores of a folder, if that is its claim.
var ErrLocked = errors.New("the stores of this folder are run by another process")

const (
	lockFile     = "claim"
	childrenFile = "children"
)

// stragglerPatience is how long processes of an earlier run may take to end before they are killed.
const stragglerPatience = 15 * time.Second

// Lock locks a file, which it makes if there is none, until it is closed or this process ends. ErrLocked when another
// process has locked it.
func Lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockDir locks dir, or returns ErrLocked.
func lockDir(dir string) (*dirLock, error) {
	own, err := Lock(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	children, err := os.OpenFile(filepath.Join(dir, childrenFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	c := &dirLock{own: own, children: children}
	if err := errors.Join(own.Truncate(0), writeAt(own, strconv.Itoa(os.Getpid()))); err != nil {
		return nil, errors.Join(err, c.release())
	}
	return c, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// release releases the lock.
func (c *dirLock) release() error {
	return errors.Join(c.children.Close(), c.own.Close())
}

// endStragglers ends the processes that an earlier run left, and takes the lock that the processes of this run
// inherit.
func (c *dirLock) endStragglers(ctx context.Context, say *speaker) error {
	begin, told, killed := time.Now(), false, false
	return retry(ctx, 100*time.Millisecond, func() error {
		err := flock(c.children, syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, ErrLocked) {
			return unlessLocked(err)
		}
		left, listErr := openers(c.children.Name())
		switch {
		case listErr != nil:
			return backoff.Permanent(listErr)
		case !told:
			say.line("ending %d processes that an earlier run left", len(left))
			signalAll(left, syscall.SIGINT)
			told = true
		case !killed && time.Since(begin) > stragglerPatience:
			signalAll(left, syscall.SIGKILL)
			killed = true
		case time.Since(begin) > 2*stragglerPatience:
			return backoff.Permanent(fmt.Errorf("processes of an earlier run do not end: %v", left))
		}
		return err
	})
}

// unlessLocked makes any error but ErrLocked a permanent one for retry.
func unlessLocked(err error) error {
	if err == nil || errors.Is(err, ErrLocked) {
		return err
	}
	return backoff.Permanent(err)
}

func signalAll(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s) // it may have ended already
	}
}

// openers lists the processes, other than this one, that have the file open.
func openers(path string) ([]int, error) {
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(linkedTo(file, "fd/*"), func(pid int) bool { return pid == os.Getpid() }), nil
}

// linkedTo lists the processes of which such a link in /proc leads to the file. The link's text is no help: it is as
// the process sees it, which may have a root folder of its own.
func linkedTo(file os.FileInfo, link string) []int {
	var pids []int
	links, _ := filepath.Glob("/proc/[0-9]*/" + link) // the pattern is right
	for _, link := range links {
		pid, err := strconv.Atoi(strings.Split(link, "/")[2])
		if err != nil || slices.Contains(pids, pid) {
			continue
		}
		if at, err := os.Stat(link); err == nil && os.SameFile(at, file) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// holder returns the process that holds the lock of dir; false when there is none.
func holder(dir string) (pid int, held bool) {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return 0, false
	}
	defer f.Close() //nolint:errcheck // only read
	if err := flock(f, syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, ErrLocked) {
		return 0, false
	}
	_, err = fmt.Fscan(f, &pid)
	return pid, err == nil
}

// flock locks the file in the mode how. It returns ErrLocked when another process has locked it and how does not
// wait.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case err != nil:
			return fmt.Errorf("locking %s: %w", f.Name(), err)
		default:
			return nil
		}
	}
}
