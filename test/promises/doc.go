// Package promises tests what docs/releases.md promises within a major version: that a name of the Go client, a part of
// the interface and a value of the chart stay, once there is a release with them.
package promises
