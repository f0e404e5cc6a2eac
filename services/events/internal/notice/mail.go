package notice

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"math/rand/v2"
	netmail "net/mail"
	"strings"
	texttemplate "text/template"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/belfry-schools/belfry/pkg/fact"
)

const (
	// mailItems bounds the items of one mail; the rest goes with the next.
	mailItems = 100
	// mailReaders bounds how many mails one round sends.
	mailReaders = 100
	// mailTimeout bounds the talk with the mail server for one mail. It is well below the lease's time to live.
	mailTimeout = 10 * time.Second
	// mailPatience is how long a mail is tried that the server takes from nobody or not for its reader (RFC 5321,
	// 4.5.4.1: four to five days).
	mailPatience = 5 * 24 * time.Hour
	// mailPause and longestMailPause bound the pause before a mail is tried again.
	mailPause        = 10 * time.Second
	longestMailPause = 30 * time.Minute
)

//go:embed templates
var templates embed.FS

// mailer sends mail through one server.
type mailer struct {
	client   *gomail.Client
	from     *netmail.Address
	settings *Settings
	text     *texttemplate.Template
	html     *htmltemplate.Template
}

func newMailer(s *Settings) (*mailer, error) {
	from, err := netmail.ParseAddress(s.MailFrom)
	if err != nil {
		return nil, errors.New("BELFRY_MAIL_FROM: not an address")
	}
	options := []gomail.Option{gomail.WithPort(s.SMTPPort), gomail.WithTimeout(mailTimeout)}
	switch s.SMTPTLS {
	case tlsImplicit:
		options = append(options, gomail.WithSSL())
	case tlsOpportunistic:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	case tlsNone:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.SMTPUsername != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(s.SMTPUsername), gomail.WithPassword(s.SMTPPassword.Reveal()))
	}
	m := &mailer{from: from, settings: s}
	if m.client, err = gomail.NewClient(s.SMTPHost, options...); err != nil {
		return nil, fmt.Errorf("BELFRY_SMTP_HOST: %w", err)
	}
	if m.text, err = texttemplate.ParseFS(templates, "templates/mail.txt"); err != nil {
		return nil, err
	}
	m.html, err = htmltemplate.ParseFS(templates, "templates/mail.html")
	return m, err
}

// letter is what the templates show.
type letter struct {
	Name  string
	Items []shownItem
}

type shownItem struct {
	Item
	Heading string
	Link    string // of the event; "" without a public address
}

// compose makes the mail of some items of one user. Its Message-ID is made of the first item's, so that one that is
// sent again is known by it.
func (m *mailer) compose(to netmail.Address, items []Item) (*gomail.Msg, error) {
	l := letter{Name: to.Name}
	for _, i := range items {
		link := m.settings.link(fmt.Sprintf("/api/events/%d", i.EventID))
		l.Items = append(l.Items, shownItem{Item: i, Heading: heading(i.Kind), Link: link})
	}
	var text, html bytes.Buffer
	if err := errors.Join(m.text.Execute(&text, l), m.html.Execute(&html, l)); err != nil {
		return nil, err
	}
	msg := gomail.NewMsg()
	msg.FromMailAddress(m.from)
	msg.ToMailAddress(&to)
	subject := fmt.Sprintf("%d notices", len(items))
	if len(items) == 1 {
		subject = heading(items[0].Kind) + ": " + fact.OneLine(items[0].Title, maxSubject)
	}
	msg.Subject(subject)
	_, domain, _ := strings.Cut(m.from.Address, "@")
	msg.SetMessageIDWithValue(items[0].Mail + "@" + domain)
	msg.SetDate()
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, text.String())
	msg.AddAlternativeString(gomail.TypeTextHTML, html.String())
	return msg, nil
}

// sendMail sends a round of mails, one to each user with an item that is due, over a connection each. When the
// server can't be reached the round ends: all mail waits.
func (s *Service) sendMail(ctx context.Context) error {
	readers, err := s.Store.Readers(ctx, time.Now(), mailReaders)
	if err != nil || len(readers) == 0 {
		return err
	}
	users, err := s.usersOf(ctx, readers)
	if err != nil {
		return err
	}
	for _, id := range readers {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		user := users[id]
		to := netmail.Address{Name: fact.OneLine(user.Name, maxSubject), Address: user.Email}
		if err := s.sendTo(ctx, id, to, user.Active); err != nil {
			return err
		}
	}
	return nil
}

// sendTo sends a user's next mail. Its error is the store's, or says that the server can't be reached.
func (s *Service) sendTo(ctx context.Context, userID int64, to netmail.Address, active bool) error {
	items, err := s.Store.NextMail(ctx, userID, mailItems)
	if err != nil || len(items) == 0 {
		return err
	}
	mail, oldest := items[0].Mail, items[0].At // items are in the order of their times
	// When the mail was put off, something new has come for its reader.
	if later := items[0].DueAt; later.After(time.Now()) {
		return s.Store.Postpone(ctx, userID, later)
	}
	if _, err := netmail.ParseAddress(to.Address); err != nil || !active {
		s.Log.WarnContext(
			ctx, "mail can't be sent: the user is not active or has no address", "user", userID, "mail", mail,
		)
		s.tried(ctx, "mail", "failed")
		return s.Store.EndMail(ctx, userID, mail, "the user is not active or has no address")
	}
	msg, err := s.mailer.compose(to, items)
	if err != nil {
		return err
	}
	refused, err := s.mailer.send(ctx, msg)
	switch {
	case err == nil:
		s.tried(ctx, "mail", "sent")
		ctx, cancel := lastWord(ctx)
		defer cancel()
		return s.Store.EndMail(ctx, userID, mail, "")
	case ctx.Err() != nil:
		return ctx.Err()
	case refused || time.Since(oldest) > mailPatience:
		s.Log.WarnContext(ctx, "a mail was refused and is given up", "user", userID, "mail", mail, "error", err)
		s.tried(ctx, "mail", "failed")
		return s.Store.EndMail(ctx, userID, mail, err.Error())
	}
	s.tried(ctx, "mail", "again")
	if stored := s.Store.Postpone(ctx, userID, time.Now().Add(mailWait(time.Since(oldest)))); stored != nil {
		return stored
	}
	if answered := (*answeredError)(nil); errors.As(err, &answered) {
		s.Log.WarnContext(ctx, "a mail is sent later", "user", userID, "mail", mail, "error", err)
		return nil
	}
	return fmt.Errorf("the mail server: %w", err)
}

// mailWait is the pause before a mail is tried again: half its age, within bounds, give or take a quarter.
func mailWait(age time.Duration) time.Duration {
	wait := min(max(age/2, mailPause), longestMailPause)
	return wait*3/4 + rand.N(wait/2)
}

// answeredError is what the server said to a mail.
type answeredError struct{ text string }

func (e *answeredError) Error() string { return e.text }

// send gives a mail to the server. Refused says that it will never be taken for this reader. No address is in the
// error.
func (m *mailer) send(ctx context.Context, msg *gomail.Msg) (refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	err = m.client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() { // an error in taking leave of the server does not matter
		return false, nil
	}
	var said *gomail.SendError
	if !errors.As(err, &said) || said.ErrorCode() == 0 {
		return false, err
	}
	refused = !said.IsTemp() && said.Reason == gomail.ErrSMTPRcptTo
	return refused, &answeredError{fmt.Sprintf("%s: %d %s", said.Reason, said.ErrorCode(), said.EnhancedStatusCode())}
}
