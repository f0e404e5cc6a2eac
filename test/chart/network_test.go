package chart_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// asked returns the neighbours that a service calls: the clients of service.Runtime that its api package uses.
func asked(t *testing.T, service string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "services", service, "internal", "api", "*.go"))
	valuetest.MustHold(t, err == nil && len(files) != 0, "%s: %q %v", service, files, err)
	var found []string
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		errortest.None(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			runtime, ok := selector.X.(*ast.Ident)
			name := strings.ToLower(selector.Sel.Name)
			if ok && runtime.Name == "r" && slices.Contains(services, name) && ast.IsExported(selector.Sel.Name) &&
				!slices.Contains(found, name) {
				found = append(found, name)
			}
			return true
		})
	}
	slices.Sort(found)
	return found
}

// opening is an allowance of a policy: from or to which pods, at which ports. Any means all peers.
func openings(policy object, direction, peers string) []string {
	var all []string
	for _, rule := range list(policy.at("spec", direction)) {
		var who, ports []string
		for _, peer := range list(walk(rule, peers)) {
			component := walk(peer, "podSelector", "matchLabels", "app.kubernetes.io/component")
			if component == nil {
				component = peer
			}
			who = append(who, fmt.Sprint(component))
		}
		for _, port := range list(walk(rule, "ports")) {
			ports = append(ports, fmt.Sprint(walk(port, "protocol"), walk(port, "port")))
		}
		if who == nil {
			who = []string{"any"}
		}
		all = append(all, strings.Join(who, ",")+" "+strings.Join(ports, ","))
	}
	return all
}

func TestPoliciesOpenWhatIsAskedAndNothingElse(t *testing.T) {
	policies := only(render(t, "--set",
		"telemetry.endpoint=http://c:4318,mail.host=m,mail.from=a@b.example,webhooks.networks[0]=10.80.0.0/16"),
		"NetworkPolicy")
	got := policies["belfry"].at("spec", "podSelector", "matchLabels")
	if fmt.Sprint(got) != "map[app.kubernetes.io/instance:belfry app.kubernetes.io/name:belfry]" ||
		policies["belfry"].at("spec", "egress") != nil || policies["belfry"].at("spec", "ingress") != nil {
		t.Errorf("not all is refused to all pods: %v", policies["belfry"]["spec"])
	}
	stores := []string{"any UDP53,TCP53", "any TCP27017", "any TCP6379", "any TCP4317,TCP4318"}
	for _, service := range services {
		var callers []string
		for _, other := range services {
			if slices.Contains(asked(t, other), service) {
				callers = append(callers, other)
			}
		}
		in := []string{"any TCP8080", strings.Join(callers, ",") + " TCP8081"}
		if service == names.Console { // which no one asks
			in = in[:1]
		}
		valuetest.List(t, openings(policies["belfry-"+service], "ingress", "from"), in, "%s lets in", service)
		out := append(slices.Clone(stores), strings.Join(asked(t, service), ",")+" TCP8081")
		if service == names.Console {
			out = []string{stores[0], stores[3], strings.Join(withData, ",") + " TCP8080"}
		}
		if service == "events" {
			out = append(out, "any TCP587", "any TCP443", "map[ipBlock:map[cidr:10.80.0.0/16]] ")
		}
		valuetest.List(t, openings(policies["belfry-"+service], "egress", "to"), out, "%s lets out", service)
	}
	valuetest.List(t, openings(policies["belfry-migrate"], "egress", "to"), stores, "the migration lets out")
	out := []string{"any UDP53,TCP53", strings.Join(withData, ",") + " TCP8080"}
	valuetest.List(t, openings(policies["belfry-test"], "egress", "to"), out, "helm test lets out")
	valuetest.Same(t, len(policies), 1+len(services)+2, "policies")
}

// When the values name the callers and the stores, no other peer may connect, in or out.
func TestPoliciesKeepToTheNamedPeers(t *testing.T) {
	policies := only(render(t, "--values", "charts/belfry/examples/district.yaml"), "NetworkPolicy")
	for name, policy := range policies {
		for _, opening := range append(openings(policy, "ingress", "from"), openings(policy, "egress", "to")...) {
			if strings.HasPrefix(opening, "any ") &&
				(name != "belfry-events" || (opening != "any TCP443" && opening != "any TCP25")) {
				t.Errorf("%s: %s", name, opening)
			}
		}
	}
	in := openings(policies["belfry-notes"], "ingress", "from")
	for i, want := range []string{"gateway", "events", "observability"} {
		valuetest.Has(t, in[i], want, "opening %d of notes is", i)
	}
	valuetest.Has(t, in[0], ",test TCP8080", "helm test is shut out")
	valuetest.Same(t, len(only(render(t, "--set", "networkPolicy.enabled=false"), "NetworkPolicy")), 0,
		"policies although there are to be none")
}
