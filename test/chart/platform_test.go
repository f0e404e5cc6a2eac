package chart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// platform renders the example of a platform team, which sets what operators of clusters ask for.
func platform(t *testing.T, args ...string) []object {
	t.Helper()
	return render(t, append([]string{"--values", "charts/belfry/examples/platform.yaml"}, args...)...)
}

// A stream of changes has no end, and the page of an import comes as long as the import takes: the HTTPRoute gives them
// no timeout.
func TestStreamsHaveNoTimeout(t *testing.T) {
	streams := 0
	for _, rule := range list(only(platform(t), "HTTPRoute")["belfry"].at("spec", "rules")) {
		want := "map[backendRequest:12s request:15s]"
		path := fmt.Sprint(walk(rule, "matches", 0, "path", "value"))
		if strings.HasPrefix(path, "/api/changes/stream") || path == "/look-after/import" {
			want = "map[backendRequest:0s request:0s]"
			streams++
		}
		valuetest.Same(t, fmt.Sprint(walk(rule, "timeouts")), want, "a rule of the HTTPRoute has the timeouts")
	}
	valuetest.Same(t, streams, 3, "the HTTPRoute has %d rules for streams, want 3", streams)
}

// Further rules apply to the services, and those for egress to the migration and the import by OneRoster too. The
// policy that refuses everything and that of helm test get none.
func TestFurtherRulesOfPolicies(t *testing.T) {
	for name, policy := range only(platform(t), "NetworkPolicy") {
		service := slices.Contains(services, strings.TrimPrefix(name, "belfry-"))
		for direction, want := range map[string]bool{"ingress": service,
			"egress": service || name == "belfry-migrate" || name == "belfry-oneroster"} {
			valuetest.Same(t, strings.Contains(fmt.Sprint(policy.at("spec", direction)), "metadata.name:mesh"), want,
				"%s: a further rule for %s", name, direction)
		}
	}
}
