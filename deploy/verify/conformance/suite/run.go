package suite

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// closeTimeout bounds the putting away of what a run made, also of one that was interrupted.
const closeTimeout = 2 * time.Minute

// Options say what is checked.
type Options struct {
	URL       string         // of the deployment, such as https://belfry.school.example
	AdminUUID string         // of a user with admin
	Zone      *time.Location // of the deployment; nil: Europe/London
	Run       *regexp.Regexp // only checks whose name or one of whose rules matches; nil: all
	Parallel  int            // checks at once; 0: 4
	// Observe, if set, sees every exchange; what it finds wrong fails the check. Several goroutines call it at once.
	Observe func(Exchange) error
}

// Exchange is a request and its answer.
type Exchange struct {
	Request *http.Request // its body has been read
	Sent    []byte
	Code    int
	Header  http.Header
	Answer  []byte
}

// Verdict is how a check ended.
type Verdict string

// The verdicts. A check that was skipped says why: the deployment is set up so that the rule can't be seen.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped"
)

// Result is that of one check.
type Result struct {
	Check    string        `json:"check"`
	Rules    []string      `json:"rules"`
	Verdict  Verdict       `json:"verdict"`
	Failures []string      `json:"failures,omitempty"` // what was expected and what came
	Why      string        `json:"why,omitempty"`      // of a skipped one
	Took     time.Duration `json:"took_ns"`
}

// Session is a school that is open: checks may be run in it until Close.
type Session struct {
	school *School
	ctx    context.Context //nolint:containedctx // a session lives as long as the run
}

// Open makes a school in the deployment. The error says why the deployment can't be used. Close puts away what the checks made.
func Open(ctx context.Context, o Options) (*Session, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.User != nil {
		return nil, errors.New("the address must look like https://belfry.school.example")
	}
	zone := o.Zone
	if zone == nil {
		if zone, err = time.LoadLocation("Europe/London"); err != nil {
			return nil, err
		}
	}
	s := &Session{ctx: ctx, school: &School{
		Prefix: newPrefix(), Zone: zone, observe: o.Observe, url: strings.TrimSuffix(o.URL, "/"),
		http: &http.Client{
			Timeout:       requestTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 128, IdleConnTimeout: time.Minute},
		},
	}}
	r := s.Run(Check{Name: "opening", Run: func(t *T) { s.school.open(t, o.AdminUUID) }})
	if r.Verdict != Passed {
		return nil, errors.Join(errors.New(strings.Join(r.Failures, "\n")), s.Close())
	}
	return s, nil
}

// Close puts away what the checks made, also when the run was interrupted.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), closeTimeout)
	defer cancel()
	return s.school.close(ctx)
}

// Run runs one check. Several goroutines may.
func (s *Session) Run(c Check) Result {
	ctx, cancel := context.WithTimeout(s.ctx, checkTimeout)
	defer cancel()
	t := &T{School: s.school, name: c.Name, ctx: ctx}
	began := time.Now()
	t.run(c.Run)
	r := Result{Check: c.Name, Rules: c.Rules, Verdict: Passed, Failures: t.failures, Took: time.Since(began)}
	switch {
	case len(t.failures) > 0:
		r.Verdict = Failed
	case t.skipped != "":
		r.Verdict, r.Why = Skipped, t.skipped
	}
	return r
}

// RunAll opens a school, runs the checks that the options choose and calls report with each result as it comes, one call at a time. An
// error says why the deployment could not be used, why the run was cut short, or what could not be put away.
func RunAll(ctx context.Context, o Options, report func(Result)) error {
	s, err := Open(ctx, o)
	if err != nil {
		return err
	}
	var together, alone []Check
	for _, c := range Checks() {
		switch {
		case !c.chosen(o.Run):
		case c.Alone:
			alone = append(alone, c)
		default:
			together = append(together, c)
		}
	}
	parallel := o.Parallel
	if parallel == 0 {
		parallel = 4
	}
	s.runTogether(together, parallel, report)
	s.runTogether(alone, 1, report)
	return errors.Join(ctx.Err(), s.Close())
}

func (s *Session) runTogether(checks []Check, parallel int, report func(Result)) {
	next := make(chan Check)
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range parallel {
		workers.Go(func() {
			for c := range next {
				r := s.Run(c)
				if s.ctx.Err() != nil {
					return // interrupted: the check's failures say nothing
				}
				mu.Lock()
				report(r)
				mu.Unlock()
			}
		})
	}
	for _, c := range checks {
		select {
		case next <- c:
		case <-s.ctx.Done():
		}
	}
	close(next)
	workers.Wait()
}

// chosen says whether a pattern matches the check's name or one of its rules.
func (c Check) chosen(pattern *regexp.Regexp) bool {
	if pattern == nil || pattern.MatchString(c.Name) {
		return true
	}
	for _, rule := range c.Rules {
		if pattern.MatchString(rule) {
			return true
		}
	}
	return false
}
