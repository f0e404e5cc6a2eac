package neighbour_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

const token = "the-token-that-services-show-each-other"

func transport(t *testing.T, shown string) *neighbour.Transport {
	t.Helper()
	wire, err := neighbour.NewTransport(neighbour.Options{
		Token: settings.NewSecret(shown), Tracer: tracenoop.NewTracerProvider(), Meter: metricnoop.NewMeterProvider(),
		Propagator: propagation.TraceContext{},
	})
	errortest.None(t, err)
	t.Cleanup(wire.Close)
	return wire
}

// facts answers the question for elements.
type facts func(context.Context, fact.ElementsQuestion) ([]fact.Element, error)

// owner serves the facts of elements as a service does, with web.Serve.
func owner(t *testing.T, answer facts) string {
	t.Helper()
	app, err := web.New(web.Options{
		Name: "elements internal", Log: slog.New(slog.DiscardHandler), Timeout: time.Minute,
		Token:  settings.NewSecret(token),
		Tracer: tracenoop.NewTracerProvider(), Meter: metricnoop.NewMeterProvider(),
		Propagator: propagation.TraceContext{},
	}, []web.Route{web.Serve(neighbour.ElementFacts, answer)})
	errortest.None(t, err)
	return "http://" + servicetest.Listen(t, app)
}

func TestFacts_AreAskedForInOneQuestion(t *testing.T) {
	base := owner(t, func(_ context.Context, q fact.ElementsQuestion) ([]fact.Element, error) {
		if len(q.IDs) != 2 || q.Keys[0] != "Staff:<1>" {
			return nil, problem.New(problem.Malformed, "%v", q)
		}
		return []fact.Element{{Element: form.Element{ID: 7, Name: "R1"}, Administrators: []int64{3}}}, nil
	})
	facts, err := neighbour.NewElements(transport(t, token), base).Facts(t.Context(),
		fact.ElementsQuestion{IDs: []int64{7, 8}, Keys: []string{"Staff:<1>"}})
	if err != nil || len(facts) != 1 || facts[0].ID != 7 || !facts[0].Controlled() {
		t.Errorf("got %+v, %v", facts, err)
	}
}

func TestNothingAskedCostsNoCall(t *testing.T) {
	nowhere := transport(t, token)
	_, err := neighbour.NewElements(nowhere, "http://127.0.0.1:1").Facts(t.Context(), fact.ElementsQuestion{})
	errortest.Report(t, err)
	_, err = neighbour.NewIdentity(nowhere, "http://127.0.0.1:1").Users(t.Context(), fact.UsersQuestion{})
	errortest.Report(t, err)
	_, err = neighbour.NewEvents(nowhere, "http://127.0.0.1:1").Summaries(t.Context(), fact.SummariesQuestion{})
	errortest.Report(t, err)
}

func TestANeighboursRefusalIsTheProblemThatItRaised(t *testing.T) {
	for _, c := range []struct {
		name   string
		raised error
		shown  string
		want   problem.Kind
		check  func(*problem.Error) bool
	}{
		{"a missing record", problem.Missing("Event", 7), token, problem.NotFound,
			func(p *problem.Error) bool { return p.Record == "Event" && p.ID == "7" }},
		{"an invalid one", problem.InvalidFields(problem.Fields{"contents": {"is too long"}}), token, problem.Invalid,
			func(p *problem.Error) bool { return p.Fields["contents"][0] == "is too long" }},
		{"its stores are away", problem.New(problem.Unavailable, ""), token, problem.Unavailable,
			func(p *problem.Error) bool { return p.Message == "elements is away" && p.RetryAfter == 0 }},
		{"it has no room", &problem.Error{Kind: problem.Unavailable, RetryAfter: 2 * time.Second}, token,
			problem.Unavailable, func(p *problem.Error) bool { return p.RetryAfter == 2*time.Second }},
		{"a fault over there is one here", errors.New("secret detail"), token, problem.Internal,
			func(p *problem.Error) bool { return p.Detail() == "" }},
		{"another token", nil, "another", problem.Internal, func(p *problem.Error) bool { return p.Detail() == "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := owner(t,
				func(context.Context, fact.ElementsQuestion) ([]fact.Element, error) { return nil, c.raised })
			_, err := neighbour.NewElements(transport(t, c.shown), base).Facts(t.Context(),
				fact.ElementsQuestion{IDs: []int64{1}})
			p := problem.As(err)
			if p == nil || p.Kind != c.want || (c.check != nil && !c.check(p)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// With a service mesh, it is the proxy that answers while no replica does, in its own words.
func TestANeighbourBehindAProxyThatFindsNoneIsUnavailable(t *testing.T) {
	for code, want := range map[int]problem.Kind{502: problem.Unavailable, 503: problem.Unavailable,
		504: problem.Unavailable, 500: problem.Internal, 404: problem.Internal} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "upstream connect error", code)
		}))
		t.Cleanup(proxy.Close)
		_, err := neighbour.NewElements(transport(t, token), proxy.URL).Facts(t.Context(),
			fact.ElementsQuestion{IDs: []int64{1}})
		if p := problem.As(err); p == nil || p.Kind != want {
			t.Errorf("%d: got %v", code, err)
		}
	}
}

