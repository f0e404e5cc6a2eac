package walkthrough

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
	"strings"
	"sync"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// mailServer is an SMTP server that keeps what it takes. It takes any login, and with a certificate nothing before STARTTLS.
type mailServer struct {
	server *smtp.Server
	listen net.Listener
	secure bool

	mu    sync.Mutex
	mails []letter
}

// letter is a mail as its reader sees it.
type letter struct {
	to, subject, messageID string
	text, html             string
}

func startMailServer(address string, certificate *tls.Certificate) (*mailServer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	m := &mailServer{listen: listener, secure: certificate != nil}
	m.server = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &mailSession{server: m, conn: c}, nil }))
	m.server.Domain, m.server.AllowInsecureAuth = "conformance.invalid", true
	if certificate != nil {
		m.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
	}
	go func() { _ = m.server.Serve(listener) }() // it ends with close
	return m, nil
}

func (m *mailServer) close() { _ = errors.Join(m.server.Close(), m.listen.Close()) }

// taken returns all mails so far, each Message-ID once: who sends again tells it by that.
func (m *mailServer) taken() []letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	var once []letter
	for _, l := range m.mails {
		if !slices.ContainsFunc(once, func(other letter) bool { return other.messageID == l.messageID }) {
			once = append(once, l)
		}
	}
	return once
}

// items returns what a person was told, one text for each entry of a mail: "Decided: Concert: Hall was confirmed by Kim. Reason: fine". Several
// notices may share a mail.
func (m *mailServer) items(address string) []string {
	items := []string{}
	for _, l := range m.taken() {
		if l.to != address {
			continue
		}
		said, _, _ := strings.Cut(l.text, "\n-- \n") // the rest is the signature
		for block := range strings.SplitSeq(strings.TrimSpace(said), "\n\n") {
			lines := strings.Split(block, "\n")
			for i, line := range lines {
				if entry, ok := strings.CutPrefix(line, "- "); ok {
					if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  Reason: ") {
						entry += " " + strings.TrimSpace(lines[i+1])
					}
					items = append(items, lines[0]+": "+entry)
				}
			}
		}
	}
	return items
}

type mailSession struct {
	server *mailServer
	conn   *smtp.Conn
	to     []string
}

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, _, _ string) error { return nil }), nil
}

func (s *mailSession) Mail(string, *smtp.MailOptions) error {
	if _, encrypted := s.conn.TLSConnectionState(); s.server.secure && !encrypted {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Must issue a STARTTLS command first"}
	}
	return nil
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	l, err := readLetter(r)
	if err != nil {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: err.Error()}
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	for _, l.to = range s.to {
		s.server.mails = append(s.server.mails, l)
	}
	return nil
}

func (s *mailSession) Reset()        { s.to = nil }
func (s *mailSession) Logout() error { return nil }

// readLetter reads a mail, which must have a Message-ID, a plain text and an HTML part.
func readLetter(r io.Reader) (letter, error) {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return letter{}, err
	}
	l := letter{messageID: m.Header.Get("Message-ID")}
	if l.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		return letter{}, err
	}
	media, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || media != "multipart/alternative" {
		return letter{}, fmt.Errorf("a mail that is %s, not multipart/alternative", media)
	}
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return letter{}, err
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			return letter{}, err
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		switch readable := strings.ReplaceAll(string(body), "\r\n", "\n"); kind {
		case "text/plain":
			l.text = readable
		case "text/html":
			l.html = readable
		}
	}
	if l.messageID == "" || l.text == "" || l.html == "" {
		return letter{}, errors.New("a mail without a Message-ID, a plain text or an HTML part")
	}
	return l, nil
}
