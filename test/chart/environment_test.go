package chart_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// others are variables that no service declares: Go, its libraries, or other variables of the container use them, or
// their names end with that of a login provider.
var others = regexp.MustCompile(`^(OTEL_[A-Z_]+|GOMEMLIMIT|SSL_CERT_FILE|POD_NAME|BELFRY_OIDC_SECRET_[A-Z0-9]+)$`)

// environment returns a container's variables with their values; a name that occurs twice is an error.
func environment(t *testing.T, container any, configMap object) map[string]string {
	t.Helper()
	all := map[string]string{}
	if walk(container, "envFrom") != nil {
		for name, value := range configMap["data"].(map[string]any) {
			all[name] = fmt.Sprint(value)
		}
	}
	seen := map[string]bool{}
	for _, entry := range list(walk(container, "env")) {
		name := fmt.Sprint(walk(entry, "name"))
		valuetest.Holds(t, !seen[name], "%s comes twice", name)
		seen[name] = true
		all[name] = fmt.Sprint(walk(entry, "value"), walk(entry, "valueFrom"))
	}
	return all
}

func TestEveryVariableIsASettingOfItsService(t *testing.T) {
	for _, args := range variants(t) {
		objects := render(t, args...)
		config := only(objects, "ConfigMap")["belfry"]
		for _, service := range services {
			known := checkout.Settings(t, service)
			env := environment(t, container(objects, "Deployment", "belfry-"+service, 0), config)
			for name := range env {
				shared := service == names.Console && config.at("data", name) != nil // which is for all, data or not
				if !slices.Contains(known, name) && !shared && !others.MatchString(name) {
					t.Errorf("%q: %s is given %s, which it does not know", args, service, name)
				}
			}
			needs := []string{"BELFRY_INTERNAL_TOKEN", "MONGODB_URI", "REDIS_URL"}
			if service == names.Console {
				needs = needs[:1]
			}
			for _, needed := range needs {
				valuetest.Has(t, env[needed], "secretKeyRef", "%q: %s has %s from", args, service, needed)
			}
		}
	}
}

// Every setting can be set: those that the chart does not name are fixed, like the listeners' ports.
func TestEverySettingIsGivenOrFixed(t *testing.T) {
	objects := render(t, everything()...)
	config := only(objects, "ConfigMap")["belfry"]
	fixed := []string{"BELFRY_LISTEN", "BELFRY_INTERNAL_LISTEN", "BELFRY_HEALTH_LISTEN"}
	for _, service := range services {
		env := environment(t, container(objects, "Deployment", "belfry-"+service, 0), config)
		for _, name := range checkout.Settings(t, service) {
			if _, given := env[name]; given == slices.Contains(fixed, name) {
				t.Errorf("%s: given %v, fixed %v: %s", service, given, !given, name)
			}
		}
	}
}

// The migration runs before the ConfigMap exists, so the Job has its variables itself; they equal those of the
// services.
func TestTheMigrationHasTheServicesVariables(t *testing.T) {
	for _, args := range [][]string{{}, everything()} {
		objects := render(t, args...)
		containers := list(only(objects, "Job")["belfry-migrate"].at("spec", "template", "spec", "containers"))
		valuetest.MustSame(t, len(containers), len(withData), "containers")
		for i, service := range withData {
			if walk(containers[i], "envFrom") != nil {
				t.Errorf("%s is migrated with variables from elsewhere", service)
			}
			got := environment(t, containers[i], nil)
			want := environment(t, container(objects, "Deployment", "belfry-"+service, 0),
				only(objects, "ConfigMap")["belfry"])
			for name := range want {
				want[name], got[name] = strings.TrimSuffix(want[name], "<nil>"), strings.TrimSuffix(got[name], "<nil>")
			}
			if !maps.Equal(got, want) || fmt.Sprint(walk(containers[i], "args")) != "[migrate]" {
				t.Errorf("%s: got %v, want %v", service, got, want)
			}
		}
	}
}

// The kubelet expands $(NAME) only in a container's own list, not in a ConfigMap's values, and only names that come
// before it in the list.
func TestExtraVariablesMayNameOthers(t *testing.T) {
	for _, set := range []string{"extraEnv.A=$(B) on $(POD_NAME),extraEnv.B=x",
		"services.notes.extraEnv.A=$(B) on $(POD_NAME),services.notes.extraEnv.B=x",
		"extraEnv.A=$(B) on $(POD_NAME),secretEnv.B.name=x,secretEnv.B.key=y"} {
		objects := render(t, "--set", set)
		for kind, container := range map[string]any{
			"Deployment": container(objects, "Deployment", "belfry-notes", 0),
			"Job":        container(objects, "Job", "belfry-migrate", 3),
		} {
			var before []string
			for _, entry := range list(walk(container, "env")) {
				name, value := fmt.Sprint(walk(entry, "name")), fmt.Sprint(walk(entry, "value"))
				for _, named := range regexp.MustCompile(`\$\((\w+)\)`).FindAllStringSubmatch(value, -1) {
					if !slices.Contains(before, named[1]) {
						t.Errorf("%s, %s: %s stands before %s", set, kind, name, named[1])
					}
				}
				before = append(before, name)
			}
			if !slices.Contains(before, "A") || !slices.Contains(before, "POD_NAME") {
				t.Errorf("%s, %s: the variables are %q", set, kind, before)
			}
		}
	}
}
