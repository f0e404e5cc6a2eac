package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/names"
)

// leastShown is how many documents a collection has at least that is shown.
const leastShown = 1000

// report is what was measured of one school.
type report struct {
	options arguments
	machine machine
	results []result
	before  []result // of another run
	idle    map[string]held
	held    map[string]held // after all calls
	starts  map[string]time.Duration
	loaded  loading
	stored  stored
}

// console is where a run says what it does.
type console struct{ io.Writer }

func (c console) print(format string, values ...any) error {
	_, err := fmt.Fprintf(c, format, values...)
	return err
}

// write writes the report as Markdown to out, and as Markdown and CSV to files.
func (r report) write(out console, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	markdown := r.markdown()
	if err := errors.Join(os.WriteFile(path+".md", []byte(markdown), 0o644),
		writeCSV(path+".csv", r.results, r.machine)); err != nil {
		return err
	}
	return out.print("\n%s\nwritten to %s.md and .csv\n", markdown, path)
}

func (r report) markdown() string {
	var b strings.Builder
	o := r.options
	fmt.Fprintf(&b, "%s. %s, seed %d: %d events, %d elements. %d s a measurement, median of %d.\n\n",
		r.machine, o.describe(), o.seed, r.stored.of("events"), r.stored.of("elements"), o.seconds, o.runs)
	if o.memory > 0 {
		fmt.Fprintf(&b, "The document store keeps up to %d MB of data in memory of its own.\n\n", o.memory)
	}
	r.writeResults(&b)
	r.writeProcessor(&b)
	r.writeAims(&b)
	r.writeMemory(&b)
	return b.String()
}

func (r report) writeResults(b *strings.Builder) {
	head := []string{"call", "clients", "requests/s", "p50 ms", "p95 ms", "p99 ms", "floor/s", "of the floor",
		"p50 of the floor's", "of the first"}
	if len(r.before) > 0 {
		head = append(head, "of before", "p50 of before's", "processor of before's")
	}
	writeHead(b, head...)
	for _, m := range r.results {
		row := []string{m.call, strconv.Itoa(m.clients), number(m.belfry.rate(), 0), millis(m.belfry.p50),
			millis(m.belfry.p95), millis(m.belfry.p99), number(m.floorRate(), 0),
			ratio(m.belfry.rate(), m.floorRate()), ratio(m.belfry.p50.Seconds(), m.floorP50().Seconds()), m.ofFirst()}
		if len(r.before) > 0 {
			row = append(row, r.ofBefore(m)...)
		}
		writeRow(b, row...)
	}
}

// ofBefore returns how the rate, the median and the processor time compare with those of the other run; "" for what
// that doesn't have.
func (r report) ofBefore(now result) []string {
	for _, old := range r.before {
		if old.call == now.call && old.clients == now.clients {
			return []string{ratio(now.belfry.rate(), old.belfry.rate()),
				ratio(now.belfry.p50.Seconds(), old.belfry.p50.Seconds()),
				ratio(now.allProcessor().Seconds(), old.allProcessor().Seconds())}
		}
	}
	return []string{"", "", ""}
}

// writeProcessor writes what a request costs with most clients: fewest of the processors' time is idle then.
func (r report) writeProcessor(b *strings.Builder) {
	clients := slices.Max(r.options.clients)
	fmt.Fprintf(b, "\nProcessor time of a request in ms, with %d clients, and its round trips:\n\n", clients)
	writeHead(b, slices.Concat([]string{"call"}, kindNames(), []string{"all", "MongoDB", "Redis", "neighbours"})...)
	for _, m := range r.results {
		if m.clients != clients {
			continue
		}
		row := []string{m.call}
		for _, kind := range kindNames() {
			row = append(row, number(m.processor[kind]*1000, 2))
		}
		writeRow(b, append(row, millis(m.allProcessor()), strconv.Itoa(m.trips.mongo), strconv.Itoa(m.trips.redis),
			strconv.Itoa(m.trips.neighbours))...)
	}
}

