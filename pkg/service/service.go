// Package service starts, runs and stops each of Belfry's services. Main shows the steps in order: settings,
// telemetry, stores, indexes and migrations, the service's own routes, three listeners, and the orderly stop.
package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"go.opentelemetry.io/otel"

	"github.com/belfry-schools/belfry/pkg/service/health"
	"github.com/belfry-schools/belfry/pkg/service/lifecycle"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/service/telemetry"
	"github.com/belfry-schools/belfry/pkg/web"
)

// Spec is what differs from service to service.
type Spec struct {
	Name string
	// Settings points to the service's own settings, in addition to Config; nil when there are none.
	Settings any
	// Stateless services keep no data: they have no stores, no settings of them, and nothing to prepare.
	Stateless bool
	// Prepare creates indexes and runs migrations. It runs at every start, in several replicas at once.
	Prepare func(ctx context.Context, r *Runtime) error
	// Build builds the service.
	Build func(ctx context.Context, r *Runtime) (Surface, error)
}

// Surface is what a service serves and runs: the routes of its two listeners, and its background components.
type Surface struct {
	Public     []web.Route
	Internal   []web.Route
	Components []lifecycle.Component
}

// Main runs a service's command and returns its exit code. Without an argument it serves until SIGTERM or SIGINT;
// "migrate" only prepares the stores; "settings" prints the table of its variables; "version" prints its version.
func Main(spec Spec) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, spec, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", spec.Name, err)
		return 1
	}
	return 0
}

func run(ctx context.Context, spec Spec, args []string, out io.Writer) error {
	var cfg Config
	var stores Stores
	all := []any{&cfg}
	if !spec.Stateless {
		all = append(all, &stores)
	}
	if spec.Settings != nil {
		all = append(all, spec.Settings)
	}
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "version":
		_, err := fmt.Fprintln(out, version())
		return err
	case "settings":
		return settings.WriteTable(out, settings.Variables(all...))
	case "", "migrate":
	default:
		return fmt.Errorf("unknown command %q; there are: migrate, settings, version, and none to serve", command)
	}

	if err := settings.Load(all...); err != nil {
		return err
	}
	tel, err := telemetry.Start(ctx,
		telemetry.Options{Service: spec.Name, Version: version(), LogLevel: cfg.LogLevel, Out: out})
	if err != nil {
		return err
	}
	slog.SetDefault(tel.Log) // for code without a log of its own, such as migrations
	otel.SetErrorHandler(otel.ErrorHandlerFunc(tel.Lost))
	for _, v := range settings.Variables(all...) {
		tel.Log.Debug("setting", "name", v.Name, "value", v.Value)
	}
	r, err := connect(ctx, spec, cfg, stores, tel)
	if err != nil {
		tel.Stop(ctx)
		return err
	}
	work := serve
	if command == "migrate" {
		work = func(context.Context, Spec, *Runtime) error { return nil }
	}
	if spec.Prepare != nil {
		err = spec.Prepare(ctx, r)
	}
	if err == nil {
		err = work(ctx, spec, r)
	}
	down, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.StopDeadline)
	defer cancel()
	err = errors.Join(err, r.close(down))
	tel.Stop(down)
	return err
}

// serve runs the service until ctx ends.
func serve(ctx context.Context, spec Spec, r *Runtime) error {
	surface, err := spec.Build(ctx, r)
	if err != nil {
		return err
	}
	public, err := web.New(r.webOptions(spec.Name), append([]web.Route{web.Healthz()}, surface.Public...))
	if err != nil {
		return err
	}
	internal, err := web.New(r.webOptions(spec.Name+" internal"), surface.Internal)
	if err != nil {
		return err
	}
	var ready lifecycle.Readiness
	probes, err := health.NewServer(health.Options{Log: r.Log, Ready: ready.Ready, Meter: r.Meter, Metrics: r.Metrics,
		Checks: r.checks()})
	if err != nil {
		return err
	}
	components := []lifecycle.Component{listen("health listener", r.HealthListen, probes.Serve, probes.Shutdown)}
	components = append(components, surface.Components...)
	components = append(components,
		listen("internal listener", r.InternalListen, internal.Listener, internal.ShutdownWithContext),
		listen("public listener", r.Listen, public.Listener, public.ShutdownWithContext))
	relaxCollector()
	return lifecycle.Run(ctx, lifecycle.Options{Log: r.Log, Readiness: &ready, DrainDelay: r.DrainDelay,
		StopDeadline: r.StopDeadline}, components...)
}

// listen makes a component of what serves the connections to an address. When it stops, it refuses new connections and
// waits for the requests in flight.
func listen(name, address string, serve func(net.Listener) error,
	stop func(context.Context) error) lifecycle.Component {
	return lifecycle.Component{
		Name: name,
		Start: func(ctx context.Context, failed func(error)) error {
			listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
			if err != nil {
				return err
			}
			go func() {
				if err := serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
					failed(err)
				}
			}()
			return nil
		},
		Stop: stop,
	}
}

// version returns the version of the build: its tag, or its commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}
