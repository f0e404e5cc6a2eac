package endtoend_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// call is a row of the table: one public route, in one case.
type call struct {
	route   string // as the OpenAPI document has it, such as "GET /api/events/{id}"
	counted string // the case; "" where there is only one
	// request makes the n-th request, and what has to be there for it.
	request func(n int) request
	// first: only the first request after a start of all services is counted.
	first bool
	// once: what a request begins goes on, and does a part of the next one's work. So there is one, after all others.
	once bool
	code int // that answers; 0: any success
}

type request struct {
	as      *servicetest.Client
	path    string
	body    any
	headers []string
}

// row returns the beginning of the call's row in the table, which no other row has.
func (c call) row() string { return "| " + c.route + " | " + c.counted + " |" }

const (
	// warmups go before the requests that are counted. Of those, the one that asks for least counts: no other writer
	// came between, and no block of ids ended there.
	warmups, counts = 1, 3

	// tableBegins is the head of the table, the last part of docs/budget.md.
	tableBegins = "| route | counted | MongoDB | Redis | neighbours | MongoDB there | Redis there |\n" +
		"|---|---|---|---|---|---|---|\n"

	clientSpan = "b7ad6b7169203331" // of every counted request
)

// The services say by their spans what they ask: the spans of MongoDB come from the driver's command monitor, those of
// Redis from the client's hook, and those of calls from the transport to the neighbours. So the binaries are counted
// as they run in production, a request's own calls apart from background work, and the neighbours' for it too.
//
// UPDATE=1 writes the table.
func TestBudget_EveryPublicRouteAsksStoresAndNeighboursAsOftenAsTheTableSays(t *testing.T) {
	received := &collect{}
	endpoint := httptest.NewServer(received)
	defer endpoint.Close()
	s := servicetest.Start(t, servicetest.Options{Env: map[string]string{
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": endpoint.URL + "/v1/traces",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
		"OTEL_TRACES_SAMPLER":                "parentbased_always_off", // requests that bring no trace are not counted
		"OTEL_BSP_MAX_QUEUE_SIZE":            "100000",                 // no span is dropped
		"OTEL_BSP_SCHEDULE_DELAY":            "100",
		"BELFRY_WEBHOOK_NETWORKS":            "127.0.0.0/8",
		"BELFRY_SECURITY_CONTACTS":           "mailto:security@school.example",
		"BELFRY_SECURITY_EXPIRES":            "2027-06-30T00:00:00Z",
		"BELFRY_TRUSTED_PROXIES":             "127.0.0.0/8", // only this test chooses a request's trace
	}})
	calls := newBudgeted(t, s).calls()
	traces := map[string][]string{} // of each call
	for _, c := range calls {
		if !c.first && !c.once {
			for n := range warmups + counts {
				trace := send(t, c, n)
				if n >= warmups {
					traces[c.row()] = append(traces[c.row()], trace)
				}
			}
		}
	}
	for _, c := range calls {
		if c.once {
			traces[c.row()] = []string{send(t, c, 0)}
		}
	}
	for _, c := range calls {
		if c.first {
			stopAll(t, s)
			for _, service := range names.WithData() {
				s.Restart(t, service)
			}
			traces[c.row()] = []string{send(t, c, 0)}
		}
	}
	stopAll(t, s) // they send the last spans
	var table strings.Builder
	for _, c := range calls {
		least := asked{}
		for i, trace := range traces[c.row()] {
			a := count(t, c, received.trace(trace))
			if i == 0 || a.all() < least.all() {
				least = a
			}
		}
		table.WriteString(c.row() + least.String() + "\n")
	}
	checkRoutes(t, calls)
	checkTable(t, table.String())
}

func stopAll(t *testing.T, s *servicetest.System) {
	t.Helper()
	for _, service := range slices.Backward(names.WithData()) {
		s.Stop(t, service)
	}
}

// send sends the n-th request of a call, which has to succeed unless the call says otherwise, and returns its trace.
func send(t *testing.T, c call, n int) (trace string) {
	t.Helper()
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails, says its documentation
	trace = hex.EncodeToString(id)
	r := c.request(n)
	method, _, _ := strings.Cut(c.route, " ")
	headers := append([]string{"traceparent", "00-" + trace + "-" + clientSpan + "-01"}, r.headers...)
	if a := r.as.Do(t, method, r.path, r.body, headers...); a.Code != c.code && a.Code >= http.StatusMultipleChoices {
		t.Fatalf("%s: %d %s", a.Request, a.Code, a.Body)
	}
	return trace
}

