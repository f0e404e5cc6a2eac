// Package load loads a bundle, or another source of its records, into a Belfry through the public API. It can say
// beforehand what would become of each record, and warns of what looks wrong.
package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

// Source is what is loaded: a bundle, or another program's files as records of a bundle. Its methods may be called by
// several goroutines.
type Source interface {
	// Has says whether the source has the kind, even without records.
	Has(kind bundle.Kind) bool
	// Count is the number of its records of the kind.
	Count(kind bundle.Kind) int
	// Rows yields them; after an error there are no more.
	Rows(kind bundle.Kind) iter.Seq2[bundle.Row, error]
	// Gone says whether an element, given as Type:key, came from the source and is no longer in it.
	Gone(reference string) bool
}

// Options say how a source is loaded.
type Options struct {
	DryRun   bool  // ask what would happen; nothing is written
	Prune    bool  // retire the imported elements that have gone from the source, see Run and Import
	Parallel int   // batches of one kind on their way at the same time; 2 when zero
	School   int64 // new elements become members of it; 0: of the one that the user administers, none for an admin
	// Progress, if set, is called after each batch with the number of records of the kind that were processed. Calls
	// don't overlap.
	Progress func(kind bundle.Kind, records int)

	gone    func(reference string) bool // says which elements Prune retires; nil: those that are Gone from the source
	lessons []lesson                    // those that have gone, in the order of their ids; Prune deletes them
	list    *values                     // if set, is told each record in its order; batches then go one by one
}

// Tally counts the outcomes of one kind's records.
type Tally struct {
	Kind      bundle.Kind `json:"kind"`
	Created   int         `json:"created"`
	Updated   int         `json:"updated"`
	Unchanged int         `json:"unchanged"`
	Failed    int         `json:"failed"`
	Retired   int         `json:"retired"`           // elements made no longer current by Prune
	Deleted   int         `json:"deleted,omitempty"` // events of lessons deleted by Prune
}

// Refusal is a record that a service refused.
type Refusal struct {
	File   string              `json:"file"`
	Line   int                 `json:"line"`
	Key    string              `json:"key"`
	Errors map[string][]string `json:"errors"` // field to messages
}

// String returns file:line: column: reason, with every reason.
func (r Refusal) String() string {
	var reasons []string
	for _, field := range slices.Sorted(maps.Keys(r.Errors)) {
		reasons = append(reasons, field+": "+strings.Join(r.Errors[field], ", "))
	}
	if reasons == nil {
		reasons = []string{"row: was refused without a reason"}
	}
	return fmt.Sprintf("%s:%d: %s", r.File, r.Line, strings.Join(reasons, "; "))
}

// Limits of one batch. The services accept 4 MiB; the last megabyte is left for what lies between.
const (
	maxBatchRecords = 1000
	maxBatchBytes   = 3 << 20
)

// maxRefusals bounds the refusals kept; all are counted.
const maxRefusals = 1000

// Report is what a load did, as far as it got.
type Report struct {
	Kinds   []Tally   // of the kinds that the source has, in the order of import
	Refused int       // records that were not taken
	First   []Refusal // the first 1,000 of them
}

// Run writes a source in the order of its kinds, in batches, several of one kind at the same time. Records are matched
// by their keys, so it is safe to load again after an interruption, or to send a batch twice. Refused records are in
// the report and are not an error. The error says what stopped the load; the report has the outcome so far. Requires
// the admin permission; an administrator of a school loads only what belongs to its school, and no notes.
//
// Prune affects only the types of element that the source has, and only elements with a key, and deletes the events of
// lessons that have gone. It comes last, and not at all when a record was refused.
func Run(ctx context.Context, c *client.Client, source Source, options Options) (Report, error) {
	if options.Parallel == 0 {
		options.Parallel = 2
	}
	if options.list != nil {
		options.Parallel = 1
	}
	l := &run{client: c, source: source, options: options}
	for _, kind := range bundle.Kinds() {
		if !source.Has(kind) {
			continue
		}
		l.report.Kinds = append(l.report.Kinds, Tally{Kind: kind})
		if err := l.kind(ctx, kind); err != nil {
			return l.report, err
		}
	}
	if !options.Prune || l.report.Refused > 0 {
		return l.report, nil
	}
	for i := range l.report.Kinds {
		if err := l.prune(ctx, &l.report.Kinds[i]); err != nil {
			return l.report, err
		}
		if err := l.deleteLessons(ctx, &l.report.Kinds[i]); err != nil {
			return l.report, err
		}
	}
	return l.report, nil
}

