package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// The commands with the real services and a real endpoint.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	system := servicetest.Start(t,
		servicetest.Options{NoRace: true, Env: map[string]string{"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8"}})
	endpoint := receivers.NewEndpoint(t)
	webhooks := func(want int, args ...string) (out, errs string) {
		t.Helper()
		got, out, errs := belfryctl(t, map[string]string{"BELFRY_UUID": system.AdminUUID, "BELFRY_URL": system.URL},
			append([]string{"webhooks"}, args...)...)
		if got != want {
			t.Fatalf("%q: exit code %d, want %d\n%s%s", args, got, want, out, errs)
		}
		return out, errs
	}

	out, _ := webhooks(exitOK, "add", endpoint.URL, "--kind", "commitment.decided,event.deleted")
	added := regexp.MustCompile(`(?s)^id +(\d+)\n.*secret +(whsec_\S{44})\n$`).FindStringSubmatch(out)
	if added == nil {
		t.Fatalf("add printed %q", out)
	}
	id := added[1]
	want := fmt.Sprintf("id  active  %-*s  kinds                             school_id\n"+
		"%s   true    %s  commitment.decided event.deleted  -\n", len(endpoint.URL), "url", id, endpoint.URL)
	if out, _ := webhooks(exitOK, "list"); out != want {
		t.Errorf("list printed\n%s\nwant\n%s", out, want)
	}
	out, _ = webhooks(exitOK, "list", "-o=json")
	if strings.Contains(out, "secret") || !strings.Contains(out, `"active": true`) || !json.Valid([]byte(out)) {
		t.Errorf("list -o json printed %s", out)
	}

	out, _ = webhooks(exitOK, "test", id)
	if !strings.Contains(out, "webhook.test  -         delivered  1         -") {
		t.Errorf("test printed\n%s", out)
	}
	endpoint.Answer(http.StatusTeapot)
	out, errs := webhooks(exitFailure, "test", id)
	if !strings.Contains(out, "failed") || !strings.Contains(errs, "the test was not delivered: answered 418") {
		t.Errorf("a failing test printed\n%s%s", out, errs)
	}
	var log struct{ Deliveries []struct{ State string } }
	out, _ = webhooks(exitOK, "deliveries", id, "-o=json")
	if err := json.Unmarshal([]byte(out), &log); err != nil || fmt.Sprint(log.Deliveries) != "[{failed} {delivered}]" {
		t.Errorf("deliveries printed %s", out)
	}

	_, errs = webhooks(exitFailure, "add", "https://10.0.0.1/")
	if !strings.Contains(errs, "422") || !strings.Contains(errs, "url is at an address that is not allowed") {
		t.Errorf("add of a private address: %s", errs)
	}
	_, errs = webhooks(exitFailure, "add", endpoint.URL, "--kind", "all")
	if !strings.Contains(errs, `kinds "all" is not included in the list`) {
		t.Errorf("add of an unknown kind: %s", errs)
	}
	for _, args := range [][]string{{"remove", "x"}, {"test", "0"}, {"deliveries", id, "--limit", "0"}, {"remove"},
		{"add"}, {"change", "x"}, {"new-secret"}} {
		webhooks(exitUsage, args...)
	}
	out, _ = webhooks(exitOK, "change", id, "--active=false", "--kind", "event.deleted")
	if !strings.Contains(out, "active  false\n") || !strings.Contains(out, endpoint.URL) ||
		!strings.Contains(out, "event.deleted\n") {
		t.Errorf("change printed\n%s", out)
	}
	_, errs = webhooks(exitFailure, "change", id, "--endpoint", "https://192.168.0.1/")
	if !strings.Contains(errs, "url is at an address that is not allowed") {
		t.Errorf("change to a private address: %s", errs)
	}
	out, _ = webhooks(exitOK, "new-secret", id)
	if !regexp.MustCompile(`^whsec_\S{44}\n$`).MatchString(out) || strings.Contains(out, added[2]) {
		t.Errorf("new-secret printed %q", out)
	}
	out, _ = webhooks(exitOK, "new-secret", id, "-o=json")
	if !strings.Contains(out, `"secret": "whsec_`) || !strings.Contains(out, `"webhook": `+id) {
		t.Errorf("new-secret -o json printed %s", out)
	}
	if out, _ := webhooks(exitOK, "remove", id); out != "removed webhook "+id+"\n" {
		t.Errorf("remove printed %q", out)
	}
	if _, errs := webhooks(exitFailure, "remove", id); !strings.Contains(errs, "Couldn't find Webhook with 'id'="+id) {
		t.Errorf("remove again: %s", errs)
	}
	if out, _ := webhooks(exitOK, "list", "-o=json"); out != "{\n  \"webhooks\": []\n}\n" {
		t.Errorf("an empty list is %q", out)
	}
}
