package main

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestReadFigures_TakesOnlyARunWithoutFaults(t *testing.T) {
	got, err := readFigures("Running 1s test\n\nFIGURES 900 2000000 0 0 1500 2500 9000\n")
	want := figures{Requests: 900, Elapsed: 2 * time.Second, P50: 1500 * time.Microsecond,
		P95: 2500 * time.Microsecond, P99: 9 * time.Millisecond}
	errortest.None(t, err)
	valuetest.Same(t, got, want)
	valuetest.Same(t, got.rate(), 450, "requests a second, want 450")
	for what, printed := range map[string]string{
		"nothing":               "",
		"no request":            "\nFIGURES 0 2000000 0 0 0 0 0\n",
		"one without an answer": "\nFIGURES 900 2000000 1 0 1500 2500 9000\n",
		"one refused":           "\nFIGURES 900 2000000 0 1 1500 2500 9000\n",
		"half a line":           "\nFIGURES 900 2000000\n",
	} {
		got, err := readFigures(printed)
		errortest.Some(t, err, "%s: got %+v", what, got)
	}
}

func TestUsed_IsByKindAndNeverNegative(t *testing.T) {
	got := used(map[string]float64{"events": 2, "database": 9},
		map[string]float64{"events": 3.5, "notes": 1, "database": 8})
	// A process of the database that ended took its time with it: the difference is not negative.
	valuetest.Equal(t, map[string]float64{"events": 1.5, "notes": 1, "database": 0}, got)
}

// measured returns the result of a call with distinct rates and times.
func measured(call string, clients, requests int) result {
	took := time.Duration(clients) * time.Second / time.Duration(requests)
	return result{Call: call, Clients: clients, Engine: "MongoDB 8.0.4", size: size{1000, 1, 1},
		figures:   figures{Requests: requests, Elapsed: time.Second, P50: took, P95: 2 * took, P99: 5 * took},
		Processor: map[string]float64{"events": 1 / float64(requests)}}
}

func TestReport_ShowsAimsAndHowItComparesWithAnotherRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "before")
	first := report{results: []result{measured(eventDetail, 1, 100), measured(eventDetail, 16, 400)}}
	errortest.None(t, first.write(io.Discard, path))
	before, err := readResults(path + ".json")
	errortest.None(t, err)
	second := report{before: before, elsewhere: true, results: []result{
		measured(eventDetail, 1, 200), measured(eventDetail, 16, 200), measured(login, 1, 1)}}
	for i, want := range [][]string{{"2.00", "0.50", "0.50"}, {"0.50", "2.00", "2.00"}, nil} {
		if diff := cmp.Diff(want, second.ofBefore(second.results[i])); diff != "" {
			t.Errorf("%s: %s", second.results[i], diff)
		}
	}
	text := second.markdown()
	for _, part := range []string{"| processor, of before's |", "*Before's* document store was MongoDB 8.0.4.",
		"The document store is at `MONGODB_URI`",
		"| event | 1 | 200 |  | 5.00 | 1.3 | 10.00 | 25.00 | p50 |",
		"| event | 16 | 200 | 2000 | 80.00 |  | 160.00 | 400.00 | requests/s, p99 over 4 × p50 |"} {
		valuetest.Has(t, text, part, "there is no %q", part)
	}
}

func TestParse_RefusesWhatCannotBeMeasured(t *testing.T) {
	for _, args := range [][]string{
		{"-clients", "0"}, {"-clients", "1,many"}, {"-seconds", "0"}, {"-runs", "0"}, {"-calls", "("},
		{"-schools", "0"}, {"-schools", "1000"}, {"-memory", "-1"},
	} {
		got, err := parse(args)
		errortest.Some(t, err, "%v: got %+v", args, got)
	}
	errortest.Some(t, errortest.Of(readResults(filepath.Join(t.TempDir(), "missing.json"))),
		"results that are missing were read")
}
