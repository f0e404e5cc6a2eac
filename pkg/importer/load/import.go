package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// What an import does where its events book an element twice.
const (
	ClashesAllow  = "allow"  // they are not looked for
	ClashesReport = "report" // they are warnings
	ClashesSkip   = "skip"   // such events are left out
	ClashesRefuse = "refuse" // nothing is written
)

// MaxListed bounds the records that a dry run lists of one kind and result, unless Import says otherwise.
const MaxListed = 100

// Resolver completes files without faults with data from Belfry. If that reveals a fault, the error is a
// *csvfile.FaultsError.
type Resolver func(context.Context, *client.Client) (Source, error)

// OfBundle resolves a bundle: events in Belfry may say when there are lessons.
func OfBundle(b *bundle.Bundle, zone wiretime.Zone) Resolver {
	return func(ctx context.Context, c *client.Client) (Source, error) {
		keys := b.Calendars()
		if len(keys) == 0 {
			return b, nil
		}
		events, err := calendar(ctx, c, keys, zone)
		if err != nil {
			return nil, err
		}
		return b, b.Plan(events)
	}
}

// Import is a load with all checks before it. Its user is signed in.
type Import struct {
	// Prune ends memberships, too, and deletes the events of lessons, that have gone from the files. With School it
	// retires and deletes only what belongs to that school.
	Options
	Client  *client.Client
	Admin   bool // the user has the admin permission; otherwise it administers a school
	Zone    wiretime.Zone
	From    wiretime.Day    // events of lessons before it stay as they are
	Clashes string          // one of the constants
	Really  []string        // the Confirm of warnings that were confirmed
	All     bool            // a dry run lists unchanged records too, and more of a kind than Listed
	Listed  int             // the most records of one kind and result that it lists; MaxListed when 0
	Start   func(total int) // if set, is called with the number of records before the first is sent
}

// Outcome is what an import did, as far as it got.
type Outcome struct {
	Report
	Source   Source // what was read; nil: it could not be
	Warnings []Warning
	Clashes  int // double bookings among the events of the files, and with those in Belfry
	Listing  Listing
	// Asked says that a dry run of all records came before the first write, and none was refused.
	Asked bool
}

// Why an import stops before anything is written.
const (
	WhyWrong   = "wrong"   // some warnings are not confirmed
	WhyClashes = "clashes" // the events book elements twice, with ClashesRefuse
	WhyErased  = "erased"  // rows are of people who have been erased
	WhyRefused = "refused" // some records were refused, of the files of an administrator of a school
)

// StoppedError stops an import before anything is written.
type StoppedError struct {
	Why     string   // one of the constants
	Confirm []string // of the warnings that are not confirmed
}

func (e *StoppedError) Error() string { return "nothing was written because " + reasons[e.Why] }

var reasons = map[string]string{
	WhyWrong:   "this looks wrong",
	WhyClashes: "the events book elements twice",
	WhyErased: "some rows are of people who have been erased; leave these rows out, and those that name these " +
		"people, and import again",
	WhyRefused: "some records were refused",
}

// Run checks everything before it writes anything, and then loads the source. Records that a service refuses are in the
// outcome and are not an error. After an error other than a *StoppedError, some records may have been written.
func (i Import) Run(ctx context.Context, resolve Resolver) (Outcome, error) {
	l := &importing{Import: i}
	err := l.run(ctx, resolve)
	return l.out, err
}

// importing is an import under way.
type importing struct {
	Import
	out      Outcome
	clashing Clashing
	school   map[int64]bool // the elements that belong to School, for Prune; nil: it is not limited to a school
	stopped  error          // what stops the import before anything is written; a dry run goes on, and ends with it
}

