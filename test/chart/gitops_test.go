package chart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// example returns the object of that kind in a file of deploy/examples.
func example(t *testing.T, file, kind string) object {
	t.Helper()
	for _, o := range parse(t, checkout.Read(t, "deploy/examples/"+file)) {
		if o.kind() == kind {
			return o
		}
	}
	t.Fatalf("%s has no %s", file, kind)
	return nil
}

// inflated renders the chart with these values as Argo CD does: by helm template, without a cluster.
func inflated(t *testing.T, version string, values any, more ...string) string {
	t.Helper()
	text, err := yaml.Marshal(values)
	errortest.None(t, err)
	file := filepath.Join(t.TempDir(), "values.yaml")
	errortest.None(t, os.WriteFile(file, text, 0o600))
	return do(t, version, append([]string{"template", "charts/belfry", "--name-template", "belfry", "--namespace",
		"belfry", "--kube-version", kubernetes, "--values", file, "--include-crds"}, more...)...)
}

// Argo CD treats Helm's hooks as its own: those before an install or upgrade run before each sync, in the order of the
// weights. It knows only those kinds and delete policies, and it runs no tests.
func TestArgoCDRunsTheMigrationBeforeTheRest(t *testing.T) {
	values := example(t, "argocd.yaml", "Application").at("spec", "source", "helm", "valuesObject")
	deletes := regexp.MustCompile(`^((before-hook-creation|hook-succeeded|hook-failed)(,|$))+$`)
	for version := range programs {
		objects, weights := parse(t, inflated(t, version, values, "--skip-tests")), map[string]int{}
		for _, o := range objects {
			annotations, _ := o.at("metadata", "annotations").(map[string]any)
			hook, isHook := annotations["helm.sh/hook"]
			if !isHook {
				continue
			}
			if hook != "pre-install,pre-upgrade" {
				t.Errorf("%s %s is a hook %v", o.kind(), o.name(), hook)
			}
			if policy := fmt.Sprint(annotations["helm.sh/hook-delete-policy"]); !deletes.MatchString(policy) {
				t.Errorf("%s %s is deleted %s", o.kind(), o.name(), policy)
			}
			weight := 0
			if text, given := annotations["helm.sh/hook-weight"]; given {
				var err error
				weight, err = strconv.Atoi(fmt.Sprint(text))
				errortest.Report(t, err)
			}
			weights[o.kind()+" "+o.name()] = weight
		}
		policy, job := "NetworkPolicy belfry-migrate", "Job belfry-migrate"
		if len(weights) != 2 || weights[policy] >= weights[job] || len(only(objects, "Pod")) > 0 {
			t.Errorf("%s: the hooks are %v, %d pods", version, weights, len(only(objects, "Pod")))
		}
	}
}

// The migration runs before all other objects of the release, so it uses none of them: no account, and no ConfigMap.
func TestTheMigrationNeedsNothingOfTheRelease(t *testing.T) {
	objects := render(t, everything()...)
	pod := only(objects, "Job")["belfry-migrate"].at("spec", "template", "spec")
	if account := walk(pod, "serviceAccountName"); account != nil {
		t.Errorf("it has the account %v", account)
	}
	ours := only(objects, "ConfigMap")
	for _, volume := range list(walk(pod, "volumes")) {
		if name := fmt.Sprint(walk(volume, "configMap", "name")); ours[name] != nil {
			t.Errorf("it mounts %s", name)
		}
	}
}

// Argo CD and Flux compare what they render with what there is: the same values render the same objects each time, and
// a template asks neither the cluster nor whether it is an upgrade.
func TestTheSameValuesRenderTheSameObjects(t *testing.T) {
	values := example(t, "argocd.yaml", "Application").at("spec", "source", "helm", "valuesObject")
	valuetest.Same(t, inflated(t, "helm 3", values), inflated(t, "helm 3", values), "two renders differ")
	templates, err := filepath.Glob(filepath.Join(root, "charts", "belfry", "templates", "*.*"))
	valuetest.MustHold(t, err == nil && len(templates) >= 10, "%q, %v", templates, err)
	asks := regexp.MustCompile(`\b(lookup|IsUpgrade|IsInstall|Revision|now|rand\w+|uuidv4|gen\w+) `)
	for _, file := range templates {
		text, err := os.ReadFile(file)
		errortest.None(t, err)
		for _, action := range regexp.MustCompile(`(?s)\{\{.*?\}\}`).FindAllString(string(text), -1) {
			if !strings.HasPrefix(action, "{{/*") && !strings.HasPrefix(action, "{{- /*") && asks.MatchString(action) {
				t.Errorf("%s: %s", filepath.Base(file), action)
			}
		}
	}
}

// Flux waits longer than a migration may take, with the chart's own limit.
func TestFluxWaitsForTheMigration(t *testing.T) {
	release := example(t, "flux.yaml", "HelmRelease")
	objects := parse(t, inflated(t, "helm 4", release.at("spec", "values")))
	deadline, err := time.ParseDuration(fmt.Sprintf("%vs", only(objects, "Job")["belfry-migrate"].at("spec",
		"activeDeadlineSeconds")))
	errortest.None(t, err)
	timeout, err := time.ParseDuration(fmt.Sprint(release.at("spec", "timeout")))
	if err != nil || timeout <= deadline {
		t.Errorf("Flux waits for %v, a migration may take %v: %v", timeout, deadline, err)
	}
	if len(only(objects, "Pod")) != 1 || release.at("spec", "test", "enable") != true {
		t.Error("Flux runs no test")
	}
}
