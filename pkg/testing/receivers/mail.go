package receivers

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// The login of a mail server with MailOptions.Login.
const (
	Username = "belfry"
	Password = "mail-password-of-the-test"
)

// MailOptions describe a mail server. The zero value accepts any mail at a free port of 127.0.0.1.
type MailOptions struct {
	Address string // to listen at, host:port; "": a free port of 127.0.0.1
	// Certificate is for STARTTLS, without which no mail is accepted. Implicit uses TLS from the start, as servers
	// at port 465 do.
	Certificate *tls.Certificate
	Implicit    bool
	// Login makes the server require a login under TLS, as Username with Password. Otherwise it accepts any login
	// and requires none.
	Login bool
}

// MailServer is a real SMTP server that keeps the mails it accepts. It is safe for concurrent use.
type MailServer struct {
	Host string
	Port int

	options MailOptions

	mu     sync.Mutex
	server *smtp.Server
	listen net.Listener
	mails  []Mail
	refuse func(to string) error // called for each recipient
	taken  func(to string)       // called for each accepted mail, before the answer
}

// Mail is an accepted mail, as its reader sees it.
type Mail struct {
	To     []string
	Raw    string
	Header mail.Header
	TLS    bool

	ID         string // its Message-ID
	Subject    string
	Text, HTML string // lines end with \n
}

// StartMailServer starts a server. It refuses a mail that lacks a Message-ID, a plain text or an HTML part.
func StartMailServer(o MailOptions) (*MailServer, error) {
	m := &MailServer{options: o}
	if err := m.start(o.Address); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *MailServer) start(address string) error {
	listener, err := listen(address)
	if err != nil {
		return err
	}
	at := listener.Addr().(*net.TCPAddr)
	m.Host, m.Port = at.IP.String(), at.Port
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &mailSession{server: m, conn: c}, nil
	}))
	server.Domain, server.AllowInsecureAuth = "mail.test", !m.options.Login
	accepting := listener
	if m.options.Certificate != nil {
		server.TLSConfig = tlsConfig(m.options.Certificate)
	}
	if m.options.Implicit {
		accepting = tls.NewListener(listener, server.TLSConfig)
	}
	m.mu.Lock()
	m.server, m.listen = server, listener
	m.mu.Unlock()
	go func() { _ = server.Serve(accepting) }() // Stop ends it
	return nil
}

// Address returns host:port of the server.
func (m *MailServer) Address() string { return net.JoinHostPort(m.Host, strconv.Itoa(m.Port)) }

// Stop stops the server and closes its connections. Restart starts it again at the same port.
func (m *MailServer) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.listen.Close() // the server may not be listening yet
	_ = m.server.Close()
}

// Restart starts a stopped server again at the same port.
func (m *MailServer) Restart() error { return m.start(m.Address()) }

// Refuse sets the function that decides on each recipient: an error refuses it; nil accepts all.
func (m *MailServer) Refuse(refuse func(to string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = refuse
}

// OnTaken sets a function that is called for each mail that was kept, before the answer; nil: none.
func (m *MailServer) OnTaken(taken func(to string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = taken
}

// Taken returns all mails so far, each Message-ID once, since a mail that is sent again keeps its Message-ID.
func (m *MailServer) Taken() []Mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	var once []Mail
	for _, mail := range m.mails {
		if !slices.ContainsFunc(once, func(other Mail) bool { return other.ID == mail.ID }) {
			once = append(once, mail)
		}
	}
	return once
}

// To returns the mails to an address so far, including repeated ones.
func (m *MailServer) To(address string) []Mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []Mail
	for _, mail := range m.mails {
		if slices.Contains(mail.To, address) {
			found = append(found, mail)
		}
	}
	return found
}

type mailSession struct {
	server   *MailServer
	conn     *smtp.Conn
	loggedIn bool
	to       []string
}

func (s *mailSession) encrypted() bool {
	_, ok := s.conn.TLSConnectionState()
	return ok
}

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		o := s.server.options
		if o.Login && (!s.encrypted() || username != Username || password != Password) {
			return errors.New("refused")
		}
		s.loggedIn = true
		return nil
	}), nil
}

func (s *mailSession) Mail(string, *smtp.MailOptions) error {
	o := s.server.options
	switch {
	case o.Certificate != nil && !s.encrypted():
		return refusal(530, smtp.EnhancedCode{5, 7, 0}, "Must issue a STARTTLS command first")
	case o.Login && !s.loggedIn:
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
	m, err := readMail(string(raw))
	if err != nil {
		return refusal(554, smtp.EnhancedCode{5, 6, 0}, err.Error())
	}
	m.To, m.TLS = s.to, s.encrypted()
	if taken := s.keep(m); taken != nil {
		taken(s.to[0])
	}
	return nil
}

// keep keeps a mail. It returns the function to call before the answer, if any.
func (s *mailSession) keep(m Mail) (taken func(to string)) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.mails = append(s.server.mails, m)
	return s.server.taken
}

func refusal(code int, enhanced smtp.EnhancedCode, message string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: message}
}

func (s *mailSession) Reset()        { s.to = nil }
func (s *mailSession) Logout() error { return nil }

// readMail reads a mail, which must have a Message-ID, a plain text and an HTML part.
func readMail(raw string) (Mail, error) {
	read, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return Mail{}, err
	}
	m := Mail{Raw: raw, Header: read.Header, ID: read.Header.Get("Message-ID")}
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		return Mail{}, err
	}
	media, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || media != "multipart/alternative" {
		return Mail{}, fmt.Errorf("a mail that is %s, not multipart/alternative", media)
	}
	for parts := multipart.NewReader(read.Body, parameters["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Mail{}, err
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			return Mail{}, err
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		switch readable := strings.ReplaceAll(string(body), "\r\n", "\n"); kind {
		case "text/plain":
			m.Text = readable
		case "text/html":
			m.HTML = readable
		}
	}
	if m.ID == "" || m.Text == "" || m.HTML == "" {
		return Mail{}, errors.New("a mail without a Message-ID, a plain text or an HTML part")
	}
	return m, nil
}
