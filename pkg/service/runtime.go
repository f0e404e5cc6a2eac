package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/redisstore"
	"github.com/belfry-schools/belfry/pkg/service/health"
	"github.com/belfry-schools/belfry/pkg/service/telemetry"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/web"
)

// Runtime holds what a service is built on: its settings, and the connections to its stores and neighbours.
type Runtime struct {
	Config
	Stores
	*telemetry.Telemetry
	DB       *mongo.Database // nil, as what follows up to Versions and Memory, where the service is Stateless
	IDs      *mongostore.IDs
	Redis    redis.UniversalClient
	Keys     redisstore.Keys
	Sessions *session.Store
	Cookies  web.Cookies
	Versions *directory.Versions
	Memory   *directory.Memory
	Bounds   *web.Bounds

	Identity *neighbour.Identity
	Elements *neighbour.Elements
	Events   *neighbour.Events
	Notes    *neighbour.Notes

	transport *neighbour.Transport
}

// connect opens the stores. Its errors name the store that is unavailable, and never its address.
func connect(ctx context.Context, spec Spec, cfg Config, stores Stores, tel *telemetry.Telemetry) (*Runtime, error) {
	cookies := web.Cookies{Secure: cfg.SecureCookies}
	if spec.Stateless {
		return &Runtime{Config: cfg, Telemetry: tel, Cookies: cookies, Bounds: web.NewBounds()}, nil
	}
	client, err := mongostore.Connect(ctx, stores.MongoURI.Reveal(),
		mongostore.Options{AppName: "belfry-" + spec.Name, TracerProvider: tel.Tracer, MeterProvider: tel.Meter})
	if err != nil {
		return nil, fmt.Errorf("MONGODB_URI: %w", err)
	}
	keys := redisstore.Keys{Prefix: stores.RedisPrefix, Mode: stores.RedisMode}
	spans := tel.Tracer
	if !tel.Traces {
		spans = nil // the library writes the text of a span before it asks whether there is one
	}
	cache, err := redisstore.Connect(ctx, redisstore.Options{URL: stores.RedisURL.Reveal(), Keys: keys, Log: tel.Log,
		Tracer: spans, Meter: tel.Meter})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("REDIS_URL: %w", err), client.Disconnect(ctx))
	}
	versions := directory.New(directory.Options{Redis: cache, Prefix: keys.Together("sessions")})
	memory, err := directory.NewMemory(directory.MemoryOptions{
		Versions: versions, Bytes: int64(cfg.DirectoryMemory) << 20, Meter: tel.Meter,
	})
	if err != nil {
		return nil, errors.Join(err, cache.Close(), client.Disconnect(ctx))
	}
	transport, err := neighbour.NewTransport(neighbour.Options{Token: cfg.InternalToken, Tracer: tel.Tracer,
		Meter: tel.Meter, Propagator: tel.Propagator, Memory: memory})
	if err != nil {
		return nil, errors.Join(err, cache.Close(), client.Disconnect(ctx))
	}
	asked := versions // with each session
	if cfg.DirectoryMemory == 0 {
		asked = nil
	}
	r := &Runtime{
		Config: cfg, Stores: stores, Telemetry: tel, DB: client.Database(stores.Database), Redis: cache, Keys: keys,
		Cookies: cookies, Versions: versions, Memory: memory, Bounds: web.NewBounds(),
		Sessions: session.NewStore(cache, session.Options{
			Prefix: keys.Together("sessions"), Idle: cfg.SessionIdle, Absolute: cfg.SessionAbsolute, Directory: asked,
		}),
		transport: transport,
	}
	r.IDs = mongostore.NewIDs(r.DB)
	r.Identity = neighbour.NewIdentity(r.transport, cfg.IdentityURL)
	r.Sessions.OpenTokensBy(r.Identity.OpenToken)
	r.Elements = neighbour.NewElements(r.transport, cfg.ElementsURL)
	r.Events = neighbour.NewEvents(r.transport, cfg.EventsURL)
	r.Notes = neighbour.NewNotes(r.transport, cfg.NotesURL)
	return r, nil
}

// close closes the connections, those to neighbours first.
func (r *Runtime) close(ctx context.Context) error {
	if r.DB == nil {
		return nil
	}
	r.transport.Close()
	return errors.Join(r.Redis.Close(), r.DB.Client().Disconnect(ctx))
}

// classify turns the stores' errors into the problems that clients see.
func classify(err error) *problem.Error {
	switch {
	case errors.Is(err, mongostore.ErrConflict):
		return problem.Wrap(problem.Conflict, err, "other writers kept changing the record")
	case mongostore.Unavailable(err), errors.Is(err, directory.ErrAway):
		return problem.Wrap(problem.Unavailable, err, "")
	}
	return nil
}

// webOptions returns the options of both listeners.
func (r *Runtime) webOptions(name string) web.Options {
	o := web.Options{
		Name: name, Log: r.Log, Tracer: r.Tracer, Meter: r.Meter, Propagator: r.Propagator,
		Cookies: r.Cookies, Token: r.InternalToken,
		Bounds:  r.Bounds,
		Timeout: r.RequestTimeout, TrustedProxies: r.TrustedProxies, AllowedOrigins: r.AllowedOrigins,
		Classify: classify,
	}
	if r.DB != nil {
		o.Sessions = r.Sessions
		o.Answers = answers.New(answers.Options{Redis: r.Redis, Keys: r.Keys, Secret: r.InternalToken})
	}
	return o
}

// checks are those of the stores.
func (r *Runtime) checks() []health.Check {
	if r.DB == nil {
		return nil
	}
	return []health.Check{
		{Name: "mongodb", Test: func(ctx context.Context) error { return r.DB.Client().Ping(ctx, nil) }},
		{Name: "redis", Test: func(ctx context.Context) error { return r.Redis.Ping(ctx).Err() }},
	}
}
