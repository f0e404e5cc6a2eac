package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/deploy/verify/conformance/suite"
)

// Exit codes; docs/conformance.md promises them.
const (
	exitOK       = 0
	exitFailed   = 1 // a rule is broken
	exitUnusable = 2 // it was asked wrongly, or the deployment could not be checked
)

// errFailed ends a run in which a check failed.
var errFailed = errors.New("the contract is broken")

// deployment is what both commands are told of the one that they look at.
type deployment struct {
	url, uuidFile, zone string
	env                 func(string) string
}

// read returns the administrator's uuid and the time zone.
func (d *deployment) read() (uuid string, zone *time.Location, err error) {
	uuid = d.env("BELFRY_UUID")
	if d.uuidFile != "" {
		text, err := os.ReadFile(d.uuidFile)
		if err != nil {
			return "", nil, err
		}
		uuid = strings.TrimSpace(string(text))
	}
	if uuid == "" {
		return "", nil, errors.New("the administrator's uuid is needed: set BELFRY_UUID or --uuid-file")
	}
	if zone, err = time.LoadLocation(d.zone); err != nil {
		return "", nil, fmt.Errorf("--timezone: %w", err)
	}
	return uuid, zone, nil
}

// flags are those of the checks.
type flags struct {
	run      string
	parallel int
	json     bool
}

// run runs the command with those arguments and gives its exit code.
func run(ctx context.Context, args []string, out, errs io.Writer, env func(string) string) int {
	var f flags
	d := &deployment{env: env}
	command := &cobra.Command{
		Use:   "conformance --url URL",
		Short: "Check a deployment of Belfry against its contract, rule by rule",
		Long: `conformance checks a deployment of Belfry against its contract, rule by rule, as a client sees it.

It logs in as an administrator (BELFRY_UUID or --uuid-file), makes what it needs under names of its own, and puts it away when it ends.

Another walk, school, takes an empty deployment to a running school.

Exit codes: 0 every check passed, 1 a check failed, 2 the deployment could not be checked.`,
		Example: `  BELFRY_UUID=… conformance --url http://127.0.0.1:8080
  conformance --url https://belfry.school.example --uuid-file admin.uuid --run '^4\.2' --json
  conformance school --url http://127.0.0.1:8080`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return check(c.Context(), d, f, out) },
	}
	command.PersistentFlags().StringVar(&d.url, "url", "http://127.0.0.1:8080", "address of the deployment")
	command.PersistentFlags().StringVar(&d.uuidFile, "uuid-file", "", "file with the administrator's uuid (default: BELFRY_UUID)")
	command.PersistentFlags().StringVar(&d.zone, "timezone", "Europe/London", "time zone of the deployment, its BELFRY_TIMEZONE")
	command.Flags().StringVar(&f.run, "run", "", "only checks whose name, or one of whose rules, matches this regular expression")
	command.Flags().IntVar(&f.parallel, "parallel", 4, "checks at once")
	command.Flags().BoolVar(&f.json, "json", false, "print one JSON object instead of the report")
	command.AddCommand(schoolCommand(d))
	command.SetArgs(args)
	command.SetOut(out)
	command.SetErr(errs)
	switch err := command.ExecuteContext(ctx); {
	case err == nil:
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailed
	default:
		fmt.Fprintf(errs, "conformance: %v\n", err)
		return exitUnusable
	}
}

func check(ctx context.Context, d *deployment, f flags, out io.Writer) error {
	uuid, zone, err := d.read()
	if err != nil {
		return err
	}
	options := suite.Options{URL: d.url, AdminUUID: uuid, Zone: zone, Parallel: f.parallel}
	if f.parallel < 1 {
		return errors.New("--parallel must be at least 1")
	}
	if options.Run, err = regexp.Compile(f.run); err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	began := time.Now()
	var results []suite.Result
	if err := suite.RunAll(ctx, options, func(r suite.Result) { results = append(results, r) }); err != nil {
		return err
	}
	if len(results) == 0 {
		return fmt.Errorf("--run %s chooses no check", f.run)
	}
	r := newReport(results, time.Since(began))
	if f.json {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(r)
	} else {
		err = r.write(out)
	}
	if err == nil && r.Failed > 0 {
		err = errFailed
	}
	return err
}
