package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/bundle"
	"github.com/belfry-schools/belfry/cmd/belfryctl/csvfile"
	"github.com/belfry-schools/belfry/cmd/belfryctl/load"
	"github.com/belfry-schools/belfry/cmd/belfryctl/oneroster"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	defaultURL  = "http://127.0.0.1:8080"
	defaultZone = "Europe/London"
	maxShown    = 100 // faults, or refused records

	formatBundle    = "bundle"
	formatOneRoster = "oneroster"

	clashesReport = "report"
	clashesSkip   = "skip"
	clashesRefuse = "refuse"
	clashesAllow  = "allow"
)

// importFlags are the flags of import.
type importFlags struct {
	connection
	zone, format       string
	dates, lessonsFrom string
	service            oneroster.Service
	secretFile         string
	school             string
	dryRun, prune      bool
	as                 *format
	all                bool
	really             []string
	clashes            string
	parallel           int
}

func importCommand(s surroundings) *cobra.Command {
	var f importFlags
	command := &cobra.Command{
		Use:   "import DIR|FILE|URL",
		Short: "Load a school's files into a running Belfry: a bundle, or OneRoster",
		Long: `Reads and checks the whole bundle in DIR first, and reports every fault as file:line: column: reason. ` +
			`With any fault
nothing is written. Then writes it in the order in which its files need each other, and closes with a table of what
became of the records of each kind.

A bundle may be an .xlsx workbook in place of DIR, with a sheet for each file, named as the file is without .csv.

A bundle is complete in itself: its rows can refer only to rows of its own. Rows are matched by key, so the same bundle
may be imported as often as you like, and an import that was interrupted is finished by running it again. While a
service is away, each batch is tried again for about a minute.

Lessons of a bundle (lessons.csv, periods.csv, weeks.csv) become events from today on; with --prune, those that the
files no longer make are deleted. docs/bundle.md says more.

With --format oneroster it reads a folder or a zip file of OneRoster's files, version 1.1 or 1.2, or the URL of a
service with its REST interface, version 1.2, by OAuth 2's client credentials. Users become staff and pupils, orgs and
classes groups, enrollments memberships. Of files in bulk --prune takes back what has gone; a delta changes what it
names and needs no other file: what it refers to may be in Belfry already. docs/oneroster.md says all of it.

An administrator of a school imports what belongs to that school alone: its people, rooms, groups, users, and events
that have no elements of others. New elements become members of the school. All rows are first asked about in a dry
run, so nothing is written when a row is not the school's.

The login is the uuid of a user with the admin permission, or who administers a school. It is read from the file given
by --uuid-file or else from the environment variable BELFRY_UUID, never from the command line, where other users of the
machine could see it.`,
		Example: `  belfryctl import school/
  belfryctl import school/ --url https://belfry.school.example --uuid-file ~/.belfry-uuid --dry-run
  belfryctl import school.xlsx --prune -o json
  belfryctl import school/ --dates dd/mm/yyyy --lessons-from 2026-09-01
  belfryctl import --format oneroster roster.zip --prune --dry-run
  belfryctl import --format oneroster https://sis.example/ims/oneroster/rostering/v1p2 --prune \
    --token-url https://sis.example/token --client-id belfry --client-secret-file ~/.sis-secret`,
		Args: cobra.ExactArgs(1),
		RunE: does(func(command *cobra.Command, args []string) error {
			return runImport(command.Context(), args[0], f, s)
		}),
	}
	flags := command.Flags()
	f.flags(flags, s)
	f.routeFlag(flags)
	flags.StringVar(&f.format, "format", formatBundle, "what is there: "+formatBundle+" or "+formatOneRoster)
	flags.StringVar(&f.zone, "timezone", cmp.Or(s.env("BELFRY_TIMEZONE"), defaultZone),
		"zone of local times while checking; give the deployment's own (environment: BELFRY_TIMEZONE)")
	flags.StringVar(&f.dates, "dates", "",
		"how a bundle writes dates that are not YYYY-MM-DD: "+dateFormats())
	complete(command, "dates", strings.Split(dateFormats(), ", ")...)
	flags.StringVar(&f.lessonsFrom, "lessons-from", "",
		"first day of which lessons make events; earlier ones stay as they are (default today)")
	flags.StringVar(&f.service.TokenURL, "token-url", s.env("BELFRY_ONEROSTER_TOKEN_URL"),
		"where tokens of a OneRoster service are from (environment: BELFRY_ONEROSTER_TOKEN_URL)")
	flags.StringVar(&f.service.ClientID, "client-id", s.env("BELFRY_ONEROSTER_CLIENT_ID"),
		"client id at the service (environment: BELFRY_ONEROSTER_CLIENT_ID)")
	flags.StringVar(&f.secretFile, "client-secret-file", "",
		"file that holds the client secret (instead of BELFRY_ONEROSTER_CLIENT_SECRET)")
	flags.StringVar(&f.service.Scope, "scope", "", "scope of the token (default "+oneroster.CoreScope+")")
	flags.StringVar(&f.school, "school", "",
		"school that new elements become members of, an id or a key such as Group:north; by default the one that you "+
			"administer, and none for an admin")
	flags.BoolVar(&f.dryRun, "dry-run", false, "list what would happen to each record, write nothing")
	flags.BoolVar(&f.all, "all", false, "with --dry-run: list unchanged records too, and more than 100 of a kind")
	flags.StringArrayVar(&f.really, "really", nil,
		"import what looks wrong: a key that a warning names, such as Pupil:17, or a kind, such as staff; may be "+
			"repeated")
	flags.StringVar(&f.clashes, "clashes", clashesReport, "what to do when the events book an element twice: "+
		clashesAllow+" or "+clashesReport+" it, "+clashesSkip+" such events, or "+clashesRefuse+" to import")
	completeClashes(command)
	flags.BoolVar(&f.prune, "prune", false,
		"make no longer current the elements, end the memberships of a roster, and delete the events of lessons from "+
			"--lessons-from on, that have gone from the files")
	flags.IntVar(&f.parallel, "parallel", 2, "batches on their way at the same time, 1 to 16")
	f.as = outputFlag(command, dataFormats)
	return command
}

