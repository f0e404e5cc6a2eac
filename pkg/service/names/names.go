// Package names is the one table of the services, names.txt. The Makefile, the Tiltfile and scripts read the same
// file. A service's folder, its program, its image and its Deployment have that name.
package names

import (
	_ "embed"
	"strings"
)

//go:embed names.txt
var table string

// All returns the names of the services in the order in which they are listed everywhere: a service that most
// others call comes first.
func All() []string { return strings.Fields(table) }
