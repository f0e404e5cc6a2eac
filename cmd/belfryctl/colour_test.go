package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// terminal is a file that is one.
func terminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	errortest.None(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestColour_OnlyOnATerminalAndNotAgainstNoColor(t *testing.T) {
	t.Parallel()
	file, err := os.Create(t.TempDir() + "/out")
	errortest.None(t, err)
	defer func() { _ = file.Close() }()
	tty := terminal(t)
	for name, c := range map[string]struct {
		s    surroundings
		want bool
	}{
		"a terminal":         {surroundings{out: tty, env: environment()}, true},
		"with NO_COLOR":      {surroundings{out: tty, env: environment("NO_COLOR", "1")}, false},
		"with an empty one":  {surroundings{out: tty, env: environment("NO_COLOR", "")}, true},
		"that can't":         {surroundings{out: tty, env: environment("TERM", "dumb")}, false},
		"a file":             {surroundings{out: file, env: environment()}, false},
		"a pipe or a buffer": {surroundings{out: &bytes.Buffer{}, env: environment()}, false},
	} {
		valuetest.Same(t, c.s.coloured(), c.want, name)
	}
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// A table is the same with and without colours, but for them: cells stay in line.
func TestColour_LeavesATableInLine(t *testing.T) {
	t.Parallel()
	text, status := table([]string{"body", "status", "through"}, [][]any{
		{"Théâtre", "requested", "-"}, {"M", "uncontrolled", ""}, {"Requested", "rejected", "7A rejected"},
	})
	plain := surroundings{out: &bytes.Buffer{}, env: environment()}.paintTable(text, status)
	s := surroundings{out: terminal(t), env: environment()}
	painted := s.paintTable(text, status)
	for _, want := range []string{
		"\x1b[1mbody", "\x1b[33mrequested\x1b[0m ", "\x1b[31mrejected\x1b[0m ", "7A rejected\n",
		"\nM          uncontrolled",
	} {
		valuetest.Has(t, painted, want)
	}
	bare := painted
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[33m"} {
		bare = strings.ReplaceAll(bare, code, "")
	}
	if bare != plain || plain != text {
		t.Errorf("%q without colours, want %q", bare, plain)
	}
}
