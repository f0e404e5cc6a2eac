package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestAReleasedProgramSaysWhatItIs runs the programs out of the images, the services with real stores. The interface's
// document, GET /api/version and belfryctl have the version of the release; the command version and the metrics have
// the commit.
func TestAReleasedProgramSaysWhatItIs(t *testing.T) {
	folder := unpackPrograms(t)
	head, err := exec.CommandContext(t.Context(), "git", "-C", root, "rev-parse", "HEAD").Output()
	errortest.None(t, err)
	commit := strings.TrimSpace(string(head))
	same := func(of, got, want string) {
		t.Helper()
		valuetest.Same(t, got, want, of)
	}
	printed := func(program string, arguments ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), filepath.Join(folder, program), arguments...).Output()
		errortest.None(t, err, "%s %q", program, arguments)
		return strings.TrimSpace(string(out))
	}
	var own struct{ Version, Commit, Go string }
	errortest.None(t, json.Unmarshal([]byte(printed("belfryctl", "version", "-o=json")), &own))
	same("belfryctl's version", own.Version, release.Version())
	same("belfryctl's commit", own.Commit, commit)

	system := servicetest.Start(t, servicetest.Options{Console: true, Programs: folder})
	for _, service := range names.All() {
		same(service+" version", printed(service, "version"), commit)
		stated := regexp.MustCompile(`(?m)^target_info\{.*service_version="([^"]*)"`).
			FindStringSubmatch(system.Metrics(t, service, 0))
		if stated == nil {
			t.Errorf("the metrics of %s name no version", service)
			continue
		}
		same("the version in the metrics of "+service, stated[1], commit)
	}
	client := system.Client(t)
	told := client.Get(t, "/api/version").Must(t, http.StatusOK)
	same("GET /api/version", told.Body, fmt.Sprintf(`{"status":"OK","version":%q}`, release.Version()))
	document := client.Get(t, "/api/openapi.json").Must(t, http.StatusOK)
	same("the document's version", document.Text(t, "info.version"), release.Version())
}

// unpackPrograms writes the programs of the images for this machine's architecture into a folder.
func unpackPrograms(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	found := 0
	for _, o := range images {
		if o.platform != "linux/"+runtime.GOARCH {
			continue
		}
		found++
		errortest.None(t, os.WriteFile(filepath.Join(folder, o.program), o.texts[o.program], 0o755))
	}
	valuetest.MustSame(t, found, len(programs()), "programs for %s", runtime.GOARCH)
	return folder
}
