package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
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
	got := used(map[string]float64{"events": 2, "database": 9},
		map[string]float64{"events": 3.5, "notes": 1, "database": 8})
	// A process of the database that ended took its time with it: that is no negative time.
	if diff := cmp.Diff(map[string]float64{"events": 1.5, "notes": 1, "database": 0}, got); diff != "" {
		t.Error(diff)
	}
}

// measured returns the result of a call with rates and times that tell it from others.
func measured(call string, clients, requests int) result {
	took := time.Duration(clients) * time.Second / time.Duration(requests)
	return result{call: call, clients: clients, size: size{1000, 1, 1}, trips: trips{1, 2, 3},
		belfry:    figures{requests: requests, elapsed: time.Second, p50: took, p95: 2 * took, p99: 3 * took},
		door:      figures{requests: 1000, elapsed: time.Second, p50: time.Millisecond},
		store:     figures{requests: 1000, elapsed: time.Second, p50: time.Millisecond},
		processor: map[string]float64{"events": 1 / float64(requests)}}
}

func TestReport_SaysHowItComparesWithAnotherRun(t *testing.T) {
	dir := t.TempDir()
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	first := report{options: o, results: []result{measured(eventDetail, 1, 100), measured(eventDetail, 16, 400)}}
	if err := first.write(console{io.Discard}, filepath.Join(dir, "before")); err != nil {
		t.Fatal(err)
	}
	before, err := readCSV(filepath.Join(dir, "before.csv"))
	if err != nil {
		t.Fatal(err)
	}
	second := report{options: o, before: before, results: []result{
		measured(eventDetail, 1, 200), measured(eventDetail, 16, 200), measured(login, 1, 1)}}
	for i, want := range [][]string{{"2.00", "0.50", "0.50"}, {"0.50", "2.00", "2.00"}, {"", "", ""}} {
		if diff := cmp.Diff(want, second.ofBefore(second.results[i])); diff != "" {
			t.Errorf("%s: %s", second.results[i], diff)
		}
	}
	text := second.markdown()
	for _, part := range []string{"| of before |", "| event | 200 | 2000 | 5.00 | 1.3 | 3.0 | requests/s, p50 |"} {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in\n%s", part, text)
		}
	}
}

func TestFloor_IsTheDoorsShareAndTheStores(t *testing.T) {
	r := measured(day, 16, 250)
	if r.floorRate() != 500 || r.floorP50() != 2*time.Millisecond {
		t.Errorf("got %v/s and %v", r.floorRate(), r.floorP50())
	}
	r.store = figures{} // it needs none
	if r.floorRate() != 1000 || r.floorP50() != time.Millisecond {
		t.Errorf("without a store: got %v/s and %v", r.floorRate(), r.floorP50())
	}
}

func TestReadCSV_HasWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	want := []result{measured(day, 1, 100), measured(login, 16, 500)}
	if err := writeCSV(path, want, machine{commit: "abc", hardware: "2 × a, b"}); err != nil {
		t.Fatal(err)
	}
	got, err := readCSV(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		for _, c := range columns() {
			if got, want := c.show(got[i]), c.show(want[i]); got != want {
				t.Errorf("%s, %s: got %q, want %q", want, c.name, got, want)
			}
		}
	}
}