// writeAims writes what was aimed at, and whether it is reached.
func (r report) writeAims(b *strings.Builder) {
	fmt.Fprintf(b, "\nAims: requests/s and p99 with %d clients, p50 with one.\n\n", aimClients)
	writeHead(b, "call", "requests/s", "aim", "p50 ms", "aim", fmt.Sprintf("p99 of p50, aim %d", mostTail), "missed")
	of := func(call string, clients int) (result, bool) {
		i := slices.IndexFunc(r.results, func(m result) bool { return m.call == call && m.clients == clients })
		if i < 0 {
			return result{}, false
		}
		return r.results[i], true
	}
	for _, m := range r.results {
		one, found := of(m.call, 1)
		if m.clients != aimClients || !found {
			continue
		}
		a := aimOf(m.call)
		tail := m.belfry.p99.Seconds() / m.belfry.p50.Seconds()
		var missed []string
		if m.belfry.rate() < a.rate {
			missed = append(missed, "requests/s")
		}
		if a.p50 > 0 && one.belfry.p50 > a.p50 {
			missed = append(missed, "p50")
		}
		if tail > mostTail {
			missed = append(missed, "p99")
		}
		writeRow(b, m.call, number(m.belfry.rate(), 0), optional(a.rate, 0), millis(one.belfry.p50),
			optional(a.p50.Seconds()*1000, 1), number(tail, 1),
			cmp.Or(strings.Join(missed, ", "), "–"))
	}
}

// optional returns "" for 0.
func optional(value float64, digits int) string {
	if value == 0 {
		return ""
	}
	return number(value, digits)
}

func (r report) writeMemory(b *strings.Builder) {
	if took := r.loaded; took.Seconds > 0 {
		fmt.Fprintf(b, "\nImport by belfryctl: %d records in %.0f s (aim %.0f s), %.0f a second; belfryctl held %d MB "+
			"at most (aim %d). Processor time in s:", took.Records, took.Seconds, mostImport.Seconds(),
			float64(took.Records)/took.Seconds, took.Peak>>20, mostImporter>>20)
		for _, kind := range slices.Concat(kindNames(), []string{importer}) {
			fmt.Fprintf(b, " %s %.0f", kind, took.Processor[kind])
		}
		b.WriteString(".\n")
	}
	fmt.Fprintf(b, "\nOn disk %d MB, in Redis %d MB.\n\n", r.stored.disk>>20, r.stored.redis>>20)
	writeHead(b, "collection", "documents", "bytes of one", "MB stored", "MB of indexes")
	for _, c := range r.stored.collections {
		if c.Documents >= leastShown {
			writeRow(b, c.name, strconv.FormatInt(c.Documents, 10), strconv.FormatInt(c.Size/c.Documents, 10),
				strconv.FormatInt(c.Stored>>20, 10), strconv.FormatInt(c.Indexes>>20, 10))
		}
	}
	b.WriteString("\n")
	writeHead(b, "process", "MB idle", "MB after all calls", "MB at most", "ms from exec to ready")
	for _, kind := range kindNames() {
		now, found := r.held[kind]
		if !found {
			continue
		}
		ready := ""
		if slices.Contains(names.All(), kind) {
			ready = number(r.starts[kind].Seconds()*1000, 0)
		}
		writeRow(b, kind, strconv.Itoa(r.idle[kind].resident>>20), strconv.Itoa(now.resident>>20),
			optional(float64(now.peak>>20), 0), ready)
	}
	fmt.Fprintf(b, "\nAims for a service: %d MB idle, %d MB at most, ready after %d ms.\n", mostIdle>>20,
		mostLoaded>>20, mostStart.Milliseconds())
}

func writeHead(b *strings.Builder, cells ...string) {
	writeRow(b, cells...)
	b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

func writeRow(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
