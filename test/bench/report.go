package main

import (
	"cmp"
	"encoding/json"
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

// aim is how many requests a second a call should reach with 16 clients, and its median time with one; 0: no aim.
type aim struct {
	rate float64
	p50  time.Duration
}

// aims are of a school of 1,000 pupils and five years, on two processors that have the stores and the load on them.
var aims = map[string]aim{
	elementDetail: {3500, 800 * time.Microsecond},
	byName:        {3000, 900 * time.Microsecond},
	nameLike:      {1200, 1800 * time.Microsecond},
	day:           {1500, 1800 * time.Microsecond},
	week:          {900, 3 * time.Millisecond},
	year:          {100, 20 * time.Millisecond},
	eventDetail:   {2000, 1300 * time.Microsecond},
	eventNotes:    {2000, 1300 * time.Microsecond},
	create:        {700, 3 * time.Millisecond},
	login:         {1500, 1500 * time.Microsecond},
}

const (
	aimClients = 16 // of the rates
	// mostTail is how many times p50 the p99 may be, with that many clients.
	mostTail = 4
	// leastShown is how many documents a collection has at least that is shown.
	leastShown = 1000
)

// report is what was measured of one school.
type report struct {
	options    arguments
	machine    string
	elsewhere  bool // the document store is at MONGODB_URI
	results    []result
	before     []result // of another run
	idle, held map[string]held
	starts     map[string]time.Duration
	loaded     loading
	stored     stored
}

// write writes the report as Markdown to out and to a file, and the results as JSON for -against.
func (r report) write(out io.Writer, path string) error {
	results, err := json.MarshalIndent(r.results, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	text := r.markdown()
	if err := errors.Join(os.WriteFile(path+".md", []byte(text), 0o644),
		os.WriteFile(path+".json", results, 0o644)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s\nwritten to %s.md and .json\n", text, path)
	return err
}

func (r report) markdown() string {
	var b strings.Builder
	o := r.options
	fmt.Fprintf(&b, "%s. %s, seed %d: %d events, %d elements. %d s a measurement, median of %d.\n\n",
		r.machine, o.size, o.seed, r.stored.of("events"), r.stored.of("elements"), o.seconds, o.runs)
	if o.memory > 0 {
		fmt.Fprintf(&b, "The document store keeps up to %d MB of data in memory of its own.\n\n", o.memory)
	}
	if r.elsewhere {
		b.WriteString("The document store is at `MONGODB_URI`: its processor time, memory and disk are not in these figures." +
			"\n\n")
	}
	if len(r.before) > 0 {
		fmt.Fprintf(&b, "*Before's* document store was %s.\n\n", cmp.Or(r.before[0].Engine, "not recorded"))
	}
	r.writeResults(&b)
	r.writeStores(&b)
	r.writeProcesses(&b)
	return b.String()
}

// writeResults writes what each call took beside its aims, and the processor time of a request by process.
func (r report) writeResults(b *strings.Builder) {
	head := []string{"call", "clients", "requests/s", "aim", "p50 ms", "aim", "p95 ms", "p99 ms", "missed",
		"processor ms"}
	head = append(head, kindNames()...)
	if len(r.before) > 0 {
		head = append(head, "requests/s, of before's", "p50, of before's", "processor, of before's")
	}
	writeHead(b, head...)
	for _, m := range r.results {
		var missed []string
		a, rate, p50 := aims[m.Call], "", ""
		if m.Clients == aimClients {
			rate = optional(a.rate, 0)
			if m.rate() < a.rate {
				missed = append(missed, "requests/s")
			}
			if m.P99 > mostTail*m.P50 {
				missed = append(missed, fmt.Sprintf("p99 over %d × p50", mostTail))
			}
		}
		if m.Clients == 1 {
			p50 = optional(a.p50.Seconds()*1000, 1)
			if a.p50 > 0 && m.P50 > a.p50 {
				missed = append(missed, "p50")
			}
		}
		row := []string{m.Call, strconv.Itoa(m.Clients), number(m.rate(), 0), rate, millis(m.P50), p50, millis(m.P95),
			millis(m.P99), strings.Join(missed, ", "), millis(m.allProcessor())}
		for _, kind := range kindNames() {
			row = append(row, number(m.Processor[kind]*1000, 2))
		}
		writeRow(b, append(row, r.ofBefore(m)...)...)
	}
}

// ofBefore returns the rate, the median and the processor time as multiples of the other run's; nothing when that has
// no such call.
func (r report) ofBefore(now result) []string {
	for _, old := range r.before {
		if old.Call == now.Call && old.Clients == now.Clients {
			return []string{number(now.rate()/old.rate(), 2), number(now.P50.Seconds()/old.P50.Seconds(), 2),
				number(now.allProcessor().Seconds()/old.allProcessor().Seconds(), 2)}
		}
	}
	return nil
}

func (r report) writeStores(b *strings.Builder) {
	if took := r.loaded; took.Seconds > 0 {
		fmt.Fprintf(b, "\nImport by belfryctl: %d records in %.0f s (aim 100 s), %.0f a second; belfryctl held %d MB "+
			"at most (aim 100). Processor time in s:", took.Records, took.Seconds, float64(took.Records)/took.Seconds,
			took.Peak>>20)
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
}

func (r report) writeProcesses(b *strings.Builder) {
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
	b.WriteString("\nAims for a service: 40 MB idle, 200 MB at most, ready after 300 ms.\n")
}

func writeHead(b *strings.Builder, cells ...string) {
	writeRow(b, cells...)
	b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

func writeRow(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func number(value float64, digits int) string { return strconv.FormatFloat(value, 'f', digits, 64) }

// optional returns "" for 0.
func optional(value float64, digits int) string {
	if value == 0 {
		return ""
	}
	return number(value, digits)
}

func millis(d time.Duration) string { return number(float64(d.Microseconds())/1000, 2) }