// outcome is the output of import -o json.
type outcome struct {
	Error    string          `json:"error,omitempty"`
	DryRun   bool            `json:"dry_run"`
	Seconds  float64         `json:"seconds"`
	Faults   int             `json:"faults"` // of the bundle; nothing is written when there are any
	First    []csvfile.Fault `json:"first_faults"`
	Kinds    []load.Tally    `json:"kinds"`
	Refused  int             `json:"refused"` // records that the services did not take
	Refusals []load.Refusal  `json:"first_refused"`
	// Clashes counts the double bookings among the events of the files, and with those in Belfry.
	Clashes int `json:"clashes,omitempty"`
	// Warnings say what looks wrong; Records are the records of a dry run.
	Warnings []load.Warning `json:"warnings,omitempty"`
	Records  []load.Listed  `json:"records,omitempty"`
	// LeftOut are the rows of a roster that Belfry does not use; a bundle has none.
	LeftOut []oneroster.Skipped `json:"left_out,omitempty"`
}

func runImport(ctx context.Context, dir string, f importFlags, s surroundings) error {
	zone, err := wiretime.LoadZone(f.zone)
	if err != nil {
		return &usageError{err}
	}
	if f.parallel < 1 || f.parallel > 16 {
		return &usageError{errors.New("--parallel takes 1 to 16")}
	}
	if f.format != formatBundle && f.format != formatOneRoster {
		return &usageError{fmt.Errorf("--format takes %s or %s", formatBundle, formatOneRoster)}
	}
	if !slices.Contains([]string{clashesAllow, clashesReport, clashesSkip, clashesRefuse}, f.clashes) {
		return &usageError{errors.New("--clashes takes allow, report, skip or refuse")}
	}
	bundled, err := f.bundleOptions(zone)
	if err != nil {
		return err
	}
	show := &progress{out: s.err}
	c, uuid, err := f.client(s, show)
	if err != nil {
		return err
	}
	began := time.Now()
	secret, err := f.clientSecret(dir, s)
	if err != nil {
		return err
	}
	l := &loading{importFlags: f, secret: secret, bundled: bundled, client: c, show: show, listing: listing{all: f.all}}
	err = l.load(ctx, dir, uuid, zone)
	show.done()
	return l.print(s, time.Since(began), l.ended(err))
}

