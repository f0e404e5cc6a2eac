package endtoend_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// collect receives OTLP as a collector does and keeps the spans of each service.
type collect struct {
	mu    sync.Mutex
	spans []span
	texts strings.Builder // everything received, for the search for secrets
}

type span struct {
	service, name, trace, parent, id string
	scope                            string // the instrumentation that made it
	kind                             tracepb.Span_SpanKind
}

func (c *collect) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var request collector.ExportTraceServiceRequest
	if r.URL.Path == "/v1/traces" {
		if err := proto.Unmarshal(body, &request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts.Write(body) // logs and metrics, too: protobuf does not encode strings
	c.texts.WriteString(prototext.Format(&request))
	for _, resource := range request.ResourceSpans {
		service := ""
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.name" {
				service = a.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, newSpan(service, scope.Scope.GetName(), s))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func newSpan(service, scope string, s *tracepb.Span) span {
	return span{service, s.Name, hex.EncodeToString(s.TraceId), hex.EncodeToString(s.ParentSpanId),
		hex.EncodeToString(s.SpanId), scope, s.Kind}
}

// trace returns the spans of one trace.
func (c *collect) trace(id string) []span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.spans), func(s span) bool { return s.trace != id })
}

func TestOneRequestThatCrossesServicesIsOneTraceWithoutSecrets(t *testing.T) {
	received := &collect{}
	endpoint := httptest.NewServer(received)
	defer endpoint.Close()
	s := servicetest.Start(t, servicetest.Options{Console: true, Env: map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
		"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_BLRP_SCHEDULE_DELAY": "50", "OTEL_METRIC_EXPORT_INTERVAL": "200",
		"BELFRY_TRUSTED_PROXIES": "127.0.0.0/8", // only this test chooses the trace
	}})
	admin := s.Admin(t)
	const secretUUID = "11111111-2222-4333-8444-555555555555"
	admin.Import(t, "users", map[string]any{"key": "1", "name": "Office", "email": "office@example.org",
		"uuid": secretUUID, "can_api": true, "can_su": true, "can_add_events": true, "can_add_notes": true})
	category := admin.Import(t, "eventcategories", map[string]any{"key": "1", "name": "Lesson"})["1"]
	elements := admin.Import(t, "staff",
		map[string]any{"key": "1", "initials": "AB", "forename": "Ann", "surname": "Bell"})
	office := s.Login(t, secretUUID)

	const trace = "0af7651916cd43dd8448eb211c80319c"
	event := office.Do(t, "POST", "/api/events", map[string]any{
		"event": map[string]any{"body": "Trip", "eventcategory_id": category,
			"starts_at_text": "2026-11-25 09:00", "ends_at_text": "2026-11-25 10:00"},
		"elements": []string{fmt.Sprint(elements["1"])},
	}).Int(t, "event.id")
	listing := office.Do(t, "GET", fmt.Sprintf("/api/elements/%d/commitments?start_date=2026-11-25", elements["1"]),
		nil, "traceparent", "00-"+trace+"-b7ad6b7169203331-01")
	if listing.Code != 200 || !strings.Contains(listing.Body, "Trip") {
		t.Fatalf("got %d %s", listing.Code, listing.Body)
	}
	office.Post(t, fmt.Sprintf("/api/events/%d/notes", event),
		map[string]any{"note": map[string]any{"contents": "hello"}})
	s.Client(t).Get(t, "/api/login?uuid=66666666-wrong-secret")
	cookie := office.Cookie(t)

	timetest.Eventually(t, "the trace has all spans", 10*time.Second, func() bool {
		missing := missingFrom(wanted(), received.trace(trace))
		if len(missing) > 0 {
			t.Logf("the trace lacks %q", missing)
		}
		return len(missing) == 0
	})
	spans := received.trace(trace)
	ids := map[string]bool{"b7ad6b7169203331": true}
	for _, s := range spans {
		ids[s.id] = true
	}
	for _, s := range spans {
		valuetest.Holds(t, ids[s.parent], "span %q of %s has no parent in the trace", s.name, s.service)
	}

	for _, service := range names.All() {
		s.Stop(t, service) // it sends its remaining telemetry
	}
	received.mu.Lock()
	defer received.mu.Unlock()
	logs := s.Logs()
	for what, secret := range map[string]string{
		"the administrator's uuid": s.AdminUUID, "the user's uuid": secretUUID, "a wrong uuid": "66666666-wrong-secret",
		"a session's cookie":  cookie,
		"the services' token": s.Token, "an e-mail address": "office@example.org",
	} {
		valuetest.Lacks(t, received.texts.String(), secret, "%s is in the telemetry", what)
		valuetest.Lacks(t, logs, secret, "%s is in the logs", what)
	}
}

// wanted returns the spans, by service, of a listing of commitments.
func wanted() []string {
	return []string{
		"elements GET /api/elements/:id/commitments", // the request
		"elements POST /internal/commitments",        // the call, from its sender
		"events POST /internal/commitments",          // the call, at its receiver
		"elements find",                              // MongoDB, here
		"events find",                                // and there
		"elements evalsha",                           // the session in Redis
	}
}

func missingFrom(wants []string, spans []span) []string {
	return slices.DeleteFunc(slices.Clone(wants), func(want string) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return strings.HasPrefix(s.service+" "+s.name, want) })
	})
}
