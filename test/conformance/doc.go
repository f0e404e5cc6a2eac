// Package conformance checks a deployment of Belfry against the contract and the decisions, rule by rule, as a
// client sees it: it needs only an address and an administrator's uuid. It consists of tests: go test runs them
// against two replicas of every service on this machine, or against the address in -url. The program that go test
// -c compiles needs no checkout. See docs/conformance.md.
//
// A run creates its own records under unique names, so it may run against a deployment that holds a school, and
// several runs may run at the same time. At its end, its events are deleted, its elements are no longer current and
// its users can't log in. Its event categories stay, since they cannot be deleted.
package conformance
