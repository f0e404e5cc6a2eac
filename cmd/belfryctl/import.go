package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/importer/oneroster"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	defaultURL  = "http://127.0.0.1:8080"
	defaultZone = "Europe/London"
	maxShown    = load.MaxListed // faults, or refused records

	// gcPercent lets an import hold less memory. The services and stores take nearly all of its processor time.
	gcPercent = 25

	formatBundle    = "bundle"
	formatOneRoster = "oneroster"
)

// errRefused ends an import in which some records were refused.
var errRefused = partly("some records were refused; correct them and import again")

// importFlags are the flags of import.
type importFlags struct {
	connection
	zone, format       string
	dates, lessonsFrom string
	service            oneroster.Service
	secretFile         string
	load.Options
	school  string
	all     bool
	really  []string
	clashes string
}

func importCommand(s surroundings) *cobra.Command {
	var f importFlags
	command := &cobra.Command{
		Use:   "import DIR|FILE|URL",
		Short: "Import a school's files: a bundle or OneRoster",
		Long: `Reads and checks all files first. If there is any fault, it is reported as file:line: column:
reason, and nothing is written. Then it writes the records, in the order in which the files
depend on each other, and prints a table of what was created, updated and unchanged.

A bundle is a folder, a zip file, or an .xlsx workbook with a sheet for each file, named like
the file without .csv. Its rows can refer only to rows of the same bundle. Rows are matched by
key, so an import can be repeated, and an interrupted one is finished by running it again. While
a service is down, each batch is retried for about a minute.

Lessons of a bundle (lessons.csv, periods.csv, weeks.csv) become events from today on; --prune
deletes the events of lessons that the files no longer have. docs/bundle.md has the details.

--format oneroster reads a folder or zip file of OneRoster files, version 1.1 or 1.2, or the URL
of a OneRoster REST service, version 1.2, with OAuth 2 client credentials. Users become staff and
pupils; orgs and classes become groups; enrollments become memberships. For bulk files, --prune
removes what is no longer there. A delta may refer to records that are only in Belfry.
docs/oneroster.md has the details.

An administrator of a school imports only what belongs to the school: people, rooms, groups,
users, and events without elements of other schools. New elements become members of the school.
A dry run of all rows comes first; if one of them is refused, nothing is written.

The user needs admin, or administers a school. The uuid is read from --uuid-file or BELFRY_UUID,
never from the command line, where other users of the machine could see it.`,
		Example: `  belfryctl import school/
  belfryctl import school/ --url https://belfry.school.example --uuid-file ~/.belfry-uuid --dry-run
  belfryctl import school.xlsx --prune -o json
  belfryctl import school/ --dates dd/mm/yyyy --lessons-from 2026-09-01
  belfryctl import --format oneroster roster.zip --prune --dry-run
  belfryctl import --format oneroster https://sis.example/ims/oneroster/rostering/v1p2 --prune \
    --token-url https://sis.example/token --client-id belfry --client-secret-file ~/.sis-secret`,
	}
	flags := command.Flags()
	f.flags(flags, s)
	f.routeFlag(flags)
	flags.StringVar(&f.format, "format", formatBundle, "format: "+formatBundle+" or "+formatOneRoster)
	flags.StringVar(&f.zone, "timezone", cmp.Or(s.env("BELFRY_TIMEZONE"), defaultZone),
		"time zone of the deployment, for checking local times (environment: BELFRY_TIMEZONE)")
	flags.StringVar(&f.dates, "dates", "", "format of dates that are not YYYY-MM-DD: "+dateFormats())
	complete(command, "dates", strings.Split(dateFormats(), ", ")...)
	flags.StringVar(&f.lessonsFrom, "lessons-from", "",
		"first day on which lessons become events; earlier events stay (default today)")
	flags.StringVar(&f.service.TokenURL, "token-url", s.env("BELFRY_ONEROSTER_TOKEN_URL"),
		"address for tokens of a OneRoster service (environment: BELFRY_ONEROSTER_TOKEN_URL)")
	flags.StringVar(&f.service.ClientID, "client-id", s.env("BELFRY_ONEROSTER_CLIENT_ID"),
		"client id at the service (environment: BELFRY_ONEROSTER_CLIENT_ID)")
	flags.StringVar(&f.secretFile, "client-secret-file", "",
		"file with the client secret (instead of BELFRY_ONEROSTER_CLIENT_SECRET)")
	flags.StringVar(&f.service.Scope, "scope", "", "scope of the token (default "+oneroster.CoreScope+")")
	flags.StringVar(&f.school, "school", "",
		"school that new elements become members of, an id or a key such as Group:north (default the one that you "+
			"administer; none for an admin)")
	flags.BoolVar(&f.DryRun, "dry-run", false, "list what would happen to each record, and write nothing")
	flags.BoolVar(&f.all, "all", false, "with --dry-run: also list unchanged records, and more than 100 of a kind")
	flags.StringArrayVar(&f.really, "really", nil,
		"import what looks wrong: a key that a warning names, such as Pupil:17, or a kind, such as staff; repeatable")
	clashesFlag(command, &f.clashes, load.ClashesReport,
		"if events double-book an element: allow or report it, skip such events, or refuse to import")
	flags.BoolVar(&f.Prune, "prune", false,
		"retire elements, end memberships of a roster, and delete events of lessons from --lessons-from on that are "+
			"no longer in the files")
	flags.IntVar(&f.Parallel, "parallel", 2, "batches sent at the same time, 1 to 16")
	return local(s, command, func(j job) error { return j.load(f) }, dataFormats...)
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

// load imports what the first argument names.
func (j job) load(f importFlags) error {
	zone, err := wiretime.LoadZone(f.zone)
	if err != nil {
		return &usageError{err}
	}
	if f.Parallel < 1 || f.Parallel > 16 {
		return &usageError{errors.New("--parallel takes 1 to 16")}
	}
	if f.format != formatBundle && f.format != formatOneRoster {
		return &usageError{fmt.Errorf("--format takes %s or %s", formatBundle, formatOneRoster)}
	}
	all := []string{load.ClashesAllow, load.ClashesReport, load.ClashesSkip, load.ClashesRefuse}
	if !slices.Contains(all, f.clashes) {
		return &usageError{errors.New("--clashes takes allow, report, skip or refuse")}
	}
	bundled, err := f.bundleOptions(zone)
	if err != nil {
		return err
	}
	show, uuid := &progress{out: j.s.err}, ""
	if j.c, uuid, err = f.client(j.s, show); err != nil {
		return err
	}
	debug.SetGCPercent(gcPercent)
	began := time.Now()
	secret, err := f.clientSecret(j.args[0], j.s)
	if err != nil {
		return err
	}
	l := &loading{job: j, importFlags: f, secret: secret, bundled: bundled, show: show}
	err = l.run(uuid, zone)
	show.done()
	return l.print(time.Since(began), l.ended(err))
}

// loading is an import under way.
type loading struct {
	job
	importFlags
	secret  string // of the information system
	bundled bundle.Options
	show    *progress
	load.Outcome
}

// confirmation adds to an error what confirms that the import is right.
func confirmation(err error) error {
	wrong, is := errors.AsType[*load.StoppedError](err)
	if !is || wrong.Why != load.WhyWrong {
		return err
	}
	flags := ""
	for _, name := range wrong.Confirm[:min(len(wrong.Confirm), maxShown)] {
		if strings.Trim(name, wordLetters) != "" {
			name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
		}
		flags += " --really " + name
	}
	return fmt.Errorf("%w; check it with --dry-run, and if it is right import with%s", err, flags)
}

// wordLetters need no quotes in a shell.
const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/"

// run checks everything before it writes anything. First it reads from the deployment for warnings, and for a roster,
// which may refer to records outside its own rows.
func (l *loading) run(uuid string, zone wiretime.Zone) error {
	resolve, err := l.open(zone)
	if err != nil {
		return err
	}
	if err := signIn(l.ctx, l.c, uuid); err != nil {
		return fmt.Errorf("logging in: %w", err)
	}
	i := load.Import{Options: l.Options, Client: l.c, Zone: zone, From: l.bundled.From, Clashes: l.clashes,
		Really: l.really, All: l.all, Start: l.show.start}
	i.Progress = l.show.add
	if i.Admin, err = l.isAdmin(); err != nil {
		return err
	}
	if l.school != "" {
		if i.School, err = l.elementID(l.school); err != nil {
			return err
		}
	}
	l.Outcome, err = i.Run(l.ctx, resolve)
	return confirmation(err)
}

// ended returns the error of an import that failed, or in which records were refused. It says that the records already
// written stay.
func (l *loading) ended(err error) error {
	written := l.Written()
	switch {
	case err == nil && l.Refused == 0:
		return nil
	case err == nil && l.Asked:
		return fmt.Errorf("%w; the dry run refused none, so your rights or these records "+
			"have changed since; the %s already written stay", errRefused, records(written))
	case err == nil:
		return errRefused
	case written > 0 && !l.DryRun:
		return fmt.Errorf("%w; what was written stays, at least %s; run the import again", err, records(written))
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

// printListing prints the records of a dry run, and how many more there are of those that would change.
func printListing(w io.Writer, l load.Listing) {
	for i, r := range l.Records {
		fmt.Fprintln(w, r)
		if i < len(l.Records)-1 && l.Records[i+1].Kind == r.Kind {
			continue
		}
		for _, result := range []string{"created", "updated", "retired", "deleted"} {
			if more := l.More(r.Kind, result); more > 0 {
				fmt.Fprintf(w, "… and %s more %s %s; --all lists them\n", number(more), r.Kind, result)
			}
		}
	}
}

// leftOut are the rows that the source does not use.
func (l *loading) leftOut() []oneroster.Skipped {
	roster, is := l.Source.(*oneroster.Roster)
	if !is {
		return nil
	}
	return roster.Skipped()
}

// print prints the outcome, and returns the error that ends the command.
func (l *loading) print(took time.Duration, err error) error {
	var faults *csvfile.FaultsError
	if !errors.As(err, &faults) {
		faults = &csvfile.FaultsError{}
	}
	if l.as.data() {
		o := outcome{DryRun: l.DryRun, Seconds: took.Seconds(), Faults: faults.Total,
			First: append([]csvfile.Fault{}, faults.First...), Kinds: append([]load.Tally{}, l.Kinds...),
			Refused: l.Refused, Refusals: append([]load.Refusal{}, l.First...), LeftOut: l.leftOut(),
			Clashes: l.Clashes, Warnings: l.Warnings, Records: l.Listing.Records}
		if err != nil {
			o.Error = err.Error()
		}
		return errors.Join(err, l.object(o))
	}
	printFirst(l.s.err, faults.First, faults.Total-faults.Listed(min(len(faults.First), maxShown)))
	printFirst(l.s.err, l.First, l.Refused-min(len(l.First), maxShown))
	for _, w := range l.Warnings {
		fmt.Fprintln(l.s.err, w)
	}
	if l.Kinds == nil {
		return err
	}
	printListing(l.s.out, l.Listing)
	if tableErr := printTable(l.s.out, l.importFlags, l.Report, took); tableErr != nil {
		return errors.Join(err, tableErr)
	}
	for _, skipped := range l.leftOut() {
		fmt.Fprintln(l.s.out, skipped)
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
	all := map[string]int{}
	for _, t := range report.Kinds {
		for result, n := range t.Counts() {
			all[result] += n
		}
	}
	shown := []string{"created", "updated", "unchanged"}
	if report.Refused > 0 {
		shown = append(shown, "failed")
	}
	if f.Prune {
		shown = append(shown, "retired")
	}
	if all["deleted"] > 0 {
		shown = append(shown, "deleted")
	}
	heads := strings.NewReplacer("failed", "refused", "retired", "no longer current")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "kind\t%s\t\n", heads.Replace(strings.Join(shown, "\t")))
	line := func(name string, counts map[string]int) {
		cells := sequence.Map(shown, func(result string) string { return number(counts[result]) })
		fmt.Fprintf(table, "%s\t%s\t\n", name, strings.Join(cells, "\t"))
	}
	for _, t := range report.Kinds {
		line(string(t.Kind), t.Counts())
	}
	line("all", all)
	if err := table.Flush(); err != nil {
		return err
	}
	records := all["created"] + all["updated"] + all["unchanged"] + all["failed"] // without those in Belfry alone
	_, err := fmt.Fprintf(w, "%s records in %s, %s a second\n", number(records), took.Round(time.Second/10),
		number(int(float64(records)/max(took.Seconds(), 0.001))))
	if f.Prune && report.Refused > 0 {
		fmt.Fprintln(w, "Nothing was pruned because records were refused.")
	}
	if f.DryRun {
		fmt.Fprintln(w, "Dry run: nothing was written.")
	}
	return err
}

// dateFormats lists what --dates takes.
func dateFormats() string {
	all := sequence.Map(csvfile.DateFormats(), func(f csvfile.DateFormat) string { return string(f) })
	return strings.Join(all, ", ")
}

// bundleOptions reads the flags that say how a bundle is read.
func (f importFlags) bundleOptions(zone wiretime.Zone) (bundle.Options, error) {
	o := bundle.Options{Zone: zone, Dates: csvfile.DateFormat(f.dates), From: zone.DayOf(time.Now())}
	if f.dates != "" && !slices.Contains(csvfile.DateFormats(), o.Dates) {
		return o, &usageError{errors.New("--dates takes " + dateFormats())}
	}
	if f.format != formatBundle && f.dates+f.lessonsFrom != "" {
		return o, &usageError{errors.New("--dates and --lessons-from are only for bundles")}
	}
	if f.lessonsFrom != "" {
		day, err := wiretime.ParseDay(f.lessonsFrom)
		if err != nil {
			return o, &usageError{errors.New("--lessons-from takes a day, YYYY-MM-DD")}
		}
		o.From = day
	}
	return o, nil
}

// clientSecret reads the secret for a OneRoster service. No error contains it.
func (f importFlags) clientSecret(address string, s surroundings) (string, error) {
	if f.format != formatOneRoster || !oneroster.IsService(address) {
		return "", nil
	}
	secret, err := secretIn("client secret", f.secretFile, "BELFRY_ONEROSTER_CLIENT_SECRET", s.env)
	if err != nil {
		return "", err
	}
	if secret == "" || f.service.ClientID == "" || f.service.TokenURL == "" {
		return "", &usageError{errors.New("a OneRoster service needs --token-url, --client-id and " +
			"--client-secret-file, or their variables")}
	}
	return secret, nil
}

// open reads and checks a bundle or a roster.
func (l *loading) open(zone wiretime.Zone) (load.Resolver, error) {
	if l.format == formatBundle {
		b, err := bundle.Open(l.args[0], l.bundled)
		return load.OfBundle(b, zone), err
	}
	folder, err := l.readRoster(zone)
	return folder.Resolver(oneroster.Options{Today: zone.DayOf(time.Now()).String(), Prune: l.Prune}), err
}

// readRoster reads a folder, a zip file or a service.
func (l *loading) readRoster(zone wiretime.Zone) (*oneroster.Folder, error) {
	from := l.args[0]
	if !oneroster.IsService(from) {
		return oneroster.Open(from, zone)
	}
	service := l.service
	service.URL, service.ClientSecret = from, l.secret
	archive, err := service.Fetch(l.ctx)
	if err != nil {
		return nil, err
	}
	return oneroster.OpenFetched(archive, zone)
}

// readUUID reads the login. No error contains it.
func readUUID(file string, env func(string) string) (string, error) {
	uuid, err := secretIn("login", file, "BELFRY_UUID", env)
	switch {
	case err != nil || uuid != "":
		return uuid, err
	case file == "":
		return "", &usageError{errors.New("no login: set BELFRY_UUID or give --uuid-file, or run belfryctl login")}
	}
	return "", fmt.Errorf("reading the login: %s is empty", file)
}

// secretIn reads a secret from a file, or from a variable when none is given.
func secretIn(what, file, variable string, env func(string) string) (string, error) {
	if file == "" {
		return strings.TrimSpace(env(variable)), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the %s: %w", what, err)
	}
	return strings.TrimSpace(string(text)), nil
}
