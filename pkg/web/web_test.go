package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// sessions answers Load as the test says; the real store has its own tests in package session.
type sessions func() (session.Record, error)

func (s sessions) Load(context.Context, session.Token) (session.Record, error) { return s() }

// LoadBearer knows no token.
func (s sessions) LoadBearer(context.Context, session.Token, string) (session.Opened, error) {
	return session.Opened{}, nil
}

const (
	cookie        = "scheduling_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	internalToken = "internal-token-of-the-test"
)

func user(p principal.Permissions) sessions {
	return func() (session.Record, error) {
		return session.Record{User: session.Subject{UserID: 5, Kind: principal.Staff, Permissions: p,
			Active: true}}, nil
	}
}

// record is a log that the server writes while the test reads.
type record struct{ output.Buffer }

// shows waits for a line with the text: a line is written after its answer was sent.
func (r *record) shows(text string) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if strings.Contains(r.String(), text) {
			return true
		}
	}
	return false
}

// serve runs routes on a real listener and returns its address and its log.
func serve(t *testing.T, s sessions, routes ...web.Route) (string, *record) {
	t.Helper()
	return serveWith(t, s, nil, routes...)
}

// serveWith is serve with a memory of answers.
func serveWith(t *testing.T, s sessions, memory *answers.Store, routes ...web.Route) (string, *record) {
	t.Helper()
	var log record
	return serveOptions(t, web.Options{
		Answers: memory, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Sessions: s, Token: settings.NewSecret(internalToken), Timeout: time.Second,
		Classify: func(err error) *problem.Error {
			if errors.Is(err, errAway) {
				return problem.Wrap(problem.Unavailable, err, "")
			}
			return nil
		},
	}, routes...), &log
}

// serveOptions runs routes on a real listener, with telemetry that goes nowhere, and returns its address.
func serveOptions(t *testing.T, o web.Options, routes ...web.Route) string {
	t.Helper()
	o.Name = "test"
	o.Propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	o.Tracer, o.Meter = tracenoop.NewTracerProvider(), metricnoop.NewMeterProvider()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	app, err := web.New(o, routes)
	errortest.None(t, err)
	return "http://" + servicetest.Listen(t, app)
}

var errAway = errors.New("dial mongodb://u:secret@db")

