package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// environment sets the variables for a service on the test's stores, and returns its addresses.
func environment(t *testing.T) (public, health string) {
	t.Helper()
	mongoURI, redisURL, err := storetest.URIs()
	errortest.None(t, err)
	addresses, err := frontdoor.Addresses(3)
	errortest.None(t, err)
	public, health = addresses[0], addresses[1]
	for name, value := range map[string]string{
		"MONGODB_URI": mongoURI, "MONGODB_DATABASE": storetest.Mongo(t).Name(), "REDIS_URL": redisURL,
		"BELFRY_INTERNAL_TOKEN": strings.Repeat("t", minToken),
		"BELFRY_LISTEN":         public, "BELFRY_INTERNAL_LISTEN": addresses[2], "BELFRY_HEALTH_LISTEN": health,
		"BELFRY_DRAIN_DELAY": "200ms", "BELFRY_STOP_DEADLINE": "5s",
	} {
		t.Setenv(name, value)
	}
	return public, health
}

func bells(prepared *int) Spec {
	return Spec{
		Name:    "bells",
		Prepare: func(context.Context, *Runtime) error { *prepared++; return nil },
		Build: func(context.Context, *Runtime) (Surface, error) {
			ring := func(c *fiber.Ctx) error { return web.OK(c) }
			return Surface{Public: []web.Route{{Method: http.MethodGet, Path: "/api/ring", Handler: ring}}}, nil
		},
	}
}

func get(url string) (int, error) {
	answer, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

func TestRun_ServesAndDrainsUnreadyFirst(t *testing.T) {
	public, health := environment(t)
	ctx, stop := context.WithCancel(t.Context())
	prepared := 0
	var out output.Buffer
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, bells(&prepared), nil, &out) }()
	ready := func(want int) func() bool {
		return func() bool { code, err := get("http://" + health + "/readyz"); return err == nil && code == want }
	}
	timetest.Eventually(t, "it is ready", time.Minute, ready(200))
	if code, err := get("http://" + public + "/api/ring"); err != nil || code != 200 {
		t.Errorf("%d, %v", code, err)
	}
	stop()
	timetest.Eventually(t, "it stops being ready", time.Minute, ready(503))
	if code, err := get("http://" + public + "/api/ring"); err != nil || code != 200 {
		t.Errorf("it stopped serving before its callers could notice: %d, %v", code, err)
	}
	errortest.Report(t, <-ended, "it ended")
	errortest.Some(t, errortest.Of(get("http://"+public+"/api/ring")), "it still listens")
	valuetest.Same(t, prepared, 1, "it prepared the stores %d times", prepared)
	for line := range strings.Lines(out.String()) {
		valuetest.Holds(t, json.Valid([]byte(line)), "a line of the log is not JSON: %s", line)
	}
}

func TestRun_MigrateOnlyPrepares(t *testing.T) {
	public, _ := environment(t)
	prepared := 0
	if err := run(t.Context(), bells(&prepared), []string{"migrate"}, &output.Buffer{}); err != nil || prepared != 1 {
		t.Errorf("prepared %d times, %v", prepared, err)
	}
	errortest.Some(t, errortest.Of(get("http://"+public+"/api/ring")), "it serves")
}

