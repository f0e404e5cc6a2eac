package checkout

import (
	"regexp"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

var settingRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|")

// Settings returns the variables that a service reads, from the table that the service itself writes. The test fails
// when the table does not have what all services need.
func Settings(t errortest.TB, service string) []string {
	t.Helper()
	var found []string
	for _, section := range strings.Split(Read(t, "docs/settings.md"), "\n## ") {
		title, body, _ := strings.Cut(section, "\n")
		keeps := title == "Services that keep data, besides" && service != names.Console
		if title != "All services" && !keeps && title != service+", besides" {
			continue
		}
		for _, row := range settingRow.FindAllStringSubmatch(body, -1) {
			found = append(found, row[1])
		}
	}
	needed := "MONGODB_URI"
	if service == names.Console {
		needed = "BELFRY_INTERNAL_TOKEN"
	}
	if !slices.Contains(found, needed) {
		t.Fatal("docs/settings.md gives", service, "the variables", found)
	}
	return found
}
