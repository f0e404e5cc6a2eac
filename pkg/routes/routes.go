// Package routes reads the one table of public path prefixes, charts/belfry/files/routes.yaml, from which Ingress, HTTPRoute and the
// front door of the local run are made.
package routes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// Table maps path prefixes to services.
type Table struct {
	Routes []Row `yaml:"routes"`
}

// Row sends a prefix to a service.
type Row struct {
	Prefix  string `yaml:"prefix"`
	Service string `yaml:"service"`
}

// Parse reads the table and refuses one that no Ingress could express: prefixes are absolute, end at a segment and come once.
func Parse(text []byte) (Table, error) {
	var t Table
	if err := yaml.UnmarshalWithOptions(text, &t, yaml.Strict()); err != nil {
		return Table{}, fmt.Errorf("read the route table: %w", err)
	}
	seen := map[string]bool{}
	for _, r := range t.Routes {
		if !strings.HasPrefix(r.Prefix, "/") || strings.HasSuffix(r.Prefix, "/") || r.Service == "" || seen[r.Prefix] {
			return Table{}, fmt.Errorf("route table: bad row %q → %q", r.Prefix, r.Service)
		}
		seen[r.Prefix] = true
	}
	return t, nil
}

// Service returns the service that a path belongs to, and false when none does: the longest prefix that ends at a segment wins.
func (t Table) Service(path string) (string, bool) {
	best := Row{}
	for _, r := range t.Routes {
		rest, under := strings.CutPrefix(path, r.Prefix)
		if under && (rest == "" || rest[0] == '/') && len(r.Prefix) > len(best.Prefix) {
			best = r
		}
	}
	return best.Service, best.Prefix != ""
}

// Find reads the table of the checkout that the working directory is in.
func Find() (Table, error) {
	root, err := Checkout()
	if err != nil {
		return Table{}, err
	}
	text, err := os.ReadFile(filepath.Join(root, "charts", "belfry", "files", "routes.yaml"))
	if err != nil {
		return Table{}, err
	}
	return Parse(text)
}

// Checkout returns the root of the checkout that the working directory is in: the folder with go.work.
func Checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside a checkout of Belfry: no go.work above the working directory")
		}
		dir = parent
	}
}