func (l *importing) run(ctx context.Context, resolve Resolver) error {
	source, err := resolve(ctx, l.Client)
	if err != nil {
		return err
	}
	l.out.Source = source
	stored, err := l.look(ctx, source)
	if err != nil {
		return err
	}
	if source, err = l.skipped(source); err != nil {
		return err
	}
	total := 0
	for _, kind := range bundle.Kinds() {
		total += source.Count(kind)
	}
	if l.Start != nil {
		l.Start(total)
	}
	if l.DryRun {
		l.out.Listing.all, l.out.Listing.most = l.All, cmp.Or(l.Listed, MaxListed)
		l.list = &values{client: l.Client, zone: l.Zone, stored: stored, tell: l.out.Listing.add}
	} else if !l.Admin {
		if err := l.askFirst(ctx, source); err != nil {
			return err
		}
		l.out.Asked = true
	}
	l.out.Report, err = Run(ctx, l.Client, source, l.Options)
	switch {
	case err != nil || !l.DryRun:
		return err
	case l.stopped == nil && !l.Admin && l.out.Refused > 0:
		return &StoppedError{Why: WhyRefused}
	}
	return l.stopped
}

// skipped is the source without the events that clash, where they are to be skipped.
func (l *importing) skipped(source Source) (Source, error) {
	if l.Clashes != ClashesSkip || len(l.clashing.rows) == 0 {
		return source, nil
	}
	if l.clashing.Count >= maxClashes { // not all are known
		return nil, errors.New("nothing was written because the events book too many elements twice for --clashes skip")
	}
	keys, n := map[string]bool{}, 0
	for row, err := range source.Rows(bundle.Events) {
		if err != nil {
			return nil, err
		}
		if l.clashing.rows[n] {
			keys[strings.Clone(row.Key)] = true // the key is a part of the text of its row
		}
		n++
	}
	l.warn(Warning{Text: fmt.Sprintf("events left out because they clash: %d", len(l.clashing.rows))})
	return without{source, keys}, nil
}

func (l *importing) warn(more ...Warning) { l.out.Warnings = append(l.out.Warnings, more...) }

// look compares the source with what is stored, which it returns. The error says what stops the import.
func (l *importing) look(ctx context.Context, source Source) (Stored, error) {
	if err := l.checkReally(source); err != nil {
		return nil, err
	}
	stored, err := ReadStored(ctx, l.Client, source)
	if err != nil {
		return nil, err
	}
	if err := l.readSchool(ctx, source); err != nil {
		return nil, err
	}
	wrong, err := stored.Warnings(source, l.gone)
	if err != nil {
		return nil, err
	}
	l.warn(wrong...)
	if l.Admin { // others can't list all of it
		twice, err := MadeHere(ctx, l.Client, source)
		if err != nil {
			return nil, err
		}
		l.warn(twice...)
		if err := l.findErased(ctx, source); err != nil {
			return nil, err
		}
	}
	if err := l.findLessons(ctx, source); err != nil {
		return nil, err
	}
	if l.Clashes != ClashesAllow {
		var elsewhere func(event int64) bool
		if l.Admin {
			elsewhere = func(event int64) bool {
				_, gone := slices.BinarySearchFunc(l.lessons, event,
					func(g lesson, id int64) int { return cmp.Compare(g.id, id) })
				return !gone
			}
		}
		l.clashing, err = Clashes(ctx, l.Client, source, stored, l.Zone, elsewhere)
		if err != nil {
			return nil, err
		}
		l.out.Clashes = l.clashing.Count
		l.warn(l.clashing.First...)
	}
	if l.stopped == nil {
		l.stopped = l.looksWrong()
	}
	if l.stopped == nil && l.clashing.Count > 0 && l.Clashes == ClashesRefuse {
		l.stopped = &StoppedError{Why: WhyClashes}
	}
	if l.DryRun {
		return stored, nil
	}
	return stored, l.stopped
}

// readSchool decides which elements may be gone from the source: with School, those that belong to it today. Without
// Prune it leaves gone nil.
func (l *importing) readSchool(ctx context.Context, source Source) error {
	if !l.Prune {
		return nil
	}
	l.gone = source.Gone
	if l.School == 0 {
		return nil
	}
	l.school = map[int64]bool{}
	keys := map[string]bool{}
	query := url.Values{"school": {strconv.FormatInt(l.School, 10)}}
	for e, err := range records(ctx, l.Client, Elements, query) {
		if err != nil {
			return err
		}
		l.school[e.ID("id")], keys[e.Text("key")] = true, true
	}
	l.gone = func(reference string) bool { return keys[reference] && source.Gone(reference) }
	return nil
}

