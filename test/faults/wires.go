package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// wires are proxies between the services and what they talk to, by what is behind each. A wire can be cut, slowed, or
// swallow what is sent.
type wires struct {
	server  *toxiproxy.ApiServer // its HTTP interface is not used
	proxies map[string]*toxiproxy.Proxy
}

func newWires() *wires {
	return &wires{toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.New(io.Discard)),
		map[string]*toxiproxy.Proxy{}}
}

// through starts a proxy to the host of an address, and returns the address with the proxy's host.
func (w *wires) through(name, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("the address of %s cannot be read", name)
	}
	p := toxiproxy.NewProxy(w.server, name, "127.0.0.1:0", u.Host)
	if err := p.Start(); err != nil {
		return "", err
	}
	w.proxies[name] = p
	u.Host = p.Listen
	return u.String(), nil
}

// cut closes the connections and refuses new ones. The returned function mends it.
func (w *wires) cut(name string) (mend func() error) {
	p := w.proxies[name]
	p.Stop()
	return p.Start
}

// poison adds a toxic in both directions. The returned function removes it.
func (w *wires) poison(name, kind string, attributes map[string]int) (mend func() error, err error) {
	toxics := w.proxies[name].Toxics
	for _, stream := range []string{"upstream", "downstream"} {
		text, err := json.Marshal(map[string]any{"name": kind + stream, "type": kind, "stream": stream,
			"attributes": attributes})
		if err != nil {
			return nil, err
		}
		if _, err := toxics.AddToxicJson(strings.NewReader(string(text))); err != nil {
			return nil, err
		}
	}
	return func() error { toxics.ResetToxics(context.Background()); return nil }, nil
}

func (w *wires) stop() {
	for _, p := range w.proxies {
		p.Stop()
	}
}
