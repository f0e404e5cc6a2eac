// Package conformance checks a deployment of Belfry against the contract and the decisions, rule by rule, as a
// client sees it: it knows an address and an administrator's uuid and nothing else. It is tests alone: go test runs
// them against two replicas of every service on this machine, or against the address that -url names, and what go
// test -c compiles runs where no checkout is. docs/conformance.md says how.
//
// A run makes what it needs under names of its own, so it may be run against a deployment that holds a school, and
// several times at once. When it ends, its events are deleted, its elements are no longer current and its users
// can't log in. Its event categories stay, as nothing deletes one.
package conformance