// checkReally returns an error for a confirmation of what can't be wrong: it names no kind, and no key of the source.
func (l *importing) checkReally(source Source) error {
	left := slices.DeleteFunc(slices.Clone(l.Really), func(name string) bool {
		return slices.Contains(bundle.Files(), bundle.Kind(name))
	})
	for _, kind := range bundle.Kinds() {
		if len(left) == 0 || prefixOf(kind) == "" || !source.Has(kind) {
			continue
		}
		for row, err := range source.Rows(kind) {
			if err != nil {
				return err
			}
			left = slices.DeleteFunc(left, func(name string) bool { return name == prefixOf(kind)+row.Key })
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("nothing was written because %q to confirm is neither a kind of record, such as staff, nor "+
			"a key in the files, such as Pupil:17", left[0])
	}
	return nil
}

// looksWrong returns the error that stops an import until all warnings are confirmed.
func (l *importing) looksWrong() error {
	var missing []string
	for _, w := range l.out.Warnings {
		if w.Confirm != "" && !slices.Contains(l.Really, w.Confirm) && !slices.Contains(missing, w.Confirm) {
			missing = append(missing, w.Confirm)
		}
	}
	if missing == nil {
		return nil
	}
	return &StoppedError{WhyWrong, missing}
}

// askFirst does a dry run before the first write. The files of an administrator of a school may have rows of another
// school, which would stop the import halfway.
func (l *importing) askFirst(ctx context.Context, source Source) error {
	options := l.Options
	options.DryRun, options.Prune, options.Progress = true, false, nil
	asked, err := Run(ctx, l.Client, source, options)
	switch {
	case err != nil:
		return fmt.Errorf("nothing was written: %w", err)
	case asked.Refused > 0:
		l.out.Refused, l.out.First = asked.Refused, asked.First
		return &StoppedError{Why: WhyRefused}
	}
	return nil
}

// Listing is the list of a dry run: all records, or of those that would change the first of each kind and result.
type Listing struct {
	Records []Listed
	all     bool
	most    int
	counts  map[string]int // by kind and result
}

func (l *Listing) add(r Listed) {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	which := string(r.Kind) + " " + r.Result
	l.counts[which]++
	if l.all || r.Result != "unchanged" && r.Result != "failed" && l.counts[which] <= l.most {
		l.Records = append(l.Records, r)
	}
}

// More is how many records of a kind and result the list leaves out.
func (l Listing) More(kind bundle.Kind, result string) int {
	if l.all {
		return 0
	}
	return max(l.counts[string(kind)+" "+result]-l.most, 0)
}

// Written is how many records an import has changed.
func (r Report) Written() (n int) {
	for _, t := range r.Kinds {
		n += t.Created + t.Updated + t.Retired + t.Deleted
	}
	return n
}

// results are what becomes of records, in the order in which they are told.
var results = []string{"created", "updated", "unchanged", "failed", "retired", "deleted"}

// Counts are the numbers by result.
func (t Tally) Counts() map[string]int {
	return map[string]int{"created": t.Created, "updated": t.Updated, "unchanged": t.Unchanged, "failed": t.Failed,
		"retired": t.Retired, "deleted": t.Deleted}
}

// Line is what became, or would become, of some records of a kind.
type Line struct {
	Kind   bundle.Kind
	Result string // created, updated, unchanged, failed, retired or deleted
	N      int
	Listed []Listed // the first of them, of a dry run
	More   int      // those that are not listed
}

// Lines are the results of the records, by kind and result.
func (o Outcome) Lines() (lines []Line) {
	for _, t := range o.Kinds {
		for _, result := range results {
			l := Line{Kind: t.Kind, Result: result, N: t.Counts()[result], More: o.Listing.More(t.Kind, result)}
			if l.N == 0 {
				continue
			}
			for _, record := range o.Listing.Records {
				if record.Kind == t.Kind && record.Result == l.Result {
					l.Listed = append(l.Listed, record)
				}
			}
			lines = append(lines, l)
		}
	}
	return lines
}
