package release_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/belfry-schools/belfry/pkg/release"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// TestVersion_IsTheSameEverywhere looks in each file that names the version of the release.
func TestVersion_IsTheSameEverywhere(t *testing.T) {
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(release.Version()) {
		t.Fatalf("the version is %q", release.Version())
	}
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	patterns := map[string]string{
		"pkg/apidoc/*.yaml":                   `(?m)(?:^info: .*|^  )version: ([\d.]+)}?$`,
		"charts/belfry/Chart.yaml":            `(?m)^(?:version|appVersion): (.*)$`,
		"charts/belfry/examples/*.yaml":       `(?m)^  tag: (\d.*)$`,
		"deploy/release/examples/argocd.yaml": `targetRevision: (\d.*)`,
		"deploy/release/examples/flux.yaml":   `tag: ([^}]*)`,
		"deploy/release/compose/compose.yaml": `VERSION:-([^}]*)`,
		"deploy/release/compose/README.md":    `(?m)^VERSION=(.*)$`,
	}
	for glob, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, glob))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %q, %v", glob, files, err)
		}
		found := 0
		for _, file := range files {
			name, _ := filepath.Rel(root, file)
			for _, version := range regexp.MustCompile(pattern).FindAllStringSubmatch(checkout.Read(t, name), -1) {
				found++
				if version[1] != release.Version() {
					t.Errorf("%s has the version %s, want %s", name, version[1], release.Version())
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no file has a version", glob)
		}
	}
	newest := regexp.MustCompile(`(?m)^## (\S+)`).FindStringSubmatch(checkout.Read(t, "CHANGELOG.md"))
	if newest == nil || newest[1] != "Unreleased" && newest[1] != release.Version() {
		t.Errorf("the changelog begins with %q", newest)
	}
}
