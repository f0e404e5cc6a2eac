// Package errortest compares errors with those that a test expects.
//
// What a check is about comes last, where its line does not say so: a text, or a format and its arguments.
package errortest

import (
	"errors"
	"fmt"
	"strings"
)

// TB is what is needed of a test: a testing.TB, which programs must not link, or a rapid.TB.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// None ends the test if there is an error.
func None(t TB, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(About(what) + err.Error())
	}
}

// Report fails the test, which goes on, if there is an error.
func Report(t TB, err error, what ...any) {
	t.Helper()
	if err != nil {
		t.Errorf("%s%v", About(what), err)
	}
}

// Some fails the test if there is no error.
func Some(t TB, err error, what ...any) {
	t.Helper()
	if err == nil {
		t.Errorf("%sno error", About(what))
	}
}

// Is fails the test unless target is in the error's chain.
func Is(t TB, err, target error, what ...any) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%sgot error %v, want %v", About(what), err, target)
	}
}

// Says fails the test unless there is an error whose text holds part.
func Says(t TB, err error, part string, what ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%sgot error %v, want one that says %q", About(what), err, part)
	}
}

// Of returns the error of a call that returns a value too: errortest.None(t, errortest.Of(os.Stat(path))).
func Of[T any](_ T, err error) error { return err }

// About is what a message about a check begins with.
func About(what []any) string {
	switch len(what) {
	case 0:
		return ""
	case 1:
		return fmt.Sprint(what[0], ": ")
	default:
		return fmt.Sprintf(what[0].(string)+": ", what[1:]...)
	}
}
