// Package faults tests the conformance tests, compiled as for any deployment. They must find what is broken, clean
// up what they created, and report what can't be checked.
package faults
