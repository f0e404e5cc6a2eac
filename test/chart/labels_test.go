package chart_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// Another release of the chart with the same images leaves the pods of all services alone: their templates and what
// selects them are the same. Its objects say which release made them.
func TestAReleaseOfTheChartRestartsNothing(t *testing.T) {
	dir := copied(t, filepath.Join(t.TempDir(), "belfry"))
	file := filepath.Join(dir, "Chart.yaml")
	text, err := os.ReadFile(file)
	errortest.None(t, err)
	newer := strings.NewReplacer("\nversion: ", "\nversion: 9", "\nappVersion: ", "\nappVersion: 9")
	errortest.None(t, os.WriteFile(file, []byte(newer.Replace(string(text))), 0o600))
	deployments := func(chart string) map[string]object {
		t.Helper()
		out := do(t, "helm 3", append([]string{"template", "belfry", chart, "--kube-version", kubernetes},
			append(everything(), "--set", "image.tag=1.2.3")...)...)
		return only(parse(t, out), "Deployment")
	}
	before, after := deployments("charts/belfry"), deployments(dir)
	if len(before) != len(services) || len(after) != len(services) {
		t.Fatalf("%d and %d deployments", len(before), len(after))
	}
	for name := range before {
		if diff := cmp.Diff(before[name]["spec"], after[name]["spec"]); diff != "" {
			t.Errorf("%s would be rolled out again:\n%s", name, diff)
		}
		if maps.Equal(labels(before[name]), labels(after[name])) {
			t.Errorf("%s does not say which release of the chart made it", name)
		}
	}
}

// commonLabels are on every object and pod; labels of pods and of monitors override them.
func TestCommonLabels(t *testing.T) {
	objects := render(t, append(everything(), "--set",
		"commonLabels.team=north,services.notes.podLabels.team=south,services.notes.podLabels.sidecar=yes")...)
	for _, o := range objects {
		want := "north"
		if o.kind() == "ServiceMonitor" || o.kind() == "PrometheusRule" {
			want = "a" // everything sets it
		}
		if got := labels(o)["team"]; got != want {
			t.Errorf("%s %s has the team %v", o.kind(), o.name(), got)
		}
	}
	team := func(kind, name string) string {
		return fmt.Sprint(only(objects, kind)[name].at("spec", "template", "metadata", "labels", "team"))
	}
	if team("Deployment", "belfry-events") != "north" || team("Job", "belfry-migrate") != "north" ||
		team("Deployment", "belfry-notes") != "south" {
		t.Error("pods have other labels than they were given")
	}
}

// labels returns the labels of an object.
func labels(o object) map[string]any {
	found, _ := o.at("metadata", "labels").(map[string]any)
	return found
}
