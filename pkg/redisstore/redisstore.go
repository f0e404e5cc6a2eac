// Package redisstore connects to Redis or Valkey as it is run: one server, a primary that sentinels watch, or a
// cluster. It names keys so that a cluster holds together what one script works on.
package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Mode is how Redis is run.
type Mode string

// The modes. In each, the URL has the form of the library: redis.ParseURL, ParseFailoverURL, ParseClusterURL.
const (
	Server   Mode = "server"   // redis://user:password@host:6379/0
	Sentinel Mode = "sentinel" // redis://host:26379/0?addr=host2:26379&master_name=…&username=…&password=…
	Cluster  Mode = "cluster"  // redis://user:password@host:6379?addr=host2:6379
)

// Valid says whether m is one of the modes.
func (m Mode) Valid() bool { return m == Server || m == Sentinel || m == Cluster }

// Keys names the keys of a deployment.
type Keys struct {
	Prefix string // of every key
	Mode   Mode
}

// Together returns the prefix of all keys that one script works on; tag separates them from the keys of other scripts.
// In a cluster it ends with a hash tag, so that one node holds them all.
func (k Keys) Together(tag string) string {
	if k.Mode == Cluster {
		return k.Prefix + "{" + tag + "}:"
	}
	return k.Prefix
}

// Options of Connect. All but Tracer are required.
type Options struct {
	URL    string // a secret
	Keys   Keys
	Log    *slog.Logger
	Tracer trace.TracerProvider // nil: no spans
	Meter  metric.MeterProvider
}

// Connect connects to Redis, and checks that it answers and that its user may do what Belfry does. Its errors show
// nothing of the URL. Spans leave the commands out, since these hold hashes of session ids and e-mail addresses.
func Connect(ctx context.Context, o Options) (redis.UniversalClient, error) {
	redis.SetLogger(library{o.Log}) // the library has one logger for the process
	client, err := open(o.URL, o.Keys.Mode)
	if err != nil {
		return nil, err
	}
	err = redisotel.InstrumentMetrics(client, redisotel.WithMeterProvider(o.Meter))
	if o.Tracer != nil {
		err = errors.Join(err, redisotel.InstrumentTracing(client, redisotel.WithTracerProvider(o.Tracer),
			redisotel.WithDBStatement(false), redisotel.WithCallerEnabled(false)))
	}
	if err == nil {
		err = explain(client.Ping(ctx).Err())
	}
	if err == nil {
		err = checkRights(ctx, client, o.Keys.Prefix)
	}
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	warnOfEviction(ctx, client, o.Log)
	return client, nil
}

// warnOfEviction logs a policy by which a full Redis drops keys, the default of some clouds: sessions, revocations and
// messages would be lost.
func warnOfEviction(ctx context.Context, client redis.UniversalClient, log *slog.Logger) {
	check := func(ctx context.Context, node redis.Cmdable) {
		told := node.Info(ctx, "memory").Val() // "" where it can't be had
		_, policy, found := strings.Cut(told, "maxmemory_policy:")
		policy, _, _ = strings.Cut(policy, "\r\n")
		if found && policy != "noeviction" {
			log.WarnContext(ctx, "a full Redis would drop sessions and messages: set maxmemory-policy noeviction",
				"policy", policy)
		}
	}
	cluster, several := client.(*redis.ClusterClient)
	if !several {
		check(ctx, client)
		return
	}
	_ = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		check(ctx, node)
		return nil
	})
}

// open makes the client. It opens no connection. A call ends with the deadline of its context. The library's name and
// version are not sent, which would need a right of its own. The certificate of each node must name the host that the
// node is reached at; the library takes that of the URL for all.
func open(address string, mode Mode) (redis.UniversalClient, error) {
	malformed := fmt.Errorf("not an address that BELFRY_REDIS_MODE=%s takes", mode) // the library's errors repeat it
	switch mode {
	case Sentinel:
		o, err := redis.ParseFailoverURL(address)
		if err != nil {
			return nil, malformed
		}
		if o.MasterName == "" {
			return nil, errors.New("BELFRY_REDIS_MODE=sentinel needs master_name")
		}
		if o.RouteByLatency || o.RouteRandomly || o.ReplicaOnly {
			return nil, errors.New("a replica is never read: it may not yet know that a session has ended")
		}
		o.ContextTimeoutEnabled, o.DisableIdentity = true, true
		ownNames(o.TLSConfig)
		return redis.NewFailoverClient(o), nil
	case Cluster:
		o, err := redis.ParseClusterURL(address)
		if err != nil {
			return nil, malformed
		}
		if u, err := url.Parse(address); err != nil || strings.Trim(u.Path, "/") != "" && u.Path != "/0" {
			return nil, errors.New("a cluster has no numbered databases")
		}
		if o.RouteByLatency || o.RouteRandomly || o.ReadOnly {
			return nil, errors.New("a replica is never read: it may not yet know that a session has ended")
		}
		o.ContextTimeoutEnabled, o.DisableIdentity = true, true
		o.DisableRoutingPolicies = true // they need COMMAND's answer, and none of our commands needs them
		ownNames(o.TLSConfig)
		return redis.NewClusterClient(o), nil
	default:
		o, err := redis.ParseURL(address)
		if err != nil {
			return nil, malformed
		}
		o.ContextTimeoutEnabled, o.DisableIdentity = true, true
		return redis.NewClient(o), nil
	}
}

func ownNames(c *tls.Config) {
	if c != nil {
		c.ServerName = "" // the dialer fills it in
	}
}

// explain returns what an operator can do about an error at the start. It leaves out addresses and users.
func explain(err error) error {
	var said redis.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said):
		code, _, _ := strings.Cut(said.Error(), " ")
		return fmt.Errorf("it refuses: %s", code)
	case errors.As(err, &certificate):
		return errors.New("its certificate is not trusted: is the authority in SSL_CERT_FILE, " +
			"and does the certificate name the host?")
	}
	return errors.New("no answer: is the address right, and is Redis running?")
}

// library logs the messages of the library about its pool. They are debug messages, since the calls concerned return
// errors.
type library struct{ log *slog.Logger }

func (l library) Printf(ctx context.Context, format string, v ...any) {
	l.log.DebugContext(ctx, "redis client", "says", fmt.Sprintf(format, v...))
}
