package checkout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

var (
	// instrument is the making of a metric with a literal name, and the options that follow it.
	instrument = regexp.MustCompile(`\.\s*(?:Int64|Float64)(?:Observable)?(?:Counter|UpDownCounter|Gauge|Histogram)` +
		`\(\s*"([^"]+)"([^{}]*)`)
	ownName = regexp.MustCompile(`^belfry\.[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$`)
)

// conventional are metrics that OpenTelemetry has named.
var conventional = map[string]bool{"http.server.request.duration": true, "http.client.request.duration": true}

// Each metric is named belfry.<noun>.<what>, says what it counts, and is in
// the table of docs/operate.md as Prometheus shows it.
func TestMetricsAreNamedDescribedAndInTheGuide(t *testing.T) {
	root := checkout.Folder(t)
	guide := checkout.Read(t, "docs/operate.md")
	found := 0
	for _, folder := range []string{"pkg", "services"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, made := range instrument.FindAllStringSubmatch(string(text), -1) {
				name := made[1]
				if conventional[name] {
					continue
				}
				found++
				if !ownName.MatchString(name) {
					t.Errorf("%s: %s is not named belfry.<noun>.<what>", d.Name(), name)
				}
				if !strings.Contains(made[2], "WithDescription(") {
					t.Errorf("%s: %s has no description", d.Name(), name)
				}
				if shown := "| `" + strings.ReplaceAll(name, ".", "_"); !strings.Contains(guide, shown) {
					t.Errorf("%s: %s has no row in docs/operate.md", d.Name(), name)
				}
			}
			return err
		})
		errortest.None(t, err)
	}
	if found < 4 {
		t.Errorf("only %d metrics were found", found)
	}
}
