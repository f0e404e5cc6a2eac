// Package noticetest has the receivers of notices for tests: a mail server and an HTTP endpoint, both real, which fail, stall and come back as they
// are told.
package noticetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// The login that the mail server takes.
const (
	Username = "belfry"
	Password = "mail-password-of-the-test"
)

// Authority makes a certificate authority, writes its certificate into dir, and returns that file and a certificate of 127.0.0.1. A process trusts
// it by the environment variable SSL_CERT_FILE.
func Authority(dir string) (file string, certificate tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", tls.Certificate{}, err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Belfry's tests"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	root, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		return "", tls.Certificate{}, err
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	leaf, err := x509.CreateCertificate(rand.Reader, server, ca, &key.PublicKey, key)
	if err != nil {
		return "", tls.Certificate{}, err
	}
	file = filepath.Join(dir, "authority.pem")
	err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root}), 0o600)
	return file, tls.Certificate{Certificate: [][]byte{leaf}, PrivateKey: key}, err
}

// MailServer is a real SMTP server that keeps what it takes.
type MailServer struct {
	Host string
	Port int

	implicit bool // TLS from the start

	mu     sync.Mutex
	server *smtp.Server
	listen net.Listener
	mails  []Mail
	refuse func(to string) error // asked for each recipient
	lose   int                   // mails that are taken and whose sender is told that they are not
	taken  func(to string)       // called for each mail that was taken, before its sender is told
}

// Mail is a mail as it was taken.
type Mail struct {
	To     []string
	Raw    string
	Header mail.Header
	TLS    bool
}

// StartMailServer starts a server on any free port of 127.0.0.1; with a certificate it offers STARTTLS, and takes mail only from who logged in under it.
func StartMailServer(certificate *tls.Certificate) (*MailServer, error) {
	m := &MailServer{Host: "127.0.0.1"}
	return m, m.start(certificate)
}

// StartTLSMailServer starts a server that speaks TLS from the start, as those at port 465 do, and takes mail only from who logged in.
func StartTLSMailServer(certificate *tls.Certificate) (*MailServer, error) {
	m := &MailServer{Host: "127.0.0.1", implicit: true}
	return m, m.start(certificate)
}

func (m *MailServer) start(certificate *tls.Certificate) error {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: m.Port})
	if err != nil {
		return err
	}
	m.Port = listener.Addr().(*net.TCPAddr).Port
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &mailSession{server: m, conn: c, open: certificate == nil}, nil
	}))
	server.Domain = "mail.test"
	if certificate != nil {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
	}
	m.mu.Lock()
	m.server, m.listen = server, listener
	m.mu.Unlock()
	accepting := net.Listener(listener)
	if m.implicit {
		accepting = tls.NewListener(listener, server.TLSConfig)
	}
	go func() { _ = server.Serve(accepting) }() // it ends with Stop
	return nil
}

// Stop ends the server with all its connections; Restart starts it again at the same port.
func (m *MailServer) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.listen.Close() // the server may not have begun to listen
	_ = m.server.Close()
}

// Restart starts a stopped server at the same port.
func (m *MailServer) Restart(t testing.TB, certificate *tls.Certificate) {
	t.Helper()
	if err := m.start(certificate); err != nil {
		t.Fatal(err)
	}
}

// Refuse makes the server ask which recipients it takes; nil: all.
func (m *MailServer) Refuse(refuse func(to string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = refuse
}

// Lose makes the server take the next n mails and then say that it could not.
func (m *MailServer) Lose(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lose = n
}

// OnTaken makes the server call taken for each mail that it has kept, before it tells the sender so; nil: no more.
func (m *MailServer) OnTaken(taken func(to string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = taken
}

// To returns the mails to an address so far.
func (m *MailServer) To(address string) []Mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []Mail
	for _, mail := range m.mails {
		for _, to := range mail.To {
			if to == address {
				found = append(found, mail)
			}
		}
	}
	return found
}

type mailSession struct {
	server *MailServer
	conn   *smtp.Conn
	open   bool // no login needed
	to     []string
}

func (s *mailSession) encrypted() bool {
	_, ok := s.conn.TLSConnectionState()
	return ok
}

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if !s.encrypted() || username != Username || password != Password {
			return errors.New("refused")
		}
		s.open = true
		return nil
	}), nil
}

func (s *mailSession) Mail(string, *smtp.MailOptions) error {
	if !s.open {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.server.mu.Lock()
	refuse := s.server.refuse
	s.server.mu.Unlock()
	if refuse != nil {
		if err := refuse(to); err != nil {
			return err
		}
	}
	s.to = append(s.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	read, err := mail.ReadMessage(strings.NewReader(string(raw)))
	if err != nil {
		return err
	}
	lose, taken := s.keep(Mail{To: s.to, Raw: string(raw), Header: read.Header, TLS: s.encrypted()})
	if taken != nil {
		taken(s.to[0])
	}
	if lose {
		return &smtp.SMTPError{Code: 451, Message: "not now"}
	}
	return nil
}

// keep keeps a mail and says whether its sender is to be told that it was not, and who is to hear of it before.
func (s *mailSession) keep(m Mail) (lose bool, taken func(to string)) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.mails = append(s.server.mails, m)
	if lose = s.server.lose > 0; lose {
		s.server.lose--
	}
	return lose, s.server.taken
}

func (s *mailSession) Reset()        { s.to = nil }
func (s *mailSession) Logout() error { return nil }
