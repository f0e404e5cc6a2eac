// Package names is the one table of the services, names.txt. The Makefile, the Tiltfile and scripts read the same
// file. A service's folder, its program, its image and its Deployment have that name.
package names

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed names.txt
var table string

// All returns the names of the services in the order in which they are listed everywhere: a service that most
// others call comes first.
func All() []string { return strings.Fields(table) }

// Console is the service without data of its own. The others serve the documented interface, which it calls.
const Console = "console"

// WithData returns the names of the services that keep data: all but the console.
func WithData() []string {
	return slices.DeleteFunc(All(), func(name string) bool { return name == Console })
}
