// Package suite checks a deployment of Belfry against the contract and the decisions, rule by rule, as a client sees it: it knows an
// address and an administrator's uuid and nothing else. It makes what it needs under names of its own, so it may run against a system
// that holds a school, and several times at once; when it ends, its events are deleted, its elements are no longer current and its users
// can't log in. Its event categories stay, as nothing deletes one.
package suite

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// checkTimeout bounds one check. The longest waits for the end of a minute's limit on failed logins.
const checkTimeout = 3 * time.Minute

// Check is one test of a deployment.
type Check struct {
	Name  string // as a Go test is called: TestPart4_2_Rule05_RepeatedResourceGroupRaisesQuantity
	Run   func(t *T)
	Rules []string // ids, in Rules, of those that it proves
	// Alone: the check is run after all others, by itself, because it disturbs other logins from the same address.
	Alone bool
}

// prove declares a check.
func prove(name string, run func(t *T), rules ...string) Check {
	return Check{Name: name, Run: run, Rules: rules}
}

// Checks returns all checks, in the order of the report.
func Checks() []Check {
	return slices.Concat(
		sessionChecks(),
		switchChecks(),
		fieldChecks(),
		envelopeChecks(),
		permissionChecks(),
		administrationChecks(),
		repeatChecks(),
		elementChecks(),
		eventChecks(),
		noteChecks(),
		categoryChecks(),
	)
}

// T is one run of a check. Like testing.T it records failures and goes on with Errorf, and ends the check with Fatalf, which only the
// check's own goroutine may call.
type T struct {
	School *School
	name   string
	ctx    context.Context //nolint:containedctx // a T lives as long as the check, as testing.T does

	mu       sync.Mutex
	failures []string
	skipped  string
	cleanups []func()
}

// Name is the check's.
func (t *T) Name() string { return t.name }

// Context ends when the check has run too long or the run is interrupted.
func (t *T) Context() context.Context { return t.ctx }

// Errorf records a failure. Say what was expected and what came.
func (t *T) Errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	place := t.place()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, place+text)
}

// Fatalf records a failure and ends the check.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// Skipf ends the check without a verdict, because the deployment is set up so that the rule can't be seen.
func (t *T) Skipf(format string, args ...any) {
	t.mu.Lock()
	t.skipped = fmt.Sprintf(format, args...)
	t.mu.Unlock()
	runtime.Goexit()
}

// Cleanup has f called when the check has ended, the last one first.
func (t *T) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

// Equal fails the check unless both are printed alike.
func (t *T) Equal(what string, got, want any) {
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s\n  expected: %s\n  got:      %s", what, w, g)
	}
}

// place says which line of the check is running: the outermost one of this package below run.
func (t *T) place() string {
	var calls [32]uintptr
	frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls[:])])
	line := ""
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function[strings.LastIndexByte(frame.Function, '/')+1:], "suite.(*T).run.") || !more {
			return line
		}
		line = fmt.Sprintf("%s:%d: ", frame.File[strings.LastIndexByte(frame.File, '/')+1:], frame.Line)
	}
}

// run runs a check to its end in a goroutine of its own, so that Fatalf ends the check and nothing else.
func (t *T) run(check func(*T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer t.clean()
		defer func() {
			if fault := recover(); fault != nil {
				t.Errorf("the check itself panicked: %v", fault)
			}
		}()
		check(t)
	}()
	<-done
}

func (t *T) clean() {
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
}
