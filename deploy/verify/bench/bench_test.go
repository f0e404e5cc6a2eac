package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadFigures_TakesOnlyARunWithoutFaults(t *testing.T) {
	got, err := readFigures("Running 1s test\n\nFIGURES 900 2000000 0 0 1500 2500 9000\n")
	want := figures{requests: 900, elapsed: 2 * time.Second, p50: 1500 * time.Microsecond,
		p95: 2500 * time.Microsecond, p99: 9 * time.Millisecond}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if got.rate() != 450 {
		t.Errorf("got %v requests a second, want 450", got.rate())
	}
	for what, printed := range map[string]string{
		"nothing":               "",
		"no request":            "\nFIGURES 0 2000000 0 0 0 0 0\n",
		"one without an answer": "\nFIGURES 900 2000000 1 0 1500 2500 9000\n",
		"one refused":           "\nFIGURES 900 2000000 0 1 1500 2500 9000\n",
		"half a line":           "\nFIGURES 900 2000000\n",
	} {
		if got, err := readFigures(printed); err == nil {
			t.Errorf("%s: got %+v", what, got)
		}
	}
}

func TestUsed_IsByKindAndNeverNegative(t *testing.T) {
	got := used(map[string]usage{"events": {seconds: 2}, "database": {seconds: 9}},
		map[string]usage{"events": {seconds: 3.5}, "notes": {seconds: 1}, "database": {seconds: 8}})
	// A process of the database that ended took its time with it: that is no negative time.
	if diff := cmp.Diff(map[string]float64{"events": 1.5, "notes": 1, "database": 0}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReport_SaysHowItComparesWithAnotherRun(t *testing.T) {
	dir := t.TempDir()
	measured := func(call string, clients, requests int) result {
		return result{call: call, clients: clients, belfry: figures{requests: requests, elapsed: time.Second}}
	}
	o, err := parse([]string{"-out", filepath.Join(dir, "before")})
	if err != nil {
		t.Fatal(err)
	}
	first := report{options: o, school: &school{},
		results: []result{measured("event", 1, 100), measured("event", 16, 400)}}
	if err := first.write(&strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	before, err := readCSV(filepath.Join(dir, "before.csv"))
	if err != nil {
		t.Fatal(err)
	}
	second := report{options: o, school: &school{}, before: before,
		results: []result{measured("event", 1, 150), measured("event", 16, 200), measured("login", 1, 1)}}
	for i, want := range []string{"1.50", "0.50", ""} {
		r := second.results[i]
		if got := second.ofBefore(r); got != want {
			t.Errorf("%s with %d clients: got %q, want %q", r.call, r.clients, got, want)
		}
	}
	if text := second.markdown(); !strings.Contains(text, "of before") {
		t.Errorf("the table has no such column:\n%s", text)
	}
}

func TestReadCSV_RefusesWhatIsNone(t *testing.T) {
	for what, text := range map[string]string{
		"empty": "", "a word": "word\n", "a rate that is none": "call,clients,requests/s\nevent,1,many\n",
	} {
		path := filepath.Join(t.TempDir(), "results.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readCSV(path); err == nil {
			t.Errorf("%s: got %+v", what, got)
		}
	}
}

func TestParse_RefusesWhatCannotBeMeasured(t *testing.T) {
	for _, args := range [][]string{
		{"-clients", "0"}, {"-clients", "1,many"}, {"-seconds", "0"}, {"-runs", "0"}, {"-calls", "("},
	} {
		if got, err := parse(args); err == nil {
			t.Errorf("%v: got %+v", args, got)
		}
	}
}
