package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// Line passes connections on to a store until it is cut or hangs. Services that reach the store by a line that is cut
// find it away, as when its process has ended: their connections break, and new ones are refused. By a line that hangs
// they find it silent, as when its process is stopped: connections stay, new ones open, and nothing is answered.
type Line struct{ proxy *toxiproxy.Proxy }

// NewLine returns a line to what has the URI of one host, and the URI by which it is reached through the line.
func NewLine(uri string) (*Line, string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, "", errors.New("the URI of a store is invalid") // the error would repeat it, password and all
	}
	toxics.Register("silence", new(silence))
	// its HTTP interface is not used
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.New(io.Discard))
	l := &Line{toxiproxy.NewProxy(server, "line", "127.0.0.1:0", u.Host)}
	err = l.proxy.Start()
	u.Host = l.proxy.Listen
	return l, u.String(), err
}

// Lines returns lines to both stores, and the URIs by which services reach the stores through them. They are cut when
// the test ends.
func Lines(t testing.TB) (mongo, redis *Line, mongoURI, redisURL string) {
	t.Helper()
	mongoURI, redisURL, err := URIs()
	errortest.None(t, err)
	mongo, mongoURI, err = NewLine(direct(mongoURI))
	errortest.None(t, err)
	t.Cleanup(mongo.Cut)
	redis, redisURL, err = NewLine(redisURL)
	errortest.None(t, err)
	t.Cleanup(redis.Cut)
	return mongo, redis, mongoURI, redisURL
}

// direct returns a URI with which the driver does not ask a replica set for its members' addresses.
func direct(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || !u.Query().Has("replicaSet") {
		return uri
	}
	query := u.Query()
	query.Del("replicaSet")
	query.Set("directConnection", "true")
	u.RawQuery = query.Encode()
	return u.String()
}

// Cut breaks all connections and refuses new ones.
func (l *Line) Cut() { l.proxy.Stop() }

// silence is a toxic that takes no bytes. toxiproxy's own latency would hold some, and be stuck with them where the
// connection has ended meanwhile.
type silence struct{}

func (*silence) Pipe(stub *toxics.ToxicStub) { <-stub.Interrupt }

// Hang stops all bytes. Those sent meanwhile arrive when the line is mended.
func (l *Line) Hang() {
	if err := l.Poison("silence", nil); err != nil {
		panic(err) // there is that toxic
	}
}

// Poison adds a toxic of toxiproxy in both directions.
func (l *Line) Poison(kind string, attributes map[string]int) error {
	for _, stream := range []string{"upstream", "downstream"} {
		text, err := json.Marshal(map[string]any{"name": kind + stream, "type": kind, "stream": stream,
			"attributes": attributes})
		if err != nil {
			return err
		}
		if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(string(text))); err != nil {
			return err
		}
	}
	return nil
}

// Mend ends a cut, at the same address, and all toxics: what a hanging line holds is passed on.
func (l *Line) Mend() error {
	l.proxy.Toxics.ResetToxics(context.Background())
	err := l.proxy.Start()
	for deadline := time.Now().Add(time.Minute); err != nil && time.Now().Before(deadline); err = l.proxy.Start() {
		if errors.Is(err, toxiproxy.ErrProxyAlreadyStarted) {
			return nil
		}
		time.Sleep(10 * time.Millisecond) // another process may have the port for a moment
	}
	return err
}
