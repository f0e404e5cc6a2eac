// Package walkthrough takes an empty deployment of Belfry to a running school, with calls of its documented
// interface and nothing else: people and things come in, a controlled booking goes through every move that there
// is, minibuses are allocated, times are compared, calendars are read, and the audit tells who did it. What the
// deployment says by e-mail and webhook is taken by real receivers here. Every step is told as it is made: what was
// called, what was expected and what came. It stops at the first difference.
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

// Options say what is walked through.
type Options struct {
	URL       string         // of the deployment, such as https://belfry.school.example
	AdminUUID string         // of its first administrator
	Zone      *time.Location // of the deployment

	// MailListen is the address, host:port, of the mail server that takes the deployment's mails, MailListen ""
	// takes none. The deployment's BELFRY_SMTP_HOST and BELFRY_SMTP_PORT lead to it.
	MailListen string
	// HookListen is the address of the webhook's endpoint, HookURL where the deployment reaches it; "" is the
	// address itself. HookListen "" has none.
	HookListen, HookURL string
	// Certificate is what both receivers show, if set: then mail is taken by STARTTLS only, and the endpoint is https.
	Certificate *tls.Certificate
	// Patience is how long a notice may take; 0: a minute.
	Patience time.Duration
	// Documented ends the walk at an exchange that is not as the interface's document says.
	Documented bool
}

// DifferenceError says where the deployment did not do what it promises.
type DifferenceError struct {
	Step          int
	What          string
	Expected, Got string
}

func (e *DifferenceError) Error() string {
	return fmt.Sprintf("step %d: %s\n  expected: %s\n  got:      %s", e.Step, e.What, e.Expected, e.Got)
}

// ErrNotEmpty says that there is a school already.
var ErrNotEmpty = errors.New("there is a school already: this walk is for an empty deployment, whose first administrator is its only user")

// chapter is a part of the walk. Later ones build on what the earlier have made.
type chapter struct {
	title string
	walk  func(*walk)
}

// chapters returns the walk. A new subject is a line here and a function in a file of its own.
func chapters() []chapter {
	return []chapter{
		{"Nothing is there but the first administrator", emptyDeployment},
		{"Categories and elements of each type", elements},
		{"A batch is imported", importing},
		{"Members by date", members},
		{"Users, and what they administer", users},
		{"A webhook is registered", registering},
		{"A controlled booking", booking},
		{"Every move of a decision, and every one that is none", everyMove},
		{"Re-timed, it is to be decided again", retiming},
		{"A receiver that is away for a while", outage},
		{"Minibuses are allocated", allocating},
		{"Free or busy, and clashes", freeOrBusy},
		{"Calendars and feeds", calendars},
		{"Notes", notes},
		{"A pupil is elsewhere", absences},
		{"In another's place", switching},
		{"The event is deleted", deleting},
		{"Who did what", audit},
		{"Everybody leaves", leaving},
	}
}

// Summary is what a whole walk came to.
type Summary struct {
	Calls, Mails, Notices int // calls made, mails taken, and notices taken by webhook, repeats not counted
	Took                  time.Duration
}

// Run walks, and tells each step on out. A *DifferenceError is what the deployment did otherwise; any other error
// says why it could not be walked through, ErrNotEmpty among them. What it made stays.
func Run(ctx context.Context, o Options, out io.Writer) (Summary, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" ||
		base.User != nil {
		return Summary{}, errors.New("the address must look like https://belfry.school.example")
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	w := newWalk(ctx, o, strings.TrimSuffix(o.URL, "/"), out)
	defer w.close()
	if err := w.listen(); err != nil {
		return Summary{}, err
	}
	began := time.Now()
	for i, c := range chapters() {
		if w.err == nil {
			w.tell("\n== %d. %s\n", i+1, c.title)
			c.walk(w)
		}
	}
	s := Summary{Calls: w.calls, Took: time.Since(began)}
	if w.mail != nil {
		s.Mails = len(w.mail.Taken())
	}
	if w.hook != nil {
		s.Notices = len(notices(w.hook))
	}
	return s, w.err
}
