package conformance_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// unusable is the exit code of a run that could not check the deployment; a broken rule is 1.
const unusable = 2

const help = `The conformance tests check a deployment of Belfry against its contract, rule by rule,
as a client sees it.

They log in as an administrator (BELFRY_UUID or -uuid-file), make what they need under names of their own,
and put it away when they end. Without an address, in a checkout, they start the services themselves.

  BELFRY_UUID=… go test ./test/conformance -url http://127.0.0.1:8080
  go test -c -o conformance ./test/conformance      # the same, for where no checkout is
  ./conformance -url https://belfry.school.example -uuid-file admin.uuid -rule '^4\.2' -test.v

Exit codes: 0 every test passed, 1 a rule is broken, 2 the deployment could not be checked.

`

// deployment is the deployment under test.
type deployment struct {
	url, uuidFile, zone, dateOrder string
	documented                     bool
	notices                        receiving
}

// chosen matches the rules to test.
var chosen *regexp.Regexp

// school is the run's own school in the deployment.
var school *School

func TestMain(m *testing.M) {
	var d deployment
	flag.StringVar(&d.url, "url", "", "`address` of the deployment (default: services started for the run)")
	flag.StringVar(&d.uuidFile, "uuid-file", "", "`file` with the administrator's uuid (default: BELFRY_UUID)")
	flag.StringVar(&d.zone, "timezone", "Europe/London", "time `zone` of the deployment, its BELFRY_TIMEZONE")
	flag.StringVar(&d.dateOrder, "date-order", "dmy",
		"`order` of dates with slashes in the deployment, its BELFRY_DATE_ORDER")
	flag.BoolVar(&d.documented, "documented", true, "hold every exchange to the interface's document")
	d.notices.flags()
	rule := flag.String("rule", "", "only tests of rules that match this regular `expression`, such as '^4\\.2'")
	flag.Usage = usage
	_ = flag.Set("test.parallel", "5") // the default: four, and the one that waits for the others
	flag.Parse()
	// The test that runs last occupies a place while it waits for the others.
	if places, _ := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); places < 2 {
		_ = flag.Set("test.parallel", "2")
	}
	os.Exit(d.check(m, *rule))
}

// usage prints the help, with the relevant flags of go test.
func usage() {
	fmt.Fprint(flag.CommandLine.Output(), help)
	few := flag.NewFlagSet("", flag.ContinueOnError)
	few.SetOutput(flag.CommandLine.Output())
	flag.VisitAll(func(f *flag.Flag) {
		switch f.Name {
		case "test.v", "test.run", "test.skip", "test.list", "test.parallel", "test.failfast", "test.shuffle":
			few.Var(f.Value, f.Name, f.Usage)
		default:
			if !strings.HasPrefix(f.Name, "test.") {
				few.Var(f.Value, f.Name, f.Usage)
			}
		}
	})
	few.PrintDefaults()
}

// check runs the tests and returns the exit code.
func (d deployment) check(m *testing.M, rule string) int {
	if flag.Lookup("test.list").Value.String() != "" {
		return m.Run()
	}
	if flag.NArg() > 0 {
		return refuse(fmt.Errorf("unknown argument %q; -help says more", flag.Arg(0)))
	}
	var err error
	if chosen, err = regexp.Compile(rule); err != nil {
		return refuse(fmt.Errorf("-rule: %w", err))
	}
	if !slices.Contains([]string{"dmy", "mdy", "iso"}, d.dateOrder) {
		return refuse(fmt.Errorf("-date-order %q is not dmy, mdy or iso", d.dateOrder))
	}
	zone, err := time.LoadLocation(d.zone)
	if err != nil {
		return refuse(fmt.Errorf("-timezone: %w", err))
	}
	o := servicetest.ClientOptions{URL: strings.TrimSuffix(d.url, "/"), Undocumented: !d.documented}
	if d.url == "" {
		if _, err := checkout.Root(); err != nil {
			return refuse(errors.New("an address is needed: set -url; -help says more"))
		}
		if d.notices != (receiving{}) {
			return refuse(errors.New("-mail-listen, -webhook-listen and what belongs to them need -url"))
		}
		env, stop, err := d.notices.startHere()
		if err != nil {
			return refuse(err)
		}
		defer stop()
		r := &run{m: m, options: o, zone: zone, dateOrder: d.dateOrder}
		return servicetest.Run(r, servicetest.Options{Replicas: 2, Env: env},
			func(s *servicetest.System) { r.options.URL, r.uuid = s.URL, s.AdminUUID })
	}
	stop, err := d.notices.start()
	if err != nil {
		return refuse(err)
	}
	defer stop()
	uuid := os.Getenv("BELFRY_UUID")
	if d.uuidFile != "" {
		text, err := os.ReadFile(d.uuidFile)
		if err != nil {
			return refuse(err)
		}
		uuid = strings.TrimSpace(string(text))
	}
	if uuid == "" {
		return refuse(errors.New("the administrator's uuid is needed: set BELFRY_UUID or -uuid-file"))
	}
	return (&run{m, o, uuid, zone, d.dateOrder}).Run()
}

func refuse(err error) int {
	fmt.Fprintf(os.Stderr, "conformance: %v\n", err)
	return unusable
}

// run is one run of the tests, in a school of its own.
type run struct {
	m       *testing.M
	options servicetest.ClientOptions
	uuid    string // the administrator's
	zone    *time.Location

	dateOrder string
}

// Run opens the school, runs the tests, prints a summary and cleans up, also when the run is interrupted.
func (r *run) Run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 128,
		IdleConnTimeout: time.Minute}
	s, err := openSchool(ctx, r.options, transport, r.uuid, r.zone)
	if err != nil {
		return refuse(err)
	}
	s.DateOrder, school = r.dateOrder, s
	context.AfterFunc(ctx, func() { stop(); s.made.stop() }) // a second signal ends the run at once
	began := time.Now()
	code := r.m.Run()
	fmt.Print(outcome.summary(time.Since(began)))
	err = s.close()
	if ctx.Err() != nil {
		err = errors.Join(errInterrupted, err)
	}
	if err == nil && outcome.empty() {
		err = errors.New("no test is chosen")
	}
	if err != nil {
		return refuse(err)
	}
	return code
}
