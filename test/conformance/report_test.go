package conformance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// outcome has the results of the run's tests, by part of the contract.
var outcome report

// others counts the tests that have not ended, except the one that runs last.
var others sync.WaitGroup

// proves declares the rules that a test proves, each by its id; one of the tests of a rule has its text behind the id
// ("4.2 rule 5: …"). The coverage page reads them. The test is reported under the part of the first one. It runs in
// parallel with others, and is skipped when -rule matches none of its rules.
func proves(t *testing.T, rules ...string) {
	t.Helper()
	begin(t, rules)
	others.Add(1)
	t.Cleanup(others.Done)
	t.Parallel()
	school.unlessInterrupted(t)
}

// provesLast is proves for a test that disturbs wrong logins from the same address: it runs after all others have
// ended.
func provesLast(t *testing.T, rules ...string) {
	t.Helper()
	begin(t, rules)
	t.Parallel() // so that it continues after each of the others has begun
	others.Wait()
	school.unlessInterrupted(t)
}

func begin(t *testing.T, rules []string) {
	t.Helper()
	for i := range rules {
		rules[i], _, _ = strings.Cut(rules[i], ": ")
	}
	if !slices.ContainsFunc(rules, chosen.MatchString) {
		t.SkipNow()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("rules: %s", strings.Join(rules, "; "))
		}
		outcome.add(t, part(rules[0]))
	})
}

// part returns the part of a rule: "4.2" of "4.2 rule 5", "decisions 2" of "decisions 2 cookie".
func part(rule string) string {
	words := strings.Fields(rule)
	if words[0] == "decisions" {
		return "decisions " + words[1]
	}
	return words[0]
}

// report counts test results by part.
type report struct {
	mu    sync.Mutex
	parts map[string]*counts
}

type counts struct{ passed, failed, skipped int }

func (r *report) add(t *testing.T, part string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parts == nil {
		r.parts = map[string]*counts{}
	}
	if r.parts[part] == nil {
		r.parts[part] = &counts{}
	}
	switch {
	case t.Failed():
		r.parts[part].failed++
	case t.Skipped():
		r.parts[part].skipped++
	default:
		r.parts[part].passed++
	}
}

func (r *report) empty() bool { return len(r.parts) == 0 }

// summary returns a line for each part and one for all.
func (r *report) summary(took time.Duration) string {
	var text strings.Builder
	var all counts
	for _, part := range slices.Sorted(maps.Keys(r.parts)) {
		c := *r.parts[part]
		fmt.Fprintf(&text, "%-15s %s\n", part, c)
		all = counts{all.passed + c.passed, all.failed + c.failed, all.skipped + c.skipped}
	}
	fmt.Fprintf(&text, "%-15s %s, in %.0f s\n", "all", all, took.Seconds())
	return text.String()
}

func (c counts) String() string {
	text := fmt.Sprintf("%d passed", c.passed)
	if c.failed > 0 {
		text += fmt.Sprintf(", %d failed", c.failed)
	}
	if c.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return text
}