// loading is an import under way.
type loading struct {
	importFlags
	secret  string // of the information system
	bundled bundle.Options
	client  *client.Client
	show    *progress

	asked    bool // about all records, before the first was written, and none was refused
	report   load.Report
	leftOut  []oneroster.Skipped
	warnings []load.Warning
	clashing load.Clashing
	lessons  *load.Lessons // those that Prune deletes; nil: none
	stopped  error         // what stops the import before anything is written; a dry run goes on, and ends with it
	listing  listing
}

// looksWrong returns the error that stops an import until all warnings are confirmed. It names those that are not.
func (l *loading) looksWrong() error {
	var missing []string
	for _, w := range l.warnings {
		if w.Confirm != "" && !slices.Contains(l.really, w.Confirm) && !slices.Contains(missing, w.Confirm) {
			missing = append(missing, w.Confirm)
		}
	}
	if missing == nil {
		return nil
	}
	flags := ""
	for _, name := range missing[:min(len(missing), maxShown)] {
		if strings.Trim(name, wordLetters) != "" {
			name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
		}
		flags += " --really " + name
	}
	return fmt.Errorf("nothing was written, as this looks wrong; check it with --dry-run, and if it is right "+
		"import with%s", flags)
}

// wordLetters need no quotes in a shell.
const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/"

// errClashes stops an import with --clashes refuse.
var errClashes = errors.New("nothing was written, as the events book elements twice")

// load checks everything before it writes anything. Before, it reads from the deployment for warnings, and for a
// roster, which may refer to records outside its own rows.
func (l *loading) load(ctx context.Context, dir, uuid string, zone wiretime.Zone) error {
	open := l.openBundle
	if l.format == formatOneRoster {
		open = l.openRoster
	}
	resolve, err := open(ctx, dir, zone)
	if err != nil {
		return err
	}
	if err := signIn(ctx, l.client, uuid); err != nil {
		return fmt.Errorf("logging in: %w", err)
	}
	source, leftOut, err := resolve(ctx, l.client)
	if err != nil {
		return err
	}
	l.leftOut = leftOut
	admin, err := isAdmin(ctx, l.client)
	if err != nil {
		return err
	}
	stored, err := l.look(ctx, source, admin, zone)
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
	l.show.start(total)
	options := load.Options{DryRun: l.dryRun, Prune: l.prune, Lessons: l.lessons, Parallel: l.parallel,
		Progress: l.show.add}
	if l.school != "" {
		if options.School, err = elementID(ctx, l.client, l.school); err != nil {
			return err
		}
	}
	if l.dryRun {
		options.List, options.Stored, options.Zone = l.listing.add, stored, zone
	} else if !admin {
		if err := l.askFirst(ctx, source, options); err != nil {
			return err
		}
		l.asked = true
	}
	l.report, err = load.Run(ctx, l.client, source, options)
	switch {
	case err != nil || !l.dryRun:
		return err
	case l.stopped == nil && !admin && l.report.Refused > 0:
		return errNoneWritten
	}
	return l.stopped
}

// skipped is the source without the events that clash, where they are to be skipped.
func (l *loading) skipped(source load.Source) (load.Source, error) {
	n := l.clashing.LeftOut()
	if l.clashes != clashesSkip || n == 0 {
		return source, nil
	}
	rest, all := l.clashing.Without(source)
	if !all {
		return nil, errors.New("nothing was written, as the events book too many elements twice for --clashes skip")
	}
	l.warnings = append(l.warnings, load.Warning{Text: fmt.Sprintf("events left out, as they clash: %d", n)})
	return rest, nil
}

// look compares the source with what is stored, which it returns. The error says what stops the import.
func (l *loading) look(
	ctx context.Context, source load.Source, admin bool, zone wiretime.Zone,
) (load.Stored, error) {
	stored, err := load.ReadStored(ctx, l.client, source)
	if err != nil {
		return nil, err
	}
	if l.warnings, err = stored.Warnings(source, l.prune); err != nil {
		return nil, err
	}
	if admin { // others can't list all of it
		twice, err := load.MadeHere(ctx, l.client, source)
		if err != nil {
			return nil, err
		}
		l.warnings = append(l.warnings, twice...)
		if err := l.findErased(ctx, source); err != nil {
			return nil, err
		}
	}
	if err := l.findLessons(ctx, source, admin, zone); err != nil {
		return nil, err
	}
	if l.clashes != clashesAllow {
		var elsewhere func(event int64) bool
		if admin {
			elsewhere = func(event int64) bool { return l.lessons == nil || !l.lessons.Has(event) }
		}
		l.clashing, err = load.Clashes(ctx, l.client, source, stored, zone, elsewhere)
		if err != nil {
			return nil, err
		}
		l.warnings = append(l.warnings, l.clashing.First...)
	}
	if l.stopped == nil {
		l.stopped = l.looksWrong()
	}
	if l.stopped == nil && l.clashing.Count > 0 && l.clashes == clashesRefuse {
		l.stopped = errClashes
	}
	if l.dryRun {
		return stored, nil
	}
	return stored, l.stopped
}

