// Package faults tests the conformance tests: compiled, as they are run against any deployment, they must find what
// is broken, put away what they made, and say what can't be checked.
package faults