func TestRun_ACollectorThatIsAwayFailsNothing(t *testing.T) {
	environment(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	var out output.Buffer
	prepared := 0
	if err := run(t.Context(), bells(&prepared), []string{"migrate"}, &out); err != nil || prepared != 1 {
		t.Errorf("prepared %d times, %v", prepared, err)
	}
	valuetest.Has(t, out.String(), "telemetry is lost", "nothing says that telemetry is lost")
}

// Lines of level INFO are what operators leave out.
func TestRun_ACollectorThatIsAwayIsAWarningForTracesToo(t *testing.T) {
	environment(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("BELFRY_LOG_LEVEL", "WARN")
	spec := bells(new(int))
	spec.Prepare = func(ctx context.Context, r *Runtime) error {
		_, span := r.Tracer.Tracer("bells").Start(ctx, "prepare")
		span.End()
		return nil
	}
	var out output.Buffer
	errortest.None(t, run(t.Context(), spec, []string{"migrate"}, &out))
	valuetest.Has(t, out.String(), "/v1/traces", "nothing says that traces are lost")
}

func TestRun_SaysWhatIsWrongAndNoSecret(t *testing.T) {
	const secret = "hunter2"
	for name, c := range map[string]struct {
		variables map[string]string
		arguments []string
		want      string
	}{
		"a short token": {map[string]string{"BELFRY_INTERNAL_TOKEN": secret}, nil,
			"BELFRY_INTERNAL_TOKEN: has 7 characters, needs at least 32"},
		"a token of two lines": {map[string]string{"BELFRY_INTERNAL_TOKEN": strings.Repeat(secret, 5) + "\n" + secret},
			nil, "BELFRY_INTERNAL_TOKEN: has a character that is not visible ASCII"},
		"no such zone": {map[string]string{"BELFRY_TIMEZONE": "Europe/Londn"}, nil, "BELFRY_TIMEZONE"},
		"no address": {map[string]string{"BELFRY_EVENTS_URL": "events"}, nil,
			"BELFRY_EVENTS_URL: not an http or https address"},
		"a listener without a colon": {map[string]string{"BELFRY_LISTEN": "8080"}, nil,
			"BELFRY_LISTEN: not an address with a port, such as :8080"},
		"an empty listener": {map[string]string{"BELFRY_INTERNAL_LISTEN": ""}, nil,
			"BELFRY_INTERNAL_LISTEN: not an address with a port, such as :8080"},
		"no such port": {map[string]string{"BELFRY_HEALTH_LISTEN": ":65536"}, nil,
			"BELFRY_HEALTH_LISTEN: not an address with a port, such as :8080"},
		"no database": {map[string]string{"MONGODB_DATABASE": ""}, nil, "MONGODB_DATABASE: must have"},
		"a database with a space": {map[string]string{"MONGODB_DATABASE": "our school"}, nil,
			"MONGODB_DATABASE: must have"},
		"a long name of a database": {map[string]string{"MONGODB_DATABASE": strings.Repeat("b", 64)}, nil,
			"MONGODB_DATABASE: must have"},
		"no time": {map[string]string{"BELFRY_SESSION_IDLE": "0s"}, nil,
			"BELFRY_SESSION_IDLE: must be positive"},
		"MongoDB is away": {map[string]string{"MONGODB_URI": "mongodb://u:" + secret +
			"@127.0.0.1:1/?serverSelectionTimeoutMS=200"}, nil, "MONGODB_URI"},
		"no URI": {map[string]string{"MONGODB_URI": secret}, nil, "MONGODB_URI"},
		"Redis is away": {map[string]string{"REDIS_URL": "redis://:" + secret + "@127.0.0.1:1/0"}, nil,
			"REDIS_URL"},
		"no such mode": {map[string]string{"BELFRY_REDIS_MODE": "clusters"}, nil,
			"BELFRY_REDIS_MODE: must be server, sentinel or cluster"},
		"no sentinels": {map[string]string{"BELFRY_REDIS_MODE": "sentinel", "REDIS_URL": "redis://:" + secret + "@a/"},
			nil, "REDIS_URL: BELFRY_REDIS_MODE=sentinel needs master_name"},
		"no URL":             {map[string]string{"REDIS_URL": secret}, nil, "REDIS_URL"},
		"a taken port":       {nil, nil, "address already in use"},
		"a word it can't do": {nil, []string{"ring"}, `unknown command "ring"`},
	} {
		t.Run(name, func(t *testing.T) {
			public, _ := environment(t)
			for name, value := range c.variables {
				t.Setenv(name, value)
			}
			if name == "a taken port" {
				taken, err := net.Listen("tcp", public)
				errortest.None(t, err)
				defer func() { _ = taken.Close() }()
			}
			var out output.Buffer
			prepared := 0
			err := run(t.Context(), bells(&prepared), c.arguments, &out)
			valuetest.MustHold(t, err != nil && strings.Contains(err.Error(), c.want), "got %v, want %q", err, c.want)
			if strings.Contains(err.Error()+out.String(), secret) {
				t.Errorf("it shows the secret: %v\n%s", err, out.String())
			}
		})
	}
}

func TestRun_APartThatFailsEndsTheServiceInOrder(t *testing.T) {
	environment(t)
	prepared := 0
	spec := bells(&prepared)
	spec.Prepare = func(context.Context, *Runtime) error { return errors.New("an index can't be made") }
	errortest.Says(t, run(t.Context(), spec, nil, &output.Buffer{}), "an index can't be made")
}

func TestSettingsAndVersionNeedNoStore(t *testing.T) {
	for _, command := range []string{"settings", "version"} {
		var out output.Buffer
		prepared := 0
		if err := run(t.Context(), bells(&prepared), []string{command}, &out); err != nil || out.String() == "" {
			t.Errorf("%s: %v, %q", command, err, out.String())
		}
		if command == "settings" && !strings.Contains(out.String(), fmt.Sprintf("| `%s` | required |", "MONGODB_URI")) {
			t.Errorf("the table is\n%s", out.String())
		}
	}
}
