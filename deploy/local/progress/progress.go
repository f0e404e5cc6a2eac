// Package progress runs commands that take long, and shows what they print.
package progress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/process"
)

// Every is the time between two progress lines.
const Every = 3 * time.Second

// Run runs a command to its end. While it runs, say gets its newest line every few seconds. When it fails, the
// error has its last lines. It is killed when ctx ends or this process ends.
func Run(ctx context.Context, say func(format string, args ...any), cmd *exec.Cmd) error {
	// A file, not a pipe: a process that the command left running would keep a pipe open.
	output, err := os.CreateTemp("", "belfry-step-*.log")
	if err != nil {
		return err
	}
	defer os.Remove(output.Name()) //nolint:errcheck // a left-over temporary file does no harm
	defer output.Close()           //nolint:errcheck // written by the command, not by us
	cmd.Stdout, cmd.Stderr = output, output
	running, err := process.Start(cmd)
	if err != nil {
		return err
	}
	show := time.NewTicker(Every)
	defer show.Stop()
	begin := time.Now()
	for {
		select {
		case <-running.Ended():
			if running.ExitCode() != 0 {
				last := Tail(output.Name(), 8)
				return fmt.Errorf("%s: %w; it said at last:\n%s", filepath.Base(cmd.Path), running.Err(), last)
			}
			return nil
		case <-show.C:
			say("… %s, %s", newest(output.Name()), time.Since(begin).Round(time.Second))
		case <-ctx.Done():
			return errors.Join(ctx.Err(), running.KillGroup())
		}
	}
}

// newest returns the last line of a command's output, cut to a terminal's width.
func newest(path string) string {
	line := []rune(cmp.Or(strings.TrimSpace(Tail(path, 1)), "working"))
	if len(line) > 90 {
		return string(line[:90]) + "…"
	}
	return string(line)
}

// Tail returns the last lines of a file, or the error when it cannot be read.
func Tail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}