// asked is what one request asked for.
type asked struct {
	mongo, redis           int            // commands by the service that got it
	calls                  map[string]int // of neighbours, by any service
	mongoThere, redisThere int            // by those
}

// all is the sum of everything.
func (a asked) all() int {
	sum := a.mongo + a.redis + a.mongoThere + a.redisThere
	for _, n := range a.calls {
		sum += n
	}
	return sum
}

// String is the rest of the row.
func (a asked) String() string {
	calls := "–"
	if len(a.calls) > 0 {
		var all []string
		for _, service := range slices.Sorted(maps.Keys(a.calls)) {
			all = append(all, fmt.Sprintf("%s %d", service, a.calls[service]))
		}
		calls = strings.Join(all, ", ")
	}
	return fmt.Sprintf(" %d | %d | %s | %d | %d |", a.mongo, a.redis, calls, a.mongoThere, a.redisThere)
}

const (
	mongoScope     = "github.com/belfry-schools/belfry/pkg/mongostore"
	redisScope     = "github.com/redis/go-redis/extra/redisotel"
	neighbourScope = "github.com/belfry-schools/belfry/pkg/neighbour"
)

// count counts what the spans of one request's trace say.
func count(t *testing.T, c call, spans []span) asked {
	t.Helper()
	servers := map[string]string{} // the service that answered a call, by the call's span
	for _, s := range spans {
		if s.kind == tracepb.Span_SPAN_KIND_SERVER {
			servers[s.parent] = s.service
		}
	}
	own, found := servers[clientSpan]
	if !found {
		t.Fatalf("%s has no span of the request in %+v", c.row(), spans)
	}
	a := asked{calls: map[string]int{}}
	for _, s := range spans {
		if s.kind != tracepb.Span_SPAN_KIND_CLIENT || s.name == "redis.dial" {
			continue
		}
		here := s.service == own
		switch s.scope {
		case neighbourScope:
			a.calls[servers[s.id]]++
		case mongoScope:
			add(here, &a.mongo, &a.mongoThere)
		case redisScope:
			add(here, &a.redis, &a.redisThere)
		default:
			t.Errorf("%s: unknown span %+v", c.row(), s)
		}
	}
	return a
}

func add(here bool, own, there *int) {
	if here {
		*own++
	} else {
		*there++
	}
}

// checkRoutes fails the test unless every operation of the OpenAPI document is counted, and nothing else. That the
// document has exactly the routes that are served, a test of each service says.
func checkRoutes(t *testing.T, calls []call) {
	t.Helper()
	served := map[string]bool{} // whether it is counted
	for operation := range apidoctest.Operations(t) {
		served[operation] = false
	}
	rows := map[string]bool{}
	for _, c := range calls {
		if _, found := served[c.route]; !found {
			t.Errorf("%s is counted, but not served", c.route)
		}
		if rows[c.row()] {
			t.Errorf("two rows begin with %s", c.row())
		}
		served[c.route], rows[c.row()] = true, true
	}
	for route, counted := range served {
		if !counted {
			t.Errorf("%s is served, but not counted: it needs a call in budget_calls_test.go", route)
		}
	}
}

// checkTable fails the test unless the table of docs/budget.md has exactly these rows.
func checkTable(t *testing.T, counted string) {
	t.Helper()
	root := checkout.Folder(t)
	file := filepath.Join(root, "docs", "budget.md")
	text, err := os.ReadFile(file)
	errortest.None(t, err)
	top, table, found := strings.Cut(string(text), tableBegins)
	if !found {
		t.Fatalf("%s has no table of round trips", file)
	}
	if os.Getenv("UPDATE") != "" && !t.Failed() {
		errortest.None(t, os.WriteFile(file, []byte(top+tableBegins+counted), 0o644))
		return
	}
	said, is := rowsOf(table), rowsOf(counted)
	for begins, figures := range is {
		if said[begins] == "" {
			t.Errorf("docs/budget.md has no row for\n  %s%s", begins, figures)
		} else if said[begins] != figures {
			t.Errorf("%s\n  the table says %s\n  counted        %s", begins, said[begins], figures)
		}
	}
	for begins := range said {
		if is[begins] == "" {
			t.Errorf("docs/budget.md has a row that nothing counts: %s", begins)
		}
	}
}

// rowsOf returns the figures of each row by its beginning.
func rowsOf(table string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.SplitN(strings.TrimSpace(line), "|", 4)
		if len(cells) == 4 {
			rows["|"+cells[1]+"|"+cells[2]+"|"] = cells[3]
		}
	}
	return rows
}
