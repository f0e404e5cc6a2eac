package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// claim is the right to run the stores of one folder. It is two locked files, and the kernel drops a lock when the
// last process that has the file open is gone, however it went. So no pid file can be stale.
//
//   - "claim" is open in the process that keeps the stores running; its text is that process.
//   - "children" is inherited by every process of the stores: as long as it is locked, one of them still has the data open.
type claim struct {
	own      *os.File
	children *os.File
}

// errClaimed says that another process runs the stores of the folder.
var errClaimed = errors.New("the stores of this folder are run by another process")

const (
	claimFile    = "claim"
	childrenFile = "children"
)

// stragglerPatience is how long processes of an earlier run may take to end before they are killed.
const stragglerPatience = 15 * time.Second

// claimDir takes the claim of dir, or returns errClaimed.
func claimDir(dir string, background bool) (*claim, error) {
	own, err := os.OpenFile(filepath.Join(dir, claimFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(own, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	children, err := os.OpenFile(filepath.Join(dir, childrenFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	c := &claim{own: own, children: children}
	text := fmt.Sprintf("%d %t\n", os.Getpid(), background)
	if err := errors.Join(own.Truncate(0), writeAt(own, text)); err != nil {
		return nil, errors.Join(err, c.release())
	}
	return c, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// release gives the claim up.
func (c *claim) release() error {
	return errors.Join(c.children.Close(), c.own.Close())
}

// endStragglers makes sure that no process of an earlier run is left, and takes the lock that this run's processes
// inherit.
func (c *claim) endStragglers(ctx context.Context, say *speaker) error {
	begin, told, killed := time.Now(), false, false
	for {
		err := flock(c.children, syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, errClaimed) {
			return err
		}
		left, err := openers(c.children.Name())
		if err != nil {
			return err
		}
		switch {
		case !told:
			say.line("ending %d processes that an earlier run left", len(left))
			signalAll(left, syscall.SIGINT)
			told = true
		case !killed && time.Since(begin) > stragglerPatience:
			signalAll(left, syscall.SIGKILL)
			killed = true
		case time.Since(begin) > 2*stragglerPatience:
			return fmt.Errorf("processes of an earlier run do not end: %v", left)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func signalAll(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s) // it may have ended by itself
	}
}

// openers lists the processes, other than this one, that have the file open.
func openers(path string) ([]int, error) {
	want, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return nil, err
	}
	seen := map[int]bool{os.Getpid(): true}
	var pids []int
	for _, link := range links {
		pid, err := strconv.Atoi(strings.Split(link, "/")[2])
		if err != nil || seen[pid] {
			continue
		}
		if open, err := os.Stat(link); err == nil && os.SameFile(open, want) {
			seen[pid] = true
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// holderOf is the process that has the claim.
type holderOf struct {
	pid        int
	background bool
}

// holder returns who holds the claim of dir; false when nobody does.
func holder(dir string) (holderOf, bool) {
	f, err := os.Open(filepath.Join(dir, claimFile))
	if err != nil {
		return holderOf{}, false
	}
	defer f.Close() //nolint:errcheck // only read
	if err := flock(f, syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, errClaimed) {
		return holderOf{}, false
	}
	var h holderOf
	_, err = fmt.Fscan(f, &h.pid, &h.background)
	return h, err == nil
}

// flock locks the file as how says; errClaimed when it is locked by another and how does not wait.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errClaimed
		case err != nil:
			return fmt.Errorf("locking %s: %w", f.Name(), err)
		default:
			return nil
		}
	}
}
