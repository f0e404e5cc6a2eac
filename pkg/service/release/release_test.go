package release_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestVersion_IsTheSameEverywhere reads each file that names the version of the release. With UPDATE=1 it writes
// that of version.txt into them.
func TestVersion_IsTheSameEverywhere(t *testing.T) {
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(release.Version()) {
		t.Fatalf("the version is %q", release.Version())
	}
	root := checkout.Folder(t)
	patterns := map[string]string{
		"pkg/apidoc/*.yaml":             `(?m)(?:^info: .*|^  |status: OK, )version: ([\d.]+)}?$`,
		"charts/belfry/Chart.yaml":      `(?m)^(?:version|appVersion): (.*)$`,
		"charts/belfry/examples/*.yaml": `(?m)^  tag: (\d.*)$`,
		"deploy/examples/argocd.yaml":   `targetRevision: (\d.*)`,
		"deploy/examples/flux.yaml":     `tag: ([^}]*)`,

		"deploy/examples/nightly-import.yaml": `belfryctl:(\d.*)`,

		"deploy/compose/compose.yaml": `VERSION:-([^}]*)`,
		"deploy/compose/README.md":    `(?m)^VERSION=(.*)$`,
		"docs/operate.md":             `(?m)^  tag: (.*)$`,
	}
	for glob, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, glob))
		valuetest.MustHold(t, err == nil && len(files) != 0, "%s: %q, %v", glob, files, err)
		found := 0
		for _, file := range files {
			name, _ := filepath.Rel(root, file)
			if os.Getenv("UPDATE") != "" {
				writeVersion(t, file, regexp.MustCompile(pattern))
			}
			for _, version := range regexp.MustCompile(pattern).FindAllStringSubmatch(checkout.Read(t, name), -1) {
				found++
				valuetest.Same(t, version[1], release.Version(), "%s has the version", name)
			}
		}
		valuetest.Holds(t, found != 0, "%s: no file has a version", glob)
	}
	newest := regexp.MustCompile(`(?m)^## (.*)$`).FindStringSubmatch(checkout.Read(t, "CHANGELOG.md"))
	released := regexp.MustCompile(`^` + regexp.QuoteMeta(release.Version()) + `, \d{4}-\d\d-\d\d$`)
	if newest == nil || newest[1] != "Unreleased" && !released.MatchString(newest[1]) {
		t.Errorf("the changelog begins with %q", newest)
	}
}

// writeVersion writes the release's version into a file, in place of each that the pattern finds.
func writeVersion(t *testing.T, file string, pattern *regexp.Regexp) {
	t.Helper()
	text, err := os.ReadFile(file)
	errortest.None(t, err)
	for _, at := range slices.Backward(pattern.FindAllSubmatchIndex(text, -1)) {
		text = slices.Replace(text, at[2], at[3], []byte(release.Version())...)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil { // its mode stays
		t.Fatal(err)
	}
}

// TestMakeRelease_BeginsOnlyFromACommitThatIsTheRelease runs .ci/release in a repository of its own, with a go that
// only says that it was reached.
func TestMakeRelease_BeginsOnlyFromACommitThatIsTheRelease(t *testing.T) {
	for name, c := range map[string]struct {
		version, heading string
		changed          bool // after the commit
		want             string
	}{
		"the release":      {"1.2.3", "## 1.2.3, 2026-11-30", false, "reached: test -count=1 ./pkg/service/release"},
		"another version":  {"1.2.4", "## 1.2.4, 2026-11-30", false, "pkg/service/release/version.txt says 1.2.3"},
		"unreleased":       {"1.2.3", "## Unreleased", false, "CHANGELOG.md begins with '## Unreleased'"},
		"without its day":  {"1.2.3", "## 1.2.3", false, "CHANGELOG.md begins with '## 1.2.3'"},
		"a longer version": {"1.2.3", "## 1.2.34, 2026-11-30", false, "CHANGELOG.md begins with '## 1.2.34"},
		"not committed":    {"1.2.3", "## 1.2.3, 2026-11-30", true, "something is not committed"},
	} {
		t.Run(name, func(t *testing.T) {
			root, programs := t.TempDir(), t.TempDir()
			write := func(path, text string) {
				t.Helper()
				errortest.None(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
					os.WriteFile(path, []byte(text), 0o755)))
			}
			write(filepath.Join(programs, "go"), "#!/bin/sh\necho \"reached: $*\"; exit 7\n")
			write(filepath.Join(root, ".ci", "release"), checkout.Read(t, ".ci/release"))
			write(filepath.Join(root, "pkg", "service", "release", "version.txt"), "1.2.3\n")
			write(filepath.Join(root, "CHANGELOG.md"), "# Changelog\n\n"+c.heading+"\n\n## 1.2.3, 2026-11-30\n")
			run := func(program string, arguments ...string) (string, error) {
				command := exec.CommandContext(t.Context(), program, arguments...)
				command.Dir = root
				command.Env = append(os.Environ(), "VERSION="+c.version,
					"PATH="+programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
				printed, err := command.CombinedOutput()
				return string(printed), err
			}
			for _, arguments := range [][]string{{"init", "--quiet"}, {"add", "--all"}, {"-c", "user.name=a", "-c",
				"user.email=a@school.example", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "a"}} {
				printed, err := run("git", arguments...)
				errortest.None(t, err, "git %q\n%s", arguments, printed)
			}
			if c.changed {
				write(filepath.Join(root, "more"), "")
			}
			printed, err := run(filepath.Join(root, ".ci", "release"))
			valuetest.Holds(t, err != nil && strings.Contains(printed, c.want), "%v\n%s\nwant %s", err, printed, c.want)
			valuetest.Same(t, strings.Contains(printed, "reached"), strings.HasPrefix(c.want, "reached"),
				"go was run\n%s", printed)
		})
	}
}