// send sends a request and returns its answer, which the test's end closes.
func send(t *testing.T, method, url, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	errortest.None(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	errortest.None(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func ask(t *testing.T, method, url, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	answer := send(t, method, url, body, headers...)
	text, err := io.ReadAll(answer.Body)
	errortest.None(t, errors.Join(err, answer.Body.Close()))
	return answer.StatusCode, string(text), answer.Header
}

func route(method, path string, h fiber.Handler) web.Route {
	return web.Route{Method: method, Path: path, Access: web.Anyone, Handler: h}
}

func ok(c *fiber.Ctx) error { return web.OK(c) }

func TestDecisionsPart1_EveryAnswerIsTheEnvelope(t *testing.T) {
	base, log := serve(t, user(principal.All()),
		route("GET", "/api/things/:id", func(c *fiber.Ctx) error {
			if _, err := web.PathID(c, "id"); err != nil {
				return err
			}
			return web.OK(c)
		}),
		route("POST", "/api/things", func(c *fiber.Ctx) error {
			if _, err := web.Wrapped(c, "thing"); err != nil {
				return err
			}
			return web.OK(c)
		}),
		web.Route{Method: "POST", Path: "/api/own", Access: web.SignedIn, Handler: ok},
		route("GET", "/api/panic", func(*fiber.Ctx) error { panic("secret plan") }),
		route("GET", "/api/fault", func(*fiber.Ctx) error { return errors.New("secret detail") }),
		route("GET", "/api/away", func(*fiber.Ctx) error { return fmt.Errorf("find: %w", errAway) }),
		route("GET", "/api/slow", func(c *fiber.Ctx) error {
			<-c.UserContext().Done()
			return fmt.Errorf("find: %w", c.UserContext().Err())
		}),
		route("GET", "/api/missing", func(*fiber.Ctx) error {
			return fmt.Errorf("load: %w", problem.Missing("Event", 344))
		}),
		route("GET", "/api/forbidden", func(*fiber.Ctx) error { return problem.New(problem.Forbidden, "needs admin") }),
		route("GET", "/api/limited", func(*fiber.Ctx) error {
			return &problem.Error{Kind: problem.TooManyRequests, RetryAfter: 1500 * time.Millisecond}
		}),
	)
	for _, c := range []struct {
		name, method, path, body string
		code                     int
		want                     string
		headers                  []string
	}{
		{"known", "GET", "/api/things/1", "", 200, `{"status":"OK"}`, nil},
		{"root", "GET", "/", "", 404, `{"status":"Not found"}`, nil},
		{"an id that no record has", "GET", "/api/things/0", "", 200, `{"status":"OK"}`, nil},
		{"escaped id", "GET", "/api/things/%31", "", 404, `{"status":"Not found"}`, nil},
		{"odd method", "BREW", "/api/things/1", "", 405, `{"status":"Method not allowed"}`, nil},
		{"no body", "POST", "/api/things", "", 400,
			`{"status":"Bad request","message":"the body is not a JSON object"}`, nil},
		{"bad JSON", "POST", "/api/things", `{"thing":`, 400,
			`{"status":"Bad request","message":"the body is not a JSON object"}`, nil},
		{"trailing garbage", "POST", "/api/things", `{"thing":{}} x`, 400,
			`{"status":"Bad request","message":"the body is not a JSON object"}`, nil},
		{"not UTF-8", "POST", "/api/things", "{\"thing\":{\"a\":\"\xff\"}}", 400,
			`{"status":"Bad request","message":"the body is not a JSON object"}`, nil},
		{"a list", "POST", "/api/things", `[]`, 400,
			`{"status":"Bad request","message":"the body is not a JSON object"}`, nil},
		{"null", "POST", "/api/things", `null`, 400,
			`{"status":"Bad request","message":"the body is not a JSON object"}`, nil},
		{"no wrapper", "POST", "/api/things", `{}`, 400, `{"status":"Bad request","message":"thing is missing"}`, nil},
		{"null wrapper", "POST", "/api/things", `{"thing":null}`, 400,
			`{"status":"Bad request","message":"thing is missing"}`, nil},
		{"wrapper in other letter case", "POST", "/api/things", `{"Thing":{}}`, 400,
			`{"status":"Bad request","message":"thing is missing"}`, nil},
		{"other media type", "POST", "/api/things", `a=b`, 415,
			`{"status":"Unsupported media type","message":"the body must be application/json"}`,
			[]string{"Content-Type", "application/x-www-form-urlencoded"}},
		{
			"body over the route's limit", "POST", "/api/own", `{"thing":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`,
			413,
			`{"status":"Payload too large","message":"the body exceeds 1048576 bytes"}`, []string{"Cookie", cookie},
		},
		{
			"body over the limit without a session", "POST", "/api/things",
			`{"thing":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`, 413,
			`{"status":"Payload too large","message":"the body exceeds 65536 bytes"}`, nil,
		},
		{
			"no session comes before the body's size", "POST", "/api/own", strings.Repeat("x", 2<<20), 401,
			`{"status":"Access denied"}`, nil,
		},
		{
			"body where there is none", "GET", "/api/things/1", strings.Repeat("x", 64<<10+1), 413,
			`{"status":"Payload too large","message":"the body exceeds 65536 bytes"}`, nil,
		},
		{"small body where there is none", "GET", "/api/things/1", strings.Repeat("x", 64<<10), 200, `{"status":"OK"}`,
			nil},
		{"panic", "GET", "/api/panic", "", 500, `{"status":"Internal server error"}`, nil},
		{"fault", "GET", "/api/fault", "", 500, `{"status":"Internal server error"}`, nil},
		{"store away", "GET", "/api/away", "", 503, `{"status":"Service unavailable"}`, nil},
		{"deadline", "GET", "/api/slow", "", 503, `{"status":"Service unavailable"}`, nil},
		{"missing record", "GET", "/api/missing", "", 404,
			`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Event with 'id'=344"}`, nil},
		{"forbidden says what is lacking", "GET", "/api/forbidden", "", 403,
			`{"status":"Forbidden","message":"needs admin"}`, nil},
		{"limited", "GET", "/api/limited", "", 429, `{"status":"Too many requests"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, body, header := ask(t, c.method, base+c.path, c.body, c.headers...)
			valuetest.Holds(t, code == c.code && body == c.want, "got %d %s\nwant %d %s", code, body, c.code, c.want)
			valuetest.Same(t, header.Get("Content-Type"), "application/json; charset=utf-8", "Content-Type")
			if code == 405 && header.Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow %q", header.Get("Allow"))
			}
			if want := `Cookie realm="Belfry", cookie-name="scheduling_session"`; code == 401 &&
				header.Get("WWW-Authenticate") != want {
				t.Errorf("WWW-Authenticate %q", header.Get("WWW-Authenticate"))
			}
			if code == 429 && header.Get("Retry-After") != "2" {
				t.Errorf("Retry-After %q", header.Get("Retry-After"))
			}
		})
	}
	valuetest.Holds(t, log.shows("secret plan") && log.shows("secret detail"), "the causes are missing in the log")
}

// The server answers before it has read all and closes: a client that goes on sending may see that instead of the
// answer.
func TestDecisionsPart1_WhatIsOverEveryLimitIsRefusedBeforeItIsRead(t *testing.T) {
	base, _ := serve(t, nil, route("POST", "/api/things", ok))
	for _, c := range []struct{ name, request, want string }{
		{"body", "POST /api/things HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n",
			`{"status":"Payload too large"}`},
		{"headers", "POST /api/things HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 16<<10),
			`{"status":"Payload too large","message":"the request's headers exceed 16384 bytes"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			connection := dial(t, base)
			_, err := io.WriteString(connection, c.request)
			errortest.None(t, err)
			answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
			errortest.None(t, err)
			defer func() { _ = answer.Body.Close() }()
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge || string(body) != c.want {
				t.Errorf("got %d %s, %v", answer.StatusCode, body, err)
			}
		})
	}
}

func TestDecisionsPart1_WhoMayCall(t *testing.T) {
	none := func() (session.Record, error) { return session.Record{}, session.ErrNone }
	away := func() (session.Record, error) { return session.Record{}, errors.New("redis is gone") }
	for _, c := range []struct {
		name     string
		sessions sessions
		access   web.Access
		headers  []string
		code     int
	}{
		{"no cookie", user(principal.All()), web.SignedIn, nil, 401},
		{"an invalid cookie", user(principal.All()), web.SignedIn, []string{"Cookie", "scheduling_session=x"}, 401},
		{"a dead session", none, web.SignedIn, []string{"Cookie", cookie}, 401},
		{"the store is away: never anonymous", away, web.SignedIn, []string{"Cookie", cookie}, 503},
		{"a user without can_api", user(principal.Permissions{CanSU: true}), web.SignedIn, []string{"Cookie", cookie},
			401},
		{"a user", user(principal.Permissions{CanAPI: true}), web.SignedIn, []string{"Cookie", cookie}, 200},
		{"the cookie of the other name", user(principal.All()), web.SignedIn, []string{"Cookie", "__Host-" + cookie},
			401},
		{"a user where admins belong", user(principal.Permissions{CanAPI: true}), web.Admin, []string{"Cookie", cookie},
			403},
		{"an admin, can_api implied", user(principal.Permissions{Admin: true}), web.Admin, []string{"Cookie", cookie},
			200},
		{"a neighbour without the token", nil, web.Neighbour, nil, 401},
		{"a neighbour with another token", nil, web.Neighbour, []string{"Authorization", "Bearer x"}, 401},
		{"a neighbour", nil, web.Neighbour, []string{"Authorization", "Bearer " + internalToken}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, _ := serve(t, c.sessions, web.Route{Method: "GET", Path: "/x", Access: c.access, Handler: ok})
			code, body, _ := ask(t, "GET", base+"/x", "", c.headers...)
			valuetest.Same(t, code, c.code, body)
		})
	}
}

func TestRequestIDsAreTakenOnlyWhenTheyAreSafe(t *testing.T) {
	base, log := serve(t, nil, route("GET", "/x", ok))
	const good = "client-id-42"
	if _, _, header := ask(t, "GET", base+"/x", "", "X-Request-Id", good); header.Get("X-Request-Id") != good {
		t.Errorf("got %q", header.Get("X-Request-Id"))
	}
	bad := strings.Repeat("x", 65)
	_, _, header := ask(t, "GET", base+"/x", "", "X-Request-Id", bad)
	if got := header.Get("X-Request-Id"); got == bad || len(got) != 24 {
		t.Errorf("got %q", got)
	}
	valuetest.Holds(t, log.shows(good), "the log does not name the request")
}

func TestLogsHoldNoPathNorQuery(t *testing.T) {
	base, log := serve(t, nil, route("GET", "/api/login", ok))
	ask(t, "GET", base+"/api/login?uuid=f3b9-secret", "")
	ask(t, "GET", base+"/feed/f3b9-secret", "")
	if !log.shows("route=/api/login") || !log.shows("route=unmatched") {
		t.Errorf("the log lacks the routes:\n%s", log)
	}
	valuetest.Lacks(t, log.String(), "secret", "the log shows the secret")
}

func TestObject_ReadsFieldsStrictly(t *testing.T) {
	o, err := web.ParseObject([]byte(`{"text":"a","id":7,"idtext":"7","bool":true,"booltext":"false","null":null,"list":[],"number":3,"float":1.5}`))
	errortest.None(t, err)
	faults := problem.Fields{}
	seven, three, a, yes, no := int64(7), 3, "a", true, false
	valuetest.Equal(t, &a, o.Text("text", faults))
	valuetest.Equal(t, &seven, o.ID("id", faults))
	valuetest.Equal(t, &seven, o.ID("idtext", faults))
	valuetest.Equal(t, &yes, o.Bool("bool", faults))
	valuetest.Equal(t, &no, o.Bool("booltext", faults))
	valuetest.Equal(t, &three, o.Int("number", faults))
	if o.Text("null", faults) != nil || o.Text("absent", faults) != nil || !o.Null("null") || o.Null("absent") ||
		o.Has("null") {
		t.Error("null and absent")
	}
	valuetest.MustSame(t, len(faults), 0, "faults %v", faults)
	o.Text("number", faults)
	o.Bool("list", faults)
	o.ID("text", faults)
	o.Int("float", faults)
	valuetest.Equal(t, problem.Fields{"number": {"is not a string"}, "list": {"is not true or false"},
		"text": {"must exist"}, "float": {"is not a number"}}, faults)
}
