package sender

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	netmail "net/mail"
	"net/netip"
	"strings"
	texttemplate "text/template"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

//go:embed templates
var templates embed.FS

const (
	// mailTimeout bounds the connection to the mail server, and then the talk about a mail. Servers that examine a mail
	// before they accept it take their time, and would get it again if they were not awaited (RFC 5321, 4.5.3.2).
	mailTimeout = 5 * time.Minute
	// mailGrace is how long a mail may still take when the work has to stop. It is well below the lease's time to live.
	mailGrace = 5 * time.Second
	// mailFarewell is how long the server may take to answer QUIT. It is below mailGrace, so that a mail that the
	// server took counts as sent.
	mailFarewell = 2 * time.Second
)

// Mail implements notice.Mail with one server. It is safe for concurrent use.
type Mail struct {
	client *gomail.Client
	from   *netmail.Address
	text   *texttemplate.Template
	html   *htmltemplate.Template
}

// NewMail returns it; nil when no mail server is configured.
func NewMail(s *Settings) (notice.Mail, error) {
	if s.SMTPHost == "" {
		return nil, nil
	}
	from, err := netmail.ParseAddress(s.MailFrom)
	if err != nil {
		return nil, errors.New("BELFRY_MAIL_FROM: not an address")
	}
	options := []gomail.Option{
		gomail.WithPort(s.SMTPPort), gomail.WithTimeout(mailTimeout), protections[s.SMTPTLS],
		gomail.WithoutRset(), // a connection has one mail
	}
	if s.SMTPUsername != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(s.SMTPUsername), gomail.WithPassword(s.SMTPPassword.Reveal()))
	}
	m := &Mail{from: from}
	host := s.SMTPHost
	if isIPv6(host) {
		host = "[" + host + "]" // the library appends the port as it is
	}
	if m.client, err = gomail.NewClient(host, options...); err != nil {
		return nil, fmt.Errorf("BELFRY_SMTP_HOST: %w", err)
	}
	if m.text, err = texttemplate.ParseFS(templates, "templates/mail.txt"); err != nil {
		return nil, err
	}
	m.html, err = htmltemplate.ParseFS(templates, "templates/mail.html")
	return m, err
}

func isIPv6(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.Is6()
}

// letter is what the templates show.
type letter struct {
	Name  string
	Items []notice.Item
}

// compose makes the mail of some items of one user. Its Message-ID is made of the first item's, so that one that is
// sent again is known by it.
func (m *Mail) compose(to netmail.Address, items []notice.Item) (*gomail.Msg, error) {
	l := letter{Name: to.Name, Items: items}
	var text, html bytes.Buffer
	if err := errors.Join(m.text.Execute(&text, l), m.html.Execute(&html, l)); err != nil {
		return nil, err
	}
	msg := gomail.NewMsg()
	msg.FromMailAddress(m.from)
	msg.ToMailAddress(&to)
	subject := fmt.Sprintf("%d notices", len(items))
	if len(items) == 1 {
		subject = items[0].Heading + ": " + fact.OneLine(items[0].Title, notice.MaxSubject)
	}
	msg.Subject(subject)
	domain := m.from.Address[strings.LastIndex(m.from.Address, "@"):] // a quoted local part may have one too
	msg.SetMessageIDWithValue(items[0].Mail + domain)
	msg.SetDate()
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, text.String())
	msg.AddAlternativeString(gomail.TypeTextHTML, html.String())
	return msg, nil
}

// talk gives a mail to the server. Ctx ends it only while it connects.
func (m *Mail) talk(ctx context.Context, msg *gomail.Msg) error {
	connection, err := m.client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	err = m.client.SendWithSMTPClient(connection, msg)
	_ = connection.UpdateDeadline(mailFarewell)
	_ = connection.Quit() // its answer does not matter: the mail is sent or not
	_ = connection.Close()
	return err
}

// Send implements notice.Mail.
func (m *Mail) Send(ctx context.Context, to netmail.Address, items []notice.Item) error {
	msg, err := m.compose(to, items)
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() { sent <- m.talk(ctx, msg) }()
	select {
	case err = <-sent:
	case <-ctx.Done():
		select {
		case err = <-sent:
		case <-time.After(mailGrace):
			return ctx.Err()
		}
	}
	if err == nil {
		return nil
	}
	var said *gomail.SendError
	switch {
	case !errors.As(err, &said):
		return err
	case said.ErrorCode() == 0: // no answer
		text, _, _ := strings.Cut(said.Error(), ", affected ") // the addresses and the id of the mail
		return errors.New(text)
	}
	return notice.RefusedError{
		Text:  fmt.Sprintf("%s: %d %s", said.Reason, said.ErrorCode(), said.EnhancedStatusCode()),
		Final: !said.IsTemp() && said.Reason == gomail.ErrSMTPRcptTo,
	}
}
