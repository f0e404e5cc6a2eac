package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// column is a column of the CSV: what it shows of a result, and, where runs are compared by it, what it sets.
type column struct {
	name string
	show func(result) string
	set  func(*result, float64)
}

// baseRequests is of how many requests a rate that was read is taken to be.
const baseRequests = 1 << 20

// columns are those of the CSV but for the machine's.
func columns() []column {
	all := []column{
		{"pupils", func(r result) string { return strconv.Itoa(r.pupils) },
			func(r *result, v float64) { r.pupils = int(v) }},
		{"years", func(r result) string { return strconv.Itoa(r.years) },
			func(r *result, v float64) { r.years = int(v) }},
		{"schools", func(r result) string { return strconv.Itoa(r.schools) },
			func(r *result, v float64) { r.schools = int(v) }},
		{"clients", func(r result) string { return strconv.Itoa(r.clients) },
			func(r *result, v float64) { r.clients = int(v) }},
		{"requests/s", func(r result) string { return number(r.belfry.rate(), 1) },
			func(r *result, v float64) { r.belfry.setRate(v) }},
		{"p50 ms", func(r result) string { return millis(r.belfry.p50) },
			func(r *result, v float64) { r.belfry.p50 = fromMillis(v) }},
		{"p95 ms", func(r result) string { return millis(r.belfry.p95) },
			func(r *result, v float64) { r.belfry.p95 = fromMillis(v) }},
		{"p99 ms", func(r result) string { return millis(r.belfry.p99) },
			func(r *result, v float64) { r.belfry.p99 = fromMillis(v) }},
		{"door/s", func(r result) string { return rate(r.door) }, func(r *result, v float64) { r.door.setRate(v) }},
		{"door p50 ms", func(r result) string { return millis(r.door.p50) },
			func(r *result, v float64) { r.door.p50 = fromMillis(v) }},
		{"store/s", func(r result) string { return rate(r.store) }, func(r *result, v float64) { r.store.setRate(v) }},
		{"store p50 ms", func(r result) string { return millis(r.store.p50) },
			func(r *result, v float64) { r.store.p50 = fromMillis(v) }},
		{"of the floor", func(r result) string { return ratio(r.belfry.rate(), r.floorRate()) }, nil},
		{"p50 of the floor's", func(r result) string {
			return ratio(r.belfry.p50.Seconds(), r.floorP50().Seconds())
		}, nil},
		{"of the first", func(r result) string { return r.ofFirst() }, nil},
		{"MongoDB", func(r result) string { return strconv.Itoa(r.trips.mongo) },
			func(r *result, v float64) { r.trips.mongo = int(v) }},
		{"Redis", func(r result) string { return strconv.Itoa(r.trips.redis) },
			func(r *result, v float64) { r.trips.redis = int(v) }},
		{"neighbours", func(r result) string { return strconv.Itoa(r.trips.neighbours) },
			func(r *result, v float64) { r.trips.neighbours = int(v) }},
	}
	for _, kind := range kindNames() {
		all = append(all, column{kind + " ms", func(r result) string { return number(r.processor[kind]*1000, 3) },
			func(r *result, v float64) { r.processor[kind] = v / 1000 }})
	}
	return append(all, column{"processor ms", func(r result) string {
		return number(r.allProcessor().Seconds()*1000, 3)
	}, nil})
}

// writeCSV writes the results, each with the machine, so that tables of several runs can be put together.
func writeCSV(path string, results []result, m machine) error {
	head := []string{"call"}
	for _, c := range columns() {
		head = append(head, c.name)
	}
	rows := [][]string{append(head, "commit", "date", "machine", "versions")}
	for _, r := range results {
		row := []string{r.call}
		for _, c := range columns() {
			row = append(row, c.show(r))
		}
		rows = append(rows, append(row, m.commit, m.date, m.hardware, m.versions))
	}
	var text strings.Builder
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

// readCSV reads the results of another run. Columns that it lacks stay empty, but for the call, the clients and the
// rate.
func readCSV(path string) ([]result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%s holds no results", path)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	for _, name := range []string{"call", "clients", "requests/s"} {
		if _, found := at[name]; !found {
			return nil, fmt.Errorf("%s has no column %q", path, name)
		}
	}
	var all []result
	for _, row := range rows[1:] {
		// a run before there was a column of schools was of one
		r := result{call: row[at["call"]], size: size{schools: 1}, processor: map[string]float64{}}
		for _, c := range columns() {
			i, found := at[c.name]
			if !found || c.set == nil || row[i] == "" {
				continue
			}
			value, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("%s: column %q", path, c.name), err)
			}
			c.set(&r, value)
		}
		all = append(all, r)
	}
	return all, nil
}

// setRate makes figures of a rate.
func (f *figures) setRate(rate float64) {
	if rate > 0 {
		f.requests, f.elapsed = baseRequests, time.Duration(baseRequests/rate*float64(time.Second))
	}
}

func rate(f figures) string {
	if f.requests == 0 {
		return ""
	}
	return number(f.rate(), 1)
}

// ratio returns how many times as large the first is; "" when one of them was not measured.
func ratio(a, b float64) string {
	if a == 0 || b == 0 {
		return ""
	}
	return number(a/b, 2)
}

// ofFirst returns how many times as many requests a second there are as in the first measurement, with so many
// clients, and with one how many times as fast the median request is.
func (r result) ofFirst() string {
	first := aimOf(r.call)
	switch r.clients {
	case aimClients:
		return ratio(r.belfry.rate(), first.firstRate)
	case 1:
		return ratio(first.firstP50.Seconds(), r.belfry.p50.Seconds())
	}
	return ""
}

func number(value float64, digits int) string { return strconv.FormatFloat(value, 'f', digits, 64) }

func millis(d time.Duration) string { return number(float64(d.Microseconds())/1000, 2) }

func fromMillis(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
