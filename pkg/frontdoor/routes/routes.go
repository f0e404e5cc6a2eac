// Package routes reads the table of public path prefixes, charts/belfry/files/routes.yaml. The Ingress, the
// HTTPRoute and the front door of the local run are made from it.
package routes

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml"
)

// Otherwise is the service that gets the paths of a service that is turned off, and those without a row: it answers 404
// there, with the headers of every answer.
const Otherwise = "identity"

// Table maps path prefixes to services.
type Table struct {
	Routes []Row `yaml:"routes"`
}

// Row sends a prefix to a service.
type Row struct {
	Prefix  string `yaml:"prefix"`
	Service string `yaml:"service"`
	Stream  bool   `yaml:"stream"` // answers have no end
}

// Parse reads the table. It returns an error when an Ingress could not express it: prefixes must be absolute, end
// at a segment and be unique. The prefix of all paths is /.
func Parse(text []byte) (Table, error) {
	var t Table
	if err := yaml.UnmarshalWithOptions(text, &t, yaml.Strict()); err != nil {
		return Table{}, fmt.Errorf("read the route table: %w", err)
	}
	seen := map[string]bool{}
	for _, r := range t.Routes {
		if !strings.HasPrefix(r.Prefix, "/") || (strings.HasSuffix(r.Prefix, "/") && r.Prefix != "/") ||
			r.Service == "" || seen[r.Prefix] {
			return Table{}, fmt.Errorf("route table: bad row %q → %q", r.Prefix, r.Service)
		}
		seen[r.Prefix] = true
	}
	return t, nil
}

// Service returns the service of a path, and false when there is none. The longest prefix that ends at a segment
// wins.
func (t Table) Service(path string) (string, bool) {
	best := Row{}
	for _, r := range t.Routes {
		rest, under := strings.CutPrefix(path, r.Prefix)
		if under && (rest == "" || rest[0] == '/' || r.Prefix == "/") && len(r.Prefix) > len(best.Prefix) {
			best = r
		}
	}
	return best.Service, best.Prefix != ""
}

// Addresses are prefixes of paths, and the addresses that serve them, as a setting: comma-separated PREFIX=URL.
type Addresses struct{ Table }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Addresses) UnmarshalText(text []byte) error {
	for pair := range strings.SplitSeq(string(text), ",") {
		prefix, address, _ := strings.Cut(strings.TrimSpace(pair), "=")
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Path != "" || u.Scheme != "http" && u.Scheme != "https" ||
			!strings.HasPrefix(prefix, "/") {
			return errors.New("must be such as /=http://frontdoor:8080")
		}
		a.Routes = append(a.Routes, Row{Prefix: prefix, Service: u.Scheme + "://" + u.Host})
	}
	return nil
}

// Inside is the address of a client whose calls a Transport sends on. It begins with https, so that the client takes a
// cookie that is for TLS alone.
const Inside = "https://belfry.invalid"

// Transport sends each call to the address of its path.
type Transport struct {
	Addresses
	Through http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	address, found := t.Service(r.URL.Path)
	if !found {
		return nil, fmt.Errorf("no address is given for %s", r.URL.Path)
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, _ = strings.Cut(address, "://")
	r.Host = ""
	return t.Through.RoundTrip(r)
}
