package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// result is what was measured of a call with some number of clients.
type result struct {
	call      string
	clients   int
	belfry    figures
	floor     figures            // no requests: there is none
	processor map[string]float64 // seconds a request, by kind of process
}

// measure measures a call, as often as asked for; the run of the median rate counts.
func (s *school) measure(ctx context.Context, c call, f *floors, clients int) (result, error) {
	var all []result
	for range s.options.runs {
		before, err := usages()
		if err != nil {
			return result{}, err
		}
		got, err := wrk(ctx, s.scratch, s.local.URL, s.cookie, c.requests, clients, s.options.seconds)
		if err != nil {
			return result{}, err
		}
		after, err := usages()
		if err != nil {
			return result{}, err
		}
		r := result{call: c.name, clients: clients, belfry: got, processor: used(before, after)}
		for kind := range r.processor {
			r.processor[kind] /= float64(got.requests)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.belfry.rate(), b.belfry.rate()) })
	median := all[len(all)/2]
	var err error
	median.floor, err = f.measure(ctx, c, clients, max(1, s.options.seconds/4))
	return median, err
}

// columns are those of the table, with the names that the CSV has.
var columns = append([]string{"call", "clients", "requests/s", "p50 ms", "p95 ms", "p99 ms", "floor/s", "of the floor"},
	processorColumns()...)

func processorColumns() []string {
	var names []string
	for _, kind := range kindNames() {
		names = append(names, kind+" ms")
	}
	return append(names, "processor ms")
}

// cells returns the values of the columns.
func (r result) cells() []string {
	row := []string{r.call, strconv.Itoa(r.clients), number(r.belfry.rate(), 1),
		millis(r.belfry.p50), millis(r.belfry.p95), millis(r.belfry.p99), "", ""}
	if r.floor.requests > 0 {
		row[6], row[7] = number(r.floor.rate(), 1), number(r.belfry.rate()/r.floor.rate(), 3)
	}
	var sum float64
	for _, kind := range kindNames() {
		sum += r.processor[kind]
		row = append(row, number(r.processor[kind]*1000, 3))
	}
	return append(row, number(sum*1000, 3))
}

func (r result) String() string {
	line := fmt.Sprintf("%-42s %4d clients  %8.0f/s  p50 %7s  p99 %7s ms", r.call, r.clients, r.belfry.rate(),
		millis(r.belfry.p50), millis(r.belfry.p99))
	if r.floor.requests > 0 {
		line += fmt.Sprintf("  floor %8.0f/s", r.floor.rate())
	}
	return line
}

func number(value float64, digits int) string { return strconv.FormatFloat(value, 'f', digits, 64) }

func millis(d time.Duration) string { return number(float64(d.Microseconds())/1000, 2) }

// report is a whole run.
type report struct {
	options arguments
	school  *school
	results []result
	before  []result          // of another run
	memory  map[string][2]int // bytes idle and now
}

// write writes the table as Markdown to out, and as Markdown and CSV to files.
func (r report) write(out io.Writer) error {
	if err := os.MkdirAll(filepath.Dir(r.options.out), 0o755); err != nil {
		return err
	}
	markdown := r.markdown()
	var table strings.Builder
	rows := [][]string{columns}
	for _, measured := range r.results {
		rows = append(rows, measured.cells())
	}
	if err := csv.NewWriter(&table).WriteAll(rows); err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(r.options.out+".md", []byte(markdown), 0o644),
		os.WriteFile(r.options.out+".csv", []byte(table.String()), 0o644)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\nwritten to %s.md and .csv\n", markdown, r.options.out)
	return err
}

func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %d pupils, %d years, seed %d. %d s a measurement, median of %d.\n\n", machine(),
		r.options.pupils, r.options.years, r.options.seed, r.options.seconds, r.options.runs)
	head := columns
	if len(r.before) > 0 {
		head = append(slices.Clone(columns), "of before")
	}
	writeRow(&b, head)
	writeRow(&b, slices.Repeat([]string{"---"}, len(head)))
	for _, measured := range r.results {
		row := measured.cells()
		if len(r.before) > 0 {
			row = append(row, r.ofBefore(measured))
		}
		writeRow(&b, row)
	}
	if took := r.school.loaded; took.elapsed > 0 {
		fmt.Fprintf(&b, "\nImport: %d records in %.1f s.\n", took.records, took.elapsed.Seconds())
	}
	b.WriteString("\n| process | MB idle | MB after this |\n|---|---|---|\n")
	for _, kind := range kindNames() {
		if held, found := r.memory[kind]; found {
			fmt.Fprintf(&b, "| %s | %d | %d |\n", kind, held[0]>>20, held[1]>>20)
		}
	}
	return b.String()
}

// ofBefore returns how many times as many requests a second there are as in the other run; "" when it has none.
func (r report) ofBefore(now result) string {
	for _, old := range r.before {
		if old.call == now.call && old.clients == now.clients {
			return number(now.belfry.rate()/old.belfry.rate(), 2)
		}
	}
	return ""
}

func writeRow(b *strings.Builder, cells []string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// machine names what was measured and on what.
func machine() string {
	commit := "an unknown commit"
	if printed, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		commit = strings.TrimSpace(string(printed))
	}
	model := "an unknown processor"
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if info, err := fs.CPUInfo(); err == nil && len(info) > 0 {
			model = fmt.Sprintf("%d × %s", len(info), cmp.Or(info[0].ModelName, "unknown processor"))
		}
	}
	return fmt.Sprintf("Belfry %s, %s, %s, %s", commit, runtime.Version(), model,
		time.Now().UTC().Format(time.DateOnly))
}

// readCSV reads the results of another run, as far as they are compared.
func readCSV(path string) ([]result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) < 1 || len(rows[0]) < 3 {
		return nil, fmt.Errorf("%s holds no results: %w", path, err)
	}
	var all []result
	for _, row := range rows[1:] {
		clients, err1 := strconv.Atoi(row[1])
		rate, err2 := strconv.ParseFloat(row[2], 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, result{call: row[0], clients: clients,
			belfry: figures{requests: int(rate * 1000), elapsed: 1000 * time.Second}})
	}
	return all, nil
}