func TestANeighbourThatIsAwayIsUnavailableWithinTheDeadline(t *testing.T) {
	slow := owner(t, func(context.Context, fact.ElementsQuestion) ([]fact.Element, error) {
		time.Sleep(5 * time.Second)
		return nil, nil
	})
	for name, base := range map[string]string{"nothing listens": "http://127.0.0.1:1", "it stalls": slow} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			begun := time.Now()
			_, err := neighbour.NewElements(transport(t, token), base).Facts(ctx,
				fact.ElementsQuestion{IDs: []int64{1}})
			if !problem.Is(err, problem.Unavailable) || time.Since(begun) > 2*time.Second {
				t.Errorf("got %v after %v", err, time.Since(begun))
			}
			valuetest.Lacks(t, problem.As(err).Detail(), "127.0.0.1", "the client would be told")
		})
	}
}

// A neighbour that restarts closes connections that the pool still holds: a question that writes nothing is sent
// again.
func TestAQuestionSurvivesAConnectionThatDiedInThePool(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	errortest.None(t, err)
	var asked atomic.Int32
	answer := func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 2 { // the connection has answered once: it dies now
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = connection.Close()
			}
			return
		}
		_, _ = w.Write([]byte("{}"))
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(answer)}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	elements := neighbour.NewElements(transport(t, token), "http://"+listener.Addr().String())
	for i := range 2 {
		errortest.None(t, errortest.Of(elements.Facts(t.Context(), fact.ElementsQuestion{IDs: []int64{1}})),
			"question %d", i+1)
	}
	valuetest.Same(t, asked.Load(), 3, "times asked")
}

// dying leaves the first requests without an answer, and answers the later ones. It returns its address and the
// number of requests.
func dying(t *testing.T, unanswered int32) (string, *atomic.Int32) {
	t.Helper()
	asked := new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) > unanswered {
			_, _ = w.Write([]byte("{}"))
			return
		}
		if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = connection.Close()
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// While a replica is replaced, some new connections still lead to the old one.
func TestAQuestionIsAskedAgainUntilAReplicaAnswersAndAChangeIsNot(t *testing.T) {
	for _, c := range []struct {
		unanswered, asked int32
		fails             bool
	}{{3, 4, false}, {10, 4, true}} {
		base, asked := dying(t, c.unanswered)
		_, err := neighbour.NewElements(transport(t, token), base).Facts(t.Context(),
			fact.ElementsQuestion{IDs: []int64{1}})
		if (err != nil) != c.fails || asked.Load() != c.asked || c.fails && !problem.Is(err, problem.Unavailable) {
			t.Errorf("%d unanswered: asked %d times, got %v", c.unanswered, asked.Load(), err)
		}
	}
	base, asked := dying(t, 1)
	_, err := neighbour.NewNotes(transport(t, token), base).Create(t.Context(), fact.NewNote{})
	if !problem.Is(err, problem.Unavailable) || asked.Load() != 1 {
		t.Errorf("a change was sent %d times and gave %v", asked.Load(), err)
	}
}

func TestADryRunOfAQuestionThatWritesIsOneAtItsOwner(t *testing.T) {
	var dry []bool
	app, err := web.New(web.Options{
		Name: "notes internal", Log: slog.New(slog.DiscardHandler), Timeout: time.Minute,
		Token:  settings.NewSecret(token),
		Tracer: tracenoop.NewTracerProvider(), Meter: metricnoop.NewMeterProvider(),
		Propagator: propagation.TraceContext{},
	}, []web.Route{web.Serve(neighbour.NewNote, func(ctx context.Context, _ fact.NewNote) (form.Note, error) {
		dry = append(dry, record.IsDryRun(ctx))
		return form.Note{}, nil
	})})
	errortest.None(t, err)
	notes := neighbour.NewNotes(transport(t, token), "http://"+servicetest.Listen(t, app))
	for _, ctx := range []context.Context{t.Context(), record.DryRun(t.Context())} {
		errortest.Report(t, errortest.Of(notes.Create(ctx, fact.NewNote{EventID: 1})))
	}
	valuetest.List(t, dry, []bool{false, true})
}
