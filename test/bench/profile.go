package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/service/process"
)

// profiled are the kinds of processes that a profile is of.
var profiled = []string{"identity", "elements", "events", "notes", "front door", "engine", databaseKind, "Redis"}

// profile makes the call once more while perf looks where the processes are, and returns the text of what takes most
// of their time. Go's programs keep frame pointers, so no service needs a listener for it.
func (s *school) profile(ctx context.Context, c call, clients int) (string, error) {
	var all []string
	for _, kind := range profiled {
		found, err := pids(kind)
		if err != nil {
			return "", err
		}
		for _, pid := range found {
			all = append(all, strconv.Itoa(pid))
		}
	}
	data := filepath.Join(s.scratch, "perf.data")
	looking, err := process.Start(exec.Command("perf", "record", "-q", "-F", "499", "-g", "-o", data,
		"-p", strings.Join(all, ",")))
	if err != nil {
		return "", fmt.Errorf("perf (Debian's package linux-perf): %w", err)
	}
	_, err = wrk(ctx, s.scratch, s.local.URL, c.cookie, c.requests, clients, s.options.seconds)
	if err := errors.Join(err, looking.Stop(os.Interrupt, stopTimeout)); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, question := range [][]string{
		{"--sort", "comm", "--no-children", "--percent-limit", "1"},
		{"--sort", "comm,symbol", "--no-children", "--percent-limit", "0.5"},
		{"--sort", "comm,symbol", "--children", "--percent-limit", "2"},
	} {
		answer, err := exec.CommandContext(ctx, "perf", append([]string{"report", "-i", data, "--stdio", "-g", "none"},
			question...)...).Output()
		if err != nil {
			return "", fmt.Errorf("perf report: %w", err)
		}
		text.Write(answer)
	}
	return text.String(), os.Remove(data)
}
