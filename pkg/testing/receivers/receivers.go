// Package receivers has the receivers of notices for tests and checks: a mail server and a webhook's endpoint, both
// real. They keep what they receive and report what is wrong with it. A test can make them fail, stall and recover.
package receivers

import (
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
)

// Authority writes the certificate of a certificate authority into dir. It returns that file and a certificate for
// 127.0.0.1. A process with the file in SSL_CERT_FILE trusts it.
func Authority(dir string) (file string, certificate tls.Certificate, err error) {
	server := httptest.NewTLSServer(nil) // its certificate is its own authority's
	defer server.Close()
	file = filepath.Join(dir, "authority.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return file, server.TLS.Certificates[0], os.WriteFile(file, text, 0o600)
}

func listen(address string) (net.Listener, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	return net.Listen("tcp", address)
}

func tlsConfig(certificate *tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
}
