// Package walkthrough checks a new deployment of Belfry as a whole, with calls of its documented interface only. In an
// empty deployment it sets up a small school, takes a controlled booking through decisions and a change of its time,
// reads it in calendars and in the audit, and deletes it. Real receivers accept the deployment's e-mails and webhooks.
// It prints each step: the call, what was expected and what came. It stops at the first difference. What each call
// promises in full is tested by test/conformance.
package walkthrough

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// Options say which deployment to walk through, and how.
type Options struct {
	URL       string         // of the deployment, such as https://belfry.school.example
	AdminUUID string         // of its first administrator
	Zone      *time.Location // of the deployment

	// MailListen is the address, host:port, of the mail server for the deployment's mails; "" starts none. The
	// deployment's BELFRY_SMTP_HOST and BELFRY_SMTP_PORT must lead to it.
	MailListen string
	// HookListen is the address, host:port, of the webhook's endpoint; "" starts none. HookURL is where the
	// deployment reaches it; "" is the address itself.
	HookListen, HookURL string
	// Certificate, if set, is the certificate of both receivers: mail then needs STARTTLS, and the endpoint is
	// https.
	Certificate *tls.Certificate
	// Patience is how long a notice may take; 0: one minute.
	Patience time.Duration
	// Documented ends the walk at an exchange that is not as the OpenAPI document says.
	Documented bool
}

// DifferenceError is a difference between what a deployment promises and what it did.
type DifferenceError struct {
	Step          int
	What          string
	Expected, Got string
}

func (e *DifferenceError) Error() string {
	return fmt.Sprintf("step %d: %s\n  expected: %s\n  got:      %s", e.Step, e.What, e.Expected, e.Got)
}

// ErrNotEmpty says that there is a school already.
var ErrNotEmpty = errors.New("there is a school already: this walk is for an empty deployment, " +
	"whose first administrator is its only user")

// chapters are the parts of the walk in order. Each needs what the earlier ones have created.
var chapters = []struct {
	title string
	walk  func(*walk)
}{
	{"Only the first administrator exists", emptyDeployment},
	{"Elements, members, users and administrators", settingUp},
	{"A webhook is registered", registering},
	{"A controlled booking", booking},
	{"Decisions", deciding},
	{"After a change of its time it needs a decision again", retiming},
	{"The webhook's endpoint is unavailable for a while", outage},
	{"Calendars and feeds", calendars},
	{"The event is deleted", deleting},
	{"The audit", audit},
	{"All log out", leaving},
}

// Summary counts what a complete walk did.
type Summary struct {
	Calls, Mails, Notices int // calls made, mails and notices by webhook received, without repeats
	Took                  time.Duration
}

// Run makes the walk, and prints each step to out. It returns a *DifferenceError at the first difference,
// ErrNotEmpty when the deployment holds a school, and another error when the walk could not go on. What it created
// stays.
func Run(ctx context.Context, o Options, out io.Writer) (Summary, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" ||
		base.User != nil {
		return Summary{}, errors.New("the address must look like https://belfry.school.example")
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	w := newWalk(ctx, o, out)
	defer w.close()
	if err := w.listen(); err != nil {
		return Summary{}, err
	}
	began := time.Now()
	for i, c := range chapters {
		if w.err == nil {
			w.printf("\n== %d. %s\n", i+1, c.title)
			c.walk(w)
		}
	}
	s := Summary{Calls: w.calls, Took: time.Since(began)}
	if w.mail != nil {
		s.Mails = len(w.mail.Taken())
	}
	if w.hook != nil {
		s.Notices = len(w.notices())
	}
	return s, w.err
}
