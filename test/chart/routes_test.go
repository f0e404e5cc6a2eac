package chart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// frontDoors are the Ingress and the HTTPRoute, each as a table of prefixes and the Kubernetes Services behind them.
func frontDoors(t *testing.T) map[string]routes.Table {
	t.Helper()
	objects := render(t, everything()...)
	doors := map[string]routes.Table{"Ingress": {}, "HTTPRoute": {}}
	add := func(door string, prefix, service any) {
		table := doors[door]
		table.Routes = append(table.Routes, routes.Row{Prefix: fmt.Sprint(prefix), Service: fmt.Sprint(service)})
		doors[door] = table
	}
	for _, path := range list(only(objects, "Ingress")["belfry"].at("spec", "rules", 0, "http", "paths")) {
		kind, port := walk(path, "pathType"), walk(path, "backend", "service", "port", "name")
		if kind != "Prefix" || port != "public" {
			t.Errorf("the Ingress sends %v %v to the port %v", kind, walk(path, "path"), port)
		}
		add("Ingress", walk(path, "path"), walk(path, "backend", "service", "name"))
	}
	for _, rule := range list(only(objects, "HTTPRoute")["belfry"].at("spec", "rules")) {
		backend := walk(rule, "backendRefs", 0)
		if port := walk(backend, "port"); fmt.Sprint(port) != "8080" {
			t.Errorf("the HTTPRoute sends to the port %v of %v", port, walk(backend, "name"))
		}
		for _, match := range list(walk(rule, "matches")) {
			if kind := walk(match, "path", "type"); kind != "PathPrefix" {
				t.Errorf("the HTTPRoute matches a %v", kind)
			}
			add("HTTPRoute", walk(match, "path", "value"), walk(backend, "name"))
		}
	}
	return doors
}

// documented returns the public paths of a service from its API description, with ids filled in.
func documented(t *testing.T, service string) []string {
	t.Helper()
	var description struct{ Paths map[string]any }
	errortest.None(t, yaml.Unmarshal([]byte(checkout.Read(t, "pkg/apidoc/"+service+".yaml")), &description))
	var paths []string
	for path := range description.Paths {
		for strings.Contains(path, "{") {
			before, rest, _ := strings.Cut(path, "{")
			_, after, _ := strings.Cut(rest, "}")
			path = before + "17" + after
		}
		paths = append(paths, path)
	}
	valuetest.MustHold(t, len(paths) >= 3, "%s has the paths %q", service, paths)
	slices.Sort(paths)
	return paths
}

func TestBothFrontDoorsSendEachPublicPathToItsService(t *testing.T) {
	for door, table := range frontDoors(t) {
		for _, service := range withData {
			for _, path := range documented(t, service) {
				got, _ := table.Service(path)
				valuetest.Same(t, got, "belfry-"+service, "%s: %s goes to", door, path)
			}
		}
	}
}

// The row of / is the console's, and identity's where there is none. Only the public port is reachable: frontDoors
// checks it.
func TestBothFrontDoorsAreTheRouteTable(t *testing.T) {
	table, err := checkout.Routes()
	errortest.None(t, err)
	want := sequence.Map(table.Routes, func(r routes.Row) string { return r.Prefix + " belfry-" + r.Service })
	slices.Sort(want)
	for door, table := range frontDoors(t) {
		got := sequence.Map(table.Routes, func(r routes.Row) string { return r.Prefix + " " + r.Service })
		slices.Sort(got)
		valuetest.List(t, got, want, "%s has", door)
		for _, inside := range []string{"/internal/users", "/internal/elements/facts", "/metrics", "/livez", "/readyz",
			"/startupz"} {
			service, _ := table.Service(inside)
			valuetest.Same(t, service, "belfry-"+names.Console, "%s sends %s to", door, inside)
		}
	}
	if rules := list(only(render(t, everything()...), "HTTPRoute")["belfry"].at("spec", "rules")); len(rules) > 16 {
		t.Errorf("the HTTPRoute has %d rules; the Gateway API takes 16", len(rules))
	}
}

// helm test reaches every service by the same table.
func TestHelmTestChecksByTheRouteTable(t *testing.T) {
	table, err := checkout.Routes()
	errortest.None(t, err)
	want := []any{"check"}
	for _, r := range table.Routes {
		if r.Service == names.Console {
			continue // it is no part of the interface
		}
		want = append(want, fmt.Sprintf("--route=%s=http://belfry-%s:8080", r.Prefix, r.Service))
	}
	got := list(only(render(t), "Pod")["belfry-test"].at("spec", "containers", 0, "args"))
	valuetest.List(t, got, want)
}
