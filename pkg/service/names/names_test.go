package names_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestTheTableIsOfTheFoldersTheModulesTheRoutesAndTheNeighbours(t *testing.T) {
	want := slices.Sorted(slices.Values(names.All()))
	root := checkout.Folder(t)
	folders, err := os.ReadDir(filepath.Join(root, "services"))
	errortest.None(t, err)
	found := map[string][]string{}
	for _, folder := range folders {
		found["services/"] = append(found["services/"], folder.Name())
	}
	for line := range strings.Lines(checkout.Read(t, "go.work")) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "./services/"); ok {
			found["go.work"] = append(found["go.work"], name)
		}
	}
	table, err := checkout.Routes()
	errortest.None(t, err)
	for _, row := range table.Routes {
		found["routes.yaml"] = append(found["routes.yaml"], row.Service)
	}
	var neighbours map[string][]string
	errortest.None(t, yaml.Unmarshal([]byte(checkout.Read(t, "charts/belfry/files/neighbours.yaml")), &neighbours))
	for service := range neighbours {
		found["neighbours.yaml"] = append(found["neighbours.yaml"], service)
	}
	for _, where := range []string{"services/", "go.work", "routes.yaml", "neighbours.yaml"} {
		valuetest.List(t, slices.Compact(slices.Sorted(slices.Values(found[where]))), want, "%s, and names.txt", where)
	}
}

// Who pushes the images of a release pushes those that the page lists: pods of one that is missing never start.
func TestTheReleasesPageListsEachImage(t *testing.T) {
	_, row, found := strings.Cut(checkout.Read(t, "docs/releases.md"), "\n| `belfry-identity.tar`")
	row, _, whole := strings.Cut(row, " | an image")
	valuetest.MustHold(t, found && whole, "docs/releases.md lists no images")
	for _, name := range names.All() {
		if name != "identity" {
			valuetest.Has(t, row, "`-"+name+"`", "the images of a release")
		}
	}
}
