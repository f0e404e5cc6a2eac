package endtoend_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

// redisPatience bounds whatever a test waits for, on a busy machine.
const redisPatience = time.Minute

// redisNode is a redis-server of a test's own: a server, a sentinel or a node of a cluster.
type redisNode struct {
	address  string
	settings []string // the lines of its file beside those that all have
	options  redis.Options
	client   *redis.Client // of an administrator, with options

	folder  string
	process *process.Process
}

// newRedisNodes returns nodes with addresses of their own that do not run yet. All listen on 127.0.0.1, or, with own,
// on 127.0.0.1, 127.0.0.2 and so on.
func newRedisNodes(t *testing.T, n int, own bool) []*redisNode {
	t.Helper()
	addresses, err := frontdoor.Addresses(n)
	errortest.None(t, err)
	nodes := make([]*redisNode, n)
	for i, address := range addresses {
		if _, port, _ := net.SplitHostPort(address); own {
			address = fmt.Sprintf("127.0.0.%d:%s", i+1, port)
		}
		nodes[i] = &redisNode{address: address, folder: t.TempDir(), options: redis.Options{Addr: address}}
	}
	return nodes
}

func (n *redisNode) host() string { host, _, _ := net.SplitHostPort(n.address); return host }
func (n *redisNode) port() string { _, port, _ := net.SplitHostPort(n.address); return port }

// start starts the node and returns when it answers. It ends with the test. arguments follow the file's name.
func (n *redisNode) start(t *testing.T, arguments ...string) {
	t.Helper()
	lines := append([]string{"bind " + n.host(), "dir " + n.folder, "save \"\"", "daemonize no"}, n.settings...)
	if n.options.TLSConfig == nil {
		lines = append(lines, "port "+n.port())
	}
	file := filepath.Join(n.folder, "redis.conf")
	errortest.None(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	n.options.MaxRetries, n.options.DialerRetries = -1, 1
	n.client, n.process = storetest.RunRedis(t, &n.options, append([]string{file}, arguments...)...)
}

// do sends a command as the administrator, and ends the test when that fails.
func (n *redisNode) do(t *testing.T, words string) any {
	t.Helper()
	arguments := sequence.Map(strings.Fields(words), func(word string) any { return word })
	answer, err := n.client.Do(t.Context(), arguments...).Result()
	if err != nil {
		t.Fatalf("%s: %v", strings.SplitN(words, " ", 2)[0], err)
	}
	return answer
}

func (n *redisNode) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	errortest.None(t, syscall.Kill(n.process.PID(), signal))
}

// authority is a certificate authority of a test's own.
type authority struct {
	file        string // its certificate
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the district"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	errortest.None(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	errortest.None(t, err)
	template, err = x509.ParseCertificate(der)
	errortest.None(t, err)
	a := &authority{filepath.Join(t.TempDir(), "ca.crt"), template, key}
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

// secure gives the node a certificate that names its own address alone, and lets it speak TLS alone.
func (a *authority) secure(t *testing.T, n *redisNode) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	errortest.None(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "redis"},
		NotBefore: a.certificate.NotBefore, NotAfter: a.certificate.NotAfter,
		IPAddresses: []net.IP{net.ParseIP(n.host())}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	errortest.None(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	errortest.None(t, err)
	in := func(name string) string { return filepath.Join(n.folder, name) }
	writePEM(t, in("node.crt"), "CERTIFICATE", der)
	writePEM(t, in("node.key"), "PRIVATE KEY", private)
	writePEM(t, in("ca.crt"), "CERTIFICATE", a.certificate.Raw)
	n.settings = append(n.settings, "port 0", "tls-port "+n.port(), "tls-cert-file "+in("node.crt"),
		"tls-key-file "+in("node.key"), "tls-ca-cert-file "+in("ca.crt"), "tls-auth-clients no")
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	n.options.TLSConfig = &tls.Config{RootCAs: pool, ServerName: n.host()}
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	errortest.None(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}