// findLessons finds the events of lessons that --prune deletes.
func (l *loading) findLessons(ctx context.Context, source load.Source, admin bool, zone wiretime.Zone) (err error) {
	switch {
	case !l.prune || !source.Has(bundle.Lessons):
		return nil
	case !admin:
		l.warnings = append(l.warnings, load.Warning{
			Text: "events of lessons that have gone stay: only a user with the admin permission may list them"})
		return nil
	}
	l.lessons, err = load.FindLessons(ctx, l.client, source, zone, l.bundled.From)
	if err == nil {
		l.warnings = append(l.warnings, l.lessons.Warnings()...)
	}
	return err
}

// ended returns the error of an import that failed, or in which records were refused. It says that what was written
// stays.
func (l *loading) ended(err error) error {
	written := 0
	for _, t := range l.report.Kinds {
		written += t.Created + t.Updated + t.Retired + t.Deleted
	}
	switch {
	case err == nil && l.report.Refused == 0:
		return nil
	case err == nil && l.asked:
		return fmt.Errorf("%w; none was refused in the dry run before, so your rights or these records "+
			"have changed since, and the %s written stay", errRefused, records(written))
	case err == nil:
		return errRefused
	case written > 0 && !l.dryRun:
		return fmt.Errorf("%w; what was written before stays, at least %s; run the import again", err,
			records(written))
	}
	return err
}

// records counts them in words: 1 record, 1,204 records.
func records(n int) string {
	if n == 1 {
		return "1 record"
	}
	return number(n) + " records"
}

// errErased stops the import of an admin before anything is written.
var errErased = errors.New("nothing was written, as some rows are of people who have been erased; leave these rows " +
	"out, and those that name these people, and import again")

// findErased finds rows of people who have been erased, which stop the import. A dry run lists them among those
// that are refused.
func (l *loading) findErased(ctx context.Context, source load.Source) error {
	erased, err := load.FindErased(ctx, l.client, source)
	if err != nil {
		return err
	}
	l.warnings = append(l.warnings, erased.Naming...)
	if len(erased.Rows) > 0 {
		l.stopped = errErased
	}
	if !l.dryRun {
		l.report.Refused, l.report.First = len(erased.Rows), erased.Rows
	}
	return nil
}

// errNoneWritten stops the import of an administrator of a school before anything is written.
var errNoneWritten = errors.New("nothing was written, as some records were refused")

// askFirst does a dry run before the first write. The files of an administrator of a school may have rows of another
// school, which would stop the import halfway.
func (l *loading) askFirst(ctx context.Context, source load.Source, options load.Options) error {
	options.DryRun, options.Prune, options.Progress = true, false, nil
	asked, err := load.Run(ctx, l.client, source, options)
	switch {
	case err != nil:
		return fmt.Errorf("nothing was written: %w", err)
	case asked.Refused > 0:
		l.report.Refused, l.report.First = asked.Refused, asked.First
		return errNoneWritten
	}
	return nil
}

// listing is the list of a dry run: all records, or of those that would change the first 100 of each kind and result.
type listing struct {
	all     bool
	records []load.Listed
	counts  map[string]int // by kind and result
}

func (l *listing) add(r load.Listed) {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	which := string(r.Kind) + " " + r.Result
	l.counts[which]++
	if l.all || r.Result != "unchanged" && r.Result != "failed" && l.counts[which] <= maxShown {
		l.records = append(l.records, r)
	}
}