// run is one call of Run.
type run struct {
	client  *client.Client
	source  Source
	options Options
	keeps   func(Refusal) bool // says which refusals are kept; nil: all, as far as there is room

	mu     sync.Mutex
	report Report
}

// batch is a request that is being filled.
type batch struct {
	body bytes.Buffer
	rows []bundle.Row // of its records, without them unless they are listed
}

// kind sends all records of a kind and waits for the answers.
func (l *run) kind(caller context.Context, kind bundle.Kind) error {
	sending, ctx := errgroup.WithContext(caller)
	sending.SetLimit(l.options.Parallel)
	send := func(full *batch) {
		sending.Go(func() error { return l.send(ctx, kind, full) })
	}
	refused := len(l.report.First)
	next := &batch{}
	err := func() error {
		for row, err := range l.source.Rows(kind) {
			if err != nil {
				return err
			}
			line, err := json.Marshal(row.Record)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", row.File, row.Line, err)
			}
			if len(next.rows) == maxBatchRecords || len(next.rows) > 0 && next.body.Len()+len(line)+1 > maxBatchBytes {
				send(next) // waits while enough are on their way
				next = &batch{}
			}
			if ctx.Err() != nil {
				return nil // the reason is the group's or the caller's
			}
			next.body.Write(line)
			next.body.WriteByte('\n')
			if l.options.list == nil {
				row.Record = nil
			}
			next.rows = append(next.rows, row)
		}
		if len(next.rows) > 0 {
			send(next)
		}
		return nil
	}()
	err = cmp.Or(sending.Wait(), err, context.Cause(caller))
	slices.SortFunc(l.report.First[refused:], func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return err
}

// send sends one batch and adds its answer to the report.
func (l *run) send(ctx context.Context, kind bundle.Kind, b *batch) error {
	options := client.ImportOptions{DryRun: l.options.DryRun}
	if kind.EntityType() != "" {
		options.School = l.options.School
	}
	answer, err := l.client.Import(ctx, string(kind), b.body.Bytes(), options)
	if err != nil {
		return err
	}
	if n := answer.Created + answer.Updated + answer.Unchanged + answer.Failed; n != len(b.rows) {
		return fmt.Errorf("%s: the service answered for %d of %d records", kind, n, len(b.rows))
	}
	if l.options.list != nil {
		if err := l.options.list.batch(ctx, kind, b, answer); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	tally := &l.report.Kinds[len(l.report.Kinds)-1]
	tally.Created += answer.Created
	tally.Updated += answer.Updated
	tally.Unchanged += answer.Unchanged
	tally.Failed += answer.Failed
	l.report.Refused += answer.Failed
	for _, record := range answer.Records {
		if record.Result != "failed" || record.Index < 0 || record.Index >= len(b.rows) {
			continue
		}
		refused := Refusal{File: b.rows[record.Index].File, Line: b.rows[record.Index].Line, Key: record.Key,
			Errors: record.Errors}
		if len(l.report.First) < maxRefusals && (l.keeps == nil || l.keeps(refused)) {
			l.report.First = append(l.report.First, refused)
		}
	}
	if l.options.Progress != nil {
		l.options.Progress(kind, len(b.rows))
	}
	return nil
}

// prune retires the current elements of the kind's type whose key is no longer in the source.
func (l *run) prune(ctx context.Context, tally *Tally) error {
	entityType := tally.Kind.EntityType()
	if entityType == "" {
		return nil
	}
	gone := l.options.gone
	if gone == nil {
		gone = l.source.Gone
	}
	elements, err := l.client.CurrentElements(ctx, entityType)
	if err != nil {
		return err
	}
	for _, e := range elements {
		if e.Key == "" || !gone(e.Key) {
			continue
		}
		// A key of another form could retire the whole school.
		if !strings.HasPrefix(e.Key, entityType+":") {
			return fmt.Errorf("element %d of type %s has the key %q: nothing more is pruned", e.ID, entityType, e.Key)
		}
		if !l.options.DryRun {
			if err := l.client.Retire(ctx, e.ID); err != nil {
				return err
			}
		}
		tally.Retired++
		if l.options.list != nil {
			l.options.list.tell(Listed{Kind: tally.Kind, Key: e.Key, Name: e.Name, Result: "retired"})
		}
	}
	return nil
}
