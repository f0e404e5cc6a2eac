package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// script makes wrk send the requests of a file.
//
//go:embed wrk.lua
var script string

// figures is what one measurement gave.
type figures struct {
	Requests      int
	Elapsed       time.Duration
	P50, P95, P99 time.Duration
}

// rate is the requests answered a second.
func (f figures) rate() float64 { return float64(f.Requests) / f.Elapsed.Seconds() }

// wrk sends the requests in turn with that many clients, each as soon as its last was answered. An answer of 400 or
// above, and none, fail it. The cookie reaches the program by its environment, never by its arguments.
func wrk(ctx context.Context, dir, url, cookie string, requests []request, clients, seconds int) (figures, error) {
	lua, list := filepath.Join(dir, "wrk.lua"), filepath.Join(dir, "requests")
	var lines strings.Builder
	for _, r := range requests {
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", r.method, r.path, r.body)
	}
	if err := errors.Join(os.WriteFile(lua, []byte(script), 0o600),
		os.WriteFile(list, []byte(lines.String()), 0o600)); err != nil {
		return figures{}, err
	}
	command := exec.CommandContext(ctx, "wrk", "-t1",
		"-c"+strconv.Itoa(clients), fmt.Sprintf("-d%ds", seconds), "--timeout", "30s",
		"-s", lua, url, "--", list)
	command.Env = append(os.Environ(), "BENCH_COOKIE="+cookie)
	var faults bytes.Buffer
	command.Stderr = &faults
	printed, err := command.Output()
	if err != nil {
		return figures{}, fmt.Errorf("wrk (Debian's package of that name): %w\n%s", err, &faults)
	}
	return readFigures(string(printed))
}

// readFigures reads the line that the script prints. wrk counts in microseconds.
func readFigures(printed string) (figures, error) {
	_, line, found := strings.Cut(printed, "\nFIGURES ")
	if !found {
		return figures{}, fmt.Errorf("wrk printed no figures:\n%s", printed)
	}
	var f figures
	var elapsed, unanswered, refused, p50, p95, p99 int64
	if _, err := fmt.Sscan(line, &f.Requests, &elapsed, &unanswered, &refused, &p50, &p95, &p99); err != nil {
		return figures{}, fmt.Errorf("wrk printed %q: %w", line, err)
	}
	if unanswered+refused > 0 || f.Requests == 0 {
		return figures{}, fmt.Errorf("of %d requests, %d had no answer and %d were refused", f.Requests, unanswered,
			refused)
	}
	f.Elapsed = time.Duration(elapsed) * time.Microsecond
	f.P50, f.P95, f.P99 = micro(p50), micro(p95), micro(p99)
	return f, nil
}

func micro(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
