package chart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// parent makes a chart that Belfry is a part of, under the name, with these values, and returns its folder.
func parent(t *testing.T, name, values string) string {
	t.Helper()
	dir := t.TempDir()
	copied(t, filepath.Join(dir, "charts", "belfry"))
	chart := "apiVersion: v2\nname: school\nversion: 1.0.0\ndependencies:\n" +
		"  - {name: belfry, version: '>=0.0.0', alias: " + name + ", condition: " + name + ".enabled}\n"
	for file, text := range map[string]string{"Chart.yaml": chart, "values.yaml": values} {
		errortest.None(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	return dir
}

// A chart that Belfry is a part of turns it on and off, gives it the registry of all its parts, and keeps YAML anchors
// among its values.
func TestBelfryAsAPartOfAnotherChart(t *testing.T) {
	values := `
global: {imageRegistry: mirror.example/all, imagePullSecrets: [mirror], somethingElse: {of: another part}}
timetable:
  enabled: %v
  anchors: {small: &small {limits: {memory: 128Mi}}}
  x-proxies: &proxies [10.42.0.0/16]
  trustedProxies: *proxies
  services:
    notes: {resources: *small}
`
	for _, version := range []string{"helm 3", "helm 4"} {
		on := parent(t, "timetable", fmt.Sprintf(values, true))
		out := do(t, version, "template", "north", on, "--kube-version", kubernetes)
		objects := parse(t, out)
		pod, _ := only(objects, "Deployment")["north-timetable-notes"].at("spec", "template", "spec").(map[string]any)
		for path, want := range map[string][]any{
			"mirror.example/all/belfry-notes:" + release.Version(): {"containers", 0, "image"},
			"map[name:mirror]": {"imagePullSecrets", 0},
			"128Mi":            {"containers", 0, "resources", "limits", "memory"},
		} {
			valuetest.Same(t, fmt.Sprint(walk(pod, want...)), path, "%s: %v", version, want)
		}
		proxies := only(objects, "ConfigMap")["north-timetable"].at("data", "BELFRY_TRUSTED_PROXIES")
		valuetest.Same(t, fmt.Sprint(proxies), "10.42.0.0/16", "%s: the trusted proxies", version)

		off := parent(t, "timetable", fmt.Sprintf(values, false))
		out, errs, err := helm(version, "template", "north", off, "--kube-version", kubernetes)
		if err != nil || strings.Contains(out, "kind:") {
			t.Errorf("%s: what is not enabled is %v\n%s%s", version, err, out, errs)
		}
	}
}
