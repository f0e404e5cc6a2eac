package proxies

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const direct = "directly"

// proxy is a program between clients and Belfry. Its configuration keeps one idle connection to Belfry, so that
// clients share it.
type proxy struct {
	name    string
	program func() (path string, err error) // nil: none, Belfry is asked itself
	// arguments are those of the program, whose folder has the files.
	arguments func(folder string) []string
	files     map[string]string // in which LISTEN, BELFRY and FOLDER stand for what they say
}

var proxies = []proxy{
	{name: direct},
	{
		name:      "nginx",
		program:   func() (string, error) { return exec.LookPath("nginx") },
		arguments: func(folder string) []string { return []string{"-p", folder, "-c", folder + "/nginx.conf"} },
		files: map[string]string{"nginx.conf": `
daemon off;
worker_processes 1;
pid FOLDER/nginx.pid;
error_log FOLDER/error.log;
events {}
http {
	access_log off;
	client_body_temp_path FOLDER/body;
	proxy_temp_path FOLDER/proxy;
	fastcgi_temp_path FOLDER/fastcgi;
	uwsgi_temp_path FOLDER/uwsgi;
	scgi_temp_path FOLDER/scgi;
	upstream belfry {
		server BELFRY;
		keepalive 1;
	}
	server {
		listen LISTEN;
		location / {
			proxy_pass http://belfry;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_request_buffering off;
		}
	}
}
`},
	},
	{
		name:      "HAProxy",
		program:   func() (string, error) { return exec.LookPath("haproxy") },
		arguments: func(folder string) []string { return []string{"-db", "-f", folder + "/haproxy.cfg"} },
		files: map[string]string{"haproxy.cfg": `
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
	http-reuse always
frontend clients
	bind LISTEN
	default_backend belfry
backend belfry
	server belfry BELFRY pool-max-conn 1
`},
	},
	{
		name:    "Traefik",
		program: findTraefik,
		arguments: func(folder string) []string {
			return []string{"--configfile=" + folder + "/traefik.yaml"}
		},
		files: map[string]string{"traefik.yaml": `
global: {checkNewVersion: false, sendAnonymousUsage: false}
entryPoints: {clients: {address: "LISTEN"}}
serversTransport: {maxIdleConnsPerHost: 1}
providers: {file: {filename: FOLDER/routes.yaml}}
`, "routes.yaml": `
http:
  routers: {belfry: {rule: "PathPrefix(` + "`/`" + `)", service: belfry}}
  services: {belfry: {loadBalancer: {servers: [{url: "http://BELFRY"}]}}}
`},
	},
}

// findTraefik finds the program that test/cluster builds, or another on the PATH.
func findTraefik() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	built, err := filepath.Glob(filepath.Join(cache, "belfry/bin/traefik-v*/traefik"))
	if err == nil && len(built) > 0 {
		return built[len(built)-1], nil
	}
	return exec.LookPath("traefik")
}

// start runs the proxy before Belfry until the test ends, and returns where it listens.
func (p proxy) start(t *testing.T, belfry string) string {
	t.Helper()
	if p.program == nil {
		return belfry
	}
	path, err := p.program()
	if err != nil {
		t.Skipf("%s is not on this machine: %v", p.name, err)
	}
	listen, err := frontdoor.Addresses(1)
	errortest.None(t, err)
	folder := t.TempDir()
	replaced := strings.NewReplacer("LISTEN", listen[0], "BELFRY", belfry, "FOLDER", folder)
	for name, text := range p.files {
		errortest.None(t, os.WriteFile(filepath.Join(folder, name), []byte(replaced.Replace(text)), 0o600))
	}
	servicetest.RunProxy(t, exec.Command(path, p.arguments(folder)...), listen[0])
	return listen[0]
}
