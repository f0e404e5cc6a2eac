package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/deploy/admin/bundle"
	"github.com/belfry-schools/belfry/deploy/admin/client"
	"github.com/belfry-schools/belfry/deploy/admin/csvfile"
	"github.com/belfry-schools/belfry/deploy/admin/oneroster"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	defaultURL  = "http://127.0.0.1:8080"
	defaultZone = "Europe/London"
	maxShown    = 100 // faults, or refused records

	formatBundle    = "bundle"
	formatOneRoster = "oneroster"
)

// importFlags are the flags of import.
type importFlags struct {
	connection
	zone, format        string
	dryRun, prune, json bool
	parallel            int
}

func importCommand(s surroundings) *cobra.Command {
	var f importFlags
	command := &cobra.Command{
		Use:   "import DIR|FILE.xlsx",
		Short: "Load a school's CSV files into a running Belfry: a bundle, or a OneRoster folder",
		Long: `Reads and checks the whole bundle in DIR first, and reports every fault as file:line: column: reason. ` +
			`With any fault
nothing is written. Then writes it in the order in which its files need each other, and closes with a table of what
became of the records of each kind.

A bundle may be an .xlsx workbook in place of DIR, with a sheet for each file, named as the file is without .csv.

A bundle is complete in itself: its rows can refer only to rows of its own. Rows are matched by key, so the same bundle
may be imported as often as you like, and an import that was interrupted is finished by running it again. While a
service is away, each batch is tried again for about a minute.

With --format oneroster DIR is a folder of OneRoster CSV files, version 1.1 or 1.2, as its manifest.csv says: users ` +
			`become staff and pupils,
orgs and classes groups, enrollments memberships. Of files in bulk --prune takes back what has gone; a delta changes ` +
			`what it names and needs no
other file: what it refers to may be in Belfry already. docs/oneroster.md says all of it.

The login is the uuid of a user with the admin permission. It is read from the file given by --uuid-file or else
from the environment variable BELFRY_UUID, never from the command line, where other users of the machine could see it.`,
		Example: `  BELFRY_UUID=… belfryctl import school/
  belfryctl import school/ --url https://belfry.school.example --uuid-file ~/.belfry-uuid --dry-run
  belfryctl import school.xlsx --prune --json
  belfryctl import --format oneroster roster/ --prune --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: does(func(command *cobra.Command, args []string) error {
			return runImport(command.Context(), args[0], f, s)
		}),
	}
	flags := command.Flags()
	f.flags(flags, s)
	flags.StringVar(&f.format, "format", formatBundle, "what DIR holds: "+formatBundle+" or "+formatOneRoster)
	flags.StringVar(&f.zone, "timezone", orDefault(s.env("BELFRY_TIMEZONE"), defaultZone),
		"zone of local times while checking; give the deployment's own (environment: BELFRY_TIMEZONE)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "ask the deployment what would happen, write nothing")
	flags.BoolVar(&f.prune, "prune", false,
		"make no longer current the elements, and of a roster end the memberships, that have gone from the files; "+
			"deletes nothing")
	flags.IntVar(&f.parallel, "parallel", 2, "batches on their way at the same time, 1 to 16")
	flags.BoolVar(&f.json, "json", false, "print the outcome as JSON")
	return command
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// outcome is what import --json prints.
type outcome struct {
	Error    string           `json:"error,omitempty"`
	DryRun   bool             `json:"dry_run"`
	Seconds  float64          `json:"seconds"`
	Faults   int              `json:"faults"` // of the bundle; nothing is written when there are any
	First    []csvfile.Fault  `json:"first_faults"`
	Kinds    []client.Tally   `json:"kinds"`
	Refused  int              `json:"refused"` // records that the services did not take
	Refusals []client.Refusal `json:"first_refused"`
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
	show := &progress{out: s.err}
	c, uuid, err := f.client(s, client.Options{OnRetry: show.retry})
	if err != nil {
		return err
	}
	began := time.Now()
	report, leftOut, err := load(ctx, c, dir, uuid, zone, f, show)
	show.done()
	if err == nil && report.Refused > 0 {
		err = errRefused
	}
	return printOutcome(s, f, report, leftOut, time.Since(began), err)
}

// load checks everything before it writes anything. It reads from the deployment only for a roster, which may refer
// to records outside its own rows.
func load(ctx context.Context, c *client.Client, dir, uuid string, zone wiretime.Zone, f importFlags,
	show *progress) (client.Report, []oneroster.Skipped, error) {
	open := openBundle
	if f.format == formatOneRoster {
		open = openRoster
	}
	resolve, err := open(dir, zone, f)
	if err != nil {
		return client.Report{}, nil, err
	}
	if err := c.Login(ctx, uuid); err != nil {
		return client.Report{}, nil, fmt.Errorf("logging in: %w", err)
	}
	source, leftOut, err := resolve(ctx, c)
	if err != nil {
		return client.Report{}, nil, err
	}
	total := 0
	for _, kind := range bundle.Kinds() {
		total += source.Count(kind)
	}
	show.start(total)
	report, err := c.Load(ctx, source,
		client.LoadOptions{DryRun: f.dryRun, Prune: f.prune, Parallel: f.parallel, Progress: show.add})
	return report, leftOut, err
}

// resolver returns the source of a folder that was checked.
type resolver func(context.Context, *client.Client) (client.Source, []oneroster.Skipped, error)

func openBundle(dir string, zone wiretime.Zone, _ importFlags) (resolver, error) {
	b, err := bundle.Open(dir, zone)
	return func(context.Context, *client.Client) (client.Source, []oneroster.Skipped, error) { return b, nil, nil }, err
}

func openRoster(dir string, zone wiretime.Zone, f importFlags) (resolver, error) {
	folder, err := oneroster.Open(dir, zone)
	return func(ctx context.Context, c *client.Client) (client.Source, []oneroster.Skipped, error) {
		roster, err := folder.Resolve(ctx, c, oneroster.Options{Today: zone.DayOf(time.Now()).String(), Prune: f.prune})
		if err != nil {
			return nil, nil, err
		}
		return roster, roster.Skipped(), nil
	}, err
}

// readUUID reads the login. No error holds its text.
func readUUID(file string, env func(string) string) (string, error) {
	if file == "" {
		if uuid := strings.TrimSpace(env("BELFRY_UUID")); uuid != "" {
			return uuid, nil
		}
		return "", &usageError{errors.New("no login: set BELFRY_UUID or give --uuid-file")}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the login: %w", err)
	}
	if uuid := strings.TrimSpace(string(text)); uuid != "" {
		return uuid, nil
	}
	return "", fmt.Errorf("reading the login: %s is empty", file)
}

// printOutcome prints what was done and found, and returns the error that ends the command.
func printOutcome(s surroundings, f importFlags, report client.Report, leftOut []oneroster.Skipped, took time.Duration,
	err error) error {
	var faults *csvfile.FaultsError
	if !errors.As(err, &faults) {
		faults = &csvfile.FaultsError{}
	}
	if f.json {
		o := outcome{DryRun: f.dryRun, Seconds: took.Seconds(), Faults: faults.Total,
			First: append([]csvfile.Fault{}, faults.First...), Kinds: append([]client.Tally{}, report.Kinds...),
			Refused: report.Refused, Refusals: append([]client.Refusal{}, report.First...), LeftOut: leftOut}
		if err != nil {
			o.Error = err.Error()
		}
		return errors.Join(err, printJSON(s.out, o))
	}
	list(s.err, faults.First, faults.Total-faults.Listed(min(len(faults.First), maxShown)))
	list(s.err, report.First, report.Refused-min(len(report.First), maxShown))
	if report.Kinds == nil {
		return err
	}
	if tableErr := printTable(s.out, f, report, took); tableErr != nil {
		return errors.Join(err, tableErr)
	}
	for _, skipped := range leftOut {
		fmt.Fprintln(s.out, skipped)
	}
	return err
}

// list prints the first of many lines, and how many more there are.
func list[T fmt.Stringer](w io.Writer, lines []T, more int) {
	for _, line := range lines[:min(len(lines), maxShown)] {
		fmt.Fprintln(w, line)
	}
	if more > 0 {
		fmt.Fprintf(w, "… and %s more\n", number(more))
	}
}

func printTable(w io.Writer, f importFlags, report client.Report, took time.Duration) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, t client.Tally) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t", name, number(t.Created), number(t.Updated), number(t.Unchanged))
		if report.Refused > 0 {
			fmt.Fprintf(table, "%s\t", number(t.Failed))
		}
		if f.prune {
			fmt.Fprintf(table, "%s\t", number(t.Retired))
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
	fmt.Fprintln(table)
	var sum client.Tally
	for _, t := range report.Kinds {
		row(string(t.Kind), t)
		sum.Created += t.Created
		sum.Updated += t.Updated
		sum.Unchanged += t.Unchanged
		sum.Failed += t.Failed
		sum.Retired += t.Retired
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
