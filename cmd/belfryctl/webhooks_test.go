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
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The commands with the real services and a real endpoint.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	system := servicetest.Start(t,
		servicetest.Options{NoRace: true, Env: map[string]string{"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8"}})
	endpoint := receivers.NewEndpoint(t)
	o := office{system, map[string]string{"BELFRY_UUID": system.AdminUUID, "BELFRY_URL": system.URL}}
	webhooks := func(args ...string) string {
		t.Helper()
		return o.does(t, append([]string{"webhooks"}, args...)...)
	}
	fails := func(code int, text string, args ...string) {
		t.Helper()
		o.fails(t, code, text, append([]string{"webhooks"}, args...)...)
	}

	out := webhooks("add", endpoint.URL, "--kind", "commitment.decided,event.deleted")
	added := regexp.MustCompile(`(?s)^id +(\d+)\n.*secret +(whsec_\S{44})\n$`).FindStringSubmatch(out)
	valuetest.MustHold(t, added != nil, "add printed %q", out)
	id := added[1]
	want := fmt.Sprintf("id  active  %-*s  kinds                             school_id\n"+
		"%s   true    %s  commitment.decided event.deleted  -\n", len(endpoint.URL), "url", id, endpoint.URL)
	valuetest.Same(t, webhooks("list"), want, "list printed")
	out = webhooks("list", "-o=json")
	if strings.Contains(out, "secret") || !strings.Contains(out, `"active": true`) || !json.Valid([]byte(out)) {
		t.Errorf("list -o json printed %s", out)
	}

	valuetest.Has(t, webhooks("test", id), "webhook.test  -         delivered  1         -")
	endpoint.Answer(http.StatusTeapot)
	code, out, errs := belfryctl(t, o.env, "webhooks", "test", id)
	if code != exitFailure || !strings.Contains(out, "failed") ||
		!strings.Contains(errs, "the test was not delivered: answered 418") {
		t.Errorf("a failing test: %d\n%s%s", code, out, errs)
	}
	var log struct{ Deliveries []struct{ State string } }
	o.reads(t, &log, "webhooks", "deliveries", id)
	valuetest.Same(t, fmt.Sprint(log.Deliveries), "[{failed} {delivered}]", "deliveries")

	fails(exitFailure, "422", "add", "https://10.0.0.1/")
	fails(exitFailure, "url is at an address that is not allowed", "add", "https://10.0.0.1/")
	fails(exitFailure, `kinds "all" is not included in the list`, "add", endpoint.URL, "--kind", "all")
	for _, args := range [][]string{{"remove", "x"}, {"test", "0"}, {"deliveries", id, "--limit", "0"}, {"remove"},
		{"add"}, {"change", "x"}, {"new-secret"}} {
		fails(exitUsage, "", args...)
	}
	out = webhooks("change", id, "--active=false", "--kind", "event.deleted")
	for _, line := range []string{"active  false\n", endpoint.URL, "event.deleted\n"} {
		valuetest.Has(t, out, line)
	}
	fails(exitFailure, "url is at an address that is not allowed", "change", id, "--endpoint", "https://192.168.0.1/")
	out = webhooks("new-secret", id)
	if !regexp.MustCompile(`^whsec_\S{44}\n$`).MatchString(out) || strings.Contains(out, added[2]) {
		t.Errorf("new-secret printed %q", out)
	}
	out = webhooks("new-secret", id, "-o=json")
	valuetest.Has(t, out, `"secret": "whsec_`)
	valuetest.Has(t, out, `"webhook": `+id)
	valuetest.Same(t, webhooks("remove", id), "removed webhook "+id+"\n", "remove printed")
	fails(exitFailure, "Couldn't find Webhook with 'id'="+id, "remove", id)
	valuetest.Same(t, webhooks("list", "-o=json"), "{\n  \"webhooks\": []\n}\n", "an empty list")
}
