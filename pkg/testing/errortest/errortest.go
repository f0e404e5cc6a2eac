// Package errortest ends a test at an error that it does not expect.
package errortest

// TB is what is needed of a test: a testing.TB, which programs must not link, or a rapid.TB.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// None ends the test if there is an error.
func None(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
