// Package progress runs commands that take long so that nobody has to wonder what they do.
package progress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/process"
)

// Every is how often something that takes long says where it is.
const Every = 3 * time.Second

// Run runs a command to its end. While it runs, its newest line is shown every few seconds; when it fails, its last
// lines are in the error. Ending ctx ends it, and so does the end of this process.
func Run(ctx context.Context, say func(format string, args ...any), cmd *exec.Cmd) error {
	// A file, not a pipe: a process that the command leaves behind must not keep this step waiting.
	output, err := os.CreateTemp("", "belfry-step-*.log")
	if err != nil {
		return err
	}
	defer os.Remove(output.Name()) //nolint:errcheck // a left-over temporary file harms nobody
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
				return fmt.Errorf("%s: %w; it said at last:\n%s", filepath.Base(cmd.Path), running.Err(),
					Tail(output.Name(), 8))
			}
			return nil
		case <-show.C:
			say("… %s, %s", newest(output.Name()), time.Since(begin).Round(time.Second))
		case <-ctx.Done():
			return errors.Join(ctx.Err(), running.KillGroup())
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

// Tail returns the last lines of a file, or why it cannot.
func Tail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}
