package chart_test

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// Invalid values are refused, and the message names the value.
func TestWrongValuesAreRefused(t *testing.T) { wantRefused(t, pairs(t, "refused.txt")) }

// pairs reads a file of testdata whose lines are pairs, but for comments.
func pairs(t *testing.T, file string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(checkout.Read(t, "test/chart/testdata/"+file)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, text, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("%s: %q is not a pair", file, line)
		}
		found[name] = text
	}
	return found
}

// TestHardToBreak_Row05_NoWayInWithoutTrustedProxies: without them all clients count as one, in the audit and
// for the limit on wrong logins; with all addresses each client chooses its own.
func TestHardToBreak_Row05_NoWayInWithoutTrustedProxies(t *testing.T) {
	wantRefused(t, map[string]string{
		"ingress.enabled=true,host=a.example": "ingress: set trustedProxies, the networks of the pods " +
			"that connect to Belfry",
		"httpRoute.enabled=true,host=a.example,httpRoute.parentRefs[0].name=a": "httpRoute: set trustedProxies",
		"trustedProxies[0]=0.0.0.0/0":                                          "/trustedProxies/0",
		"trustedProxies[0]=::/0":                                               "/trustedProxies/0",
		"trustedProxies[0]=10.0.0.0/00":                                        "/trustedProxies/0",
	})
}

// wantRefused fails the test unless each of the settings is refused with its message.
func wantRefused(t *testing.T, messages map[string]string) {
	t.Helper()
	for set, want := range messages {
		for _, version := range []string{"helm 3", "helm 4"} {
			_, errs, err := helm(version, templating("--set", set)...)
			if err == nil || !strings.Contains(errs, want) {
				t.Errorf("%s, --set %s: want %q, got %v\n%s", version, set, want, err, errs)
			}
		}
	}
}