// print lists the records, and how many more there are of those that would change.
func (l *listing) print(w io.Writer) {
	for i, r := range l.records {
		fmt.Fprintln(w, r)
		last := i == len(l.records)-1 || l.records[i+1].Kind != r.Kind
		for _, result := range []string{"created", "updated", "retired", "deleted"} {
			if more := l.counts[string(r.Kind)+" "+result] - maxShown; last && !l.all && more > 0 {
				fmt.Fprintf(w, "… and %s more %s %s; --all lists them\n", number(more), r.Kind, result)
			}
		}
	}
}

// print prints the outcome, and returns the error that ends the command.
func (l *loading) print(s surroundings, took time.Duration, err error) error {
	var faults *csvfile.FaultsError
	if !errors.As(err, &faults) {
		faults = &csvfile.FaultsError{}
	}
	if l.as.data() {
		o := outcome{DryRun: l.dryRun, Seconds: took.Seconds(), Faults: faults.Total,
			First: append([]csvfile.Fault{}, faults.First...), Kinds: append([]load.Tally{}, l.report.Kinds...),
			Refused: l.report.Refused, Refusals: append([]load.Refusal{}, l.report.First...), LeftOut: l.leftOut,
			Clashes: l.clashing.Count, Warnings: l.warnings, Records: l.listing.records}
		if err != nil {
			o.Error = err.Error()
		}
		return errors.Join(err, l.as.object(s.out, o))
	}
	printFirst(s.err, faults.First, faults.Total-faults.Listed(min(len(faults.First), maxShown)))
	printFirst(s.err, l.report.First, l.report.Refused-min(len(l.report.First), maxShown))
	for _, w := range l.warnings {
		fmt.Fprintln(s.err, w)
	}
	if l.report.Kinds == nil {
		return err
	}
	l.listing.print(s.out)
	if tableErr := printTable(s.out, l.importFlags, l.report, took); tableErr != nil {
		return errors.Join(err, tableErr)
	}
	for _, skipped := range l.leftOut {
		fmt.Fprintln(s.out, skipped)
	}
	return err
}

// printFirst prints the first of many lines, and how many more there are.
func printFirst[T fmt.Stringer](w io.Writer, lines []T, more int) {
	for _, line := range lines[:min(len(lines), maxShown)] {
		fmt.Fprintln(w, line)
	}
	if more > 0 {
		fmt.Fprintf(w, "… and %s more\n", number(more))
	}
}

func printTable(w io.Writer, f importFlags, report load.Report, took time.Duration) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	deleted := slices.ContainsFunc(report.Kinds, func(t load.Tally) bool { return t.Deleted > 0 })
	row := func(name string, t load.Tally) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t", name, number(t.Created), number(t.Updated), number(t.Unchanged))
		if report.Refused > 0 {
			fmt.Fprintf(table, "%s\t", number(t.Failed))
		}
		if f.prune {
			fmt.Fprintf(table, "%s\t", number(t.Retired))
		}
		if deleted {
			fmt.Fprintf(table, "%s\t", number(t.Deleted))
		}
		fmt.Fprintln(table)
	}
	fmt.Fprint(table, "kind\tcreated\tupdated\tunchanged\t")
	if report.Refused > 0 {
		fmt.Fprint(table, "refused\t")
	}
	if f.prune {
		fmt.Fprint(table, "no longer current\t")
	}
	if deleted {
		fmt.Fprint(table, "deleted\t")
	}
	fmt.Fprintln(table)
	var sum load.Tally
	for _, t := range report.Kinds {
		row(string(t.Kind), t)
		sum.Created += t.Created
		sum.Updated += t.Updated
		sum.Unchanged += t.Unchanged
		sum.Failed += t.Failed
		sum.Retired += t.Retired
		sum.Deleted += t.Deleted
	}
	row("all", sum)
	if err := table.Flush(); err != nil {
		return err
	}
	records := sum.Created + sum.Updated + sum.Unchanged + sum.Failed
	_, err := fmt.Fprintf(w, "%s records in %s, %s a second\n", number(records), took.Round(time.Second/10),
		number(int(float64(records)/max(took.Seconds(), 0.001))))
	if f.prune && report.Refused > 0 {
		fmt.Fprintln(w, "Nothing was pruned, as records were refused.")
	}
	if f.dryRun {
		fmt.Fprintln(w, "Dry run: nothing was written.")
	}
	return err
}
