// Package release knows the release that a build belongs to: the last one that was made, or the one that is being
// prepared.
package release

import (
	_ "embed"
	"strings"
)

//go:embed version.txt
var version string

// Version returns the release's version, such as 1.2.3. The interface's document, the chart and its examples have the
// same one: a test compares them.
func Version() string { return strings.TrimSpace(version) }