// What was measured before there could be several schools was measured in one.
func TestReadCSV_AnOlderRunWasOfOneSchool(t *testing.T) {
	path := filepath.Join(t.TempDir(), "older.csv")
	text := "call,pupils,years,clients,requests/s,p50 ms\nevent,1000,5,16,800.0,20.00\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readCSV(path)
	if err != nil || len(got) != 1 || got[0].size != (size{1000, 5, 1}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParse_ReadsTheSizes(t *testing.T) {
	got, err := parse([]string{"-growth", "-schools", "1000x1,30x2x3"})
	if want := []size{{1000, 1, 1}, {30, 2, 3}}; err != nil || !slices.Equal(got.sizes, want) {
		t.Errorf("got %+v, %v, want %+v", got.sizes, err, want)
	}
	if got, err = parse([]string{"-growth"}); err != nil || !slices.Contains(got.sizes, size{1000, 1, 20}) {
		t.Errorf("got %+v, %v: 20 schools are missing", got.sizes, err)
	}
	one, err := parse([]string{"-pupils", "30"})
	if err != nil || one.size != (size{30, 5, 1}) || strings.Contains(one.folder(""), "schools") {
		t.Errorf("got %+v in %s, %v", one.size, one.folder(""), err)
	}
	several, err := parse([]string{"-pupils", "30", "-schools", "3"})
	if err != nil || several.size != (size{30, 5, 3}) || several.folder("") == one.folder("") {
		t.Errorf("got %+v in %s, %v", several.size, several.folder(""), err)
	}
}

func TestReadCSV_RefusesWhatIsNone(t *testing.T) {
	for what, text := range map[string]string{
		"empty": "", "a word": "word\n", "a rate that is none": "call,clients,requests/s\nevent,1,many\n",
		"no column of clients": "call,requests/s\nevent,1\n",
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

func TestBudget_HasARowForEachCall(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBudget(root)
	if err != nil {
		t.Fatal(err)
	}
	for call, begins := range budgeted {
		if got, err := b.of(begins); err != nil || got.mongo+got.redis == 0 {
			t.Errorf("%s: got %+v, %v", call, got, err)
		}
	}
	for _, a := range aims {
		if budgeted[a.call] == "" {
			t.Errorf("%s has an aim but is not measured", a.call)
		}
	}
	got, err := budget{"| GET /ical/{file} | a pupil | 7 | 0 | events 1, identity 2 | 3 | 1 |"}.of("GET /ical/{file} |")
	if want := (trips{mongo: 10, redis: 1, neighbours: 3}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if got, err := b.of("GET /nowhere"); err == nil {
		t.Errorf("a row that is missing: got %+v", got)
	}
}

// measuredSchool returns what a school of a size gave, on a machine so many times as slow: a day grows, an event does
// not.
func measuredSchool(pupils, years, times int) []result {
	return measuredSchools(size{pupils, years, 1}, times)
}

func measuredSchools(of size, times int) []result {
	var all []result
	for _, clients := range []int{1, 16} {
		for _, r := range []result{measured(whoami, clients, 400/times), measured(day, clients, 160/times/times),
			measured(eventDetail, clients, 160/times)} {
			r.size = of
			all = append(all, r)
		}
	}
	return all
}

func TestGrowth_IsHowManyTimesTheSmallestEachSizeTakes(t *testing.T) {
	all := slices.Concat(measuredSchool(1000, 1, 1), measuredSchool(1000, 10, 4), measuredSchool(1000, 5, 2),
		measuredSchool(20000, 1, 1), measuredSchools(size{1000, 1, 20}, 4))
	dir := t.TempDir()
	path := filepath.Join(dir, "all.csv")
	if err := writeCSV(path, all, machine{}); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := run(t.Context(), []string{"-growth", "-from", path, "-out", out}, io.Discard); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out + "-growth.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"× with 5 school years | × with 10 school years",
		"| a pupil's day | 2.50 | 2.00 | 4.00 |",
		"| event | 2.50 | 1.00 | 1.00 |", "× with 20,000 pupils", "1 school | × with 20 schools |",
		"| a pupil's day | 2.50 | 4.00 |", "schools in one Belfry grow, with 16 clients (aim: × 1.2 at most):"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("there is no %q in\n%s", part, text)
		}
	}
}

func TestParse_RefusesWhatCannotBeMeasured(t *testing.T) {
	for _, args := range [][]string{
		{"-clients", "0"}, {"-clients", "1,many"}, {"-seconds", "0"}, {"-runs", "0"}, {"-calls", "("},
		{"-schools", "1000"}, {"-schools", "0"}, {"-schools", "1000x1x20"}, {"-growth", "-schools", "1000"},
		{"-growth", "-schools", "1000x1x"}, {"-growth", "-schools", "1000x1x20x3"}, {"-crowd", "-1"}, {"-memory", "-1"},
	} {
		if got, err := parse(args); err == nil {
			t.Errorf("%v: got %+v", args, got)
		}
	}
}
