package stores

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// showEvery is how often a step that takes long says where it is.
const showEvery = 3 * time.Second

// step runs a command to its end. While it runs, its newest line is shown every few seconds; when it fails, its last lines are in
// the error. Ending ctx ends it, and so does the end of this process.
func step(ctx context.Context, say *speaker, cmd *exec.Cmd) error {
	// A file, not a pipe: a process that the command leaves behind must not keep this step waiting.
	output, err := os.CreateTemp("", "belfry-step-*.log")
	if err != nil {
		return err
	}
	defer os.Remove(output.Name()) //nolint:errcheck // a left-over temporary file harms nobody
	defer output.Close()           //nolint:errcheck // written by the command, not by us
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // Pdeathsig is sent when the thread ends that started the command
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	show := time.NewTicker(showEvery)
	defer show.Stop()
	begin := time.Now()
	for {
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("%s: %w; it said at last:\n%s", filepath.Base(cmd.Path), err, tail(output.Name(), 8))
			}
			return nil
		case <-show.C:
			say.line("… %s, %s", newest(output.Name()), time.Since(begin).Round(time.Second))
		case <-ctx.Done():
			killErr := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended //nolint:errcheck // it was killed
			return errors.Join(ctx.Err(), killErr)
		}
	}
}

// newest is the last line of a command's output, cut to a terminal's width.
func newest(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close() //nolint:errcheck // only read
	line := "working"
	for in := bufio.NewScanner(f); in.Scan(); {
		if text := strings.TrimSpace(in.Text()); text != "" {
			line = text
		}
	}
	if runes := []rune(line); len(runes) > 90 {
		line = string(runes[:90]) + "…"
	}
	return line
}

// needSpace refuses early when the file system of dir has less than the given room.
func needSpace(dir string, bytes uint64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("looking for free space in %s: %w", dir, err)
	}
	if left := fs.Bavail * uint64(fs.Bsize); left < bytes {
		return fmt.Errorf("%s has %d MiB free and %d MiB are needed", dir, left>>20, bytes>>20)
	}
	return nil
}

// cacheLock opens the user's cache folder of Belfry for this process alone; unlock lets the next one in.
func cacheLock(ctx context.Context, say *speaker) (dir string, unlock func() error, err error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(base, "belfry")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("making the cache folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return "", nil, err
	}
	for told := false; ; told = true {
		err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return dir, f.Close, nil
		}
		if !errors.Is(err, errClaimed) {
			return "", nil, errors.Join(err, f.Close())
		}
		if !told {
			say.line("another process is setting up programs in %s; waiting for it", dir)
		}
		select {
		case <-ctx.Done():
			return "", nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
