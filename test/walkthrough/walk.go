package walkthrough

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const (
	// callTimeout bounds one call.
	callTimeout = 30 * time.Second
	// pause is the time between two checks whether a notice has come.
	pause = 50 * time.Millisecond
	// mostShown is the most that is printed of a body, in bytes.
	mostShown = 300
)

// person is a user with a session of their own.
type person struct {
	name, email string
	id          int64
	uuid        string
	client      *servicetest.Client // nil before the first call
}

// walk is the state of a walk. After the first difference it makes no more calls and answers are empty, so chapters
// need no error handling.
type walk struct {
	Options
	ctx       context.Context //nolint:containedctx // a walk lives as long as its context
	out       io.Writer
	transport *http.Transport
	mail      *receivers.MailServer // nil: mail is not checked
	hook      *receivers.Endpoint   // nil: webhooks are not checked

	calls, step int
	err         error

	school // what has been created
}

func newWalk(ctx context.Context, o Options, out io.Writer) *walk {
	return &walk{Options: o, ctx: ctx, out: out, transport: http.DefaultTransport.(*http.Transport).Clone()}
}

// listen starts the receivers.
func (w *walk) listen() (err error) {
	if w.MailListen != "" {
		o := receivers.MailOptions{Address: w.MailListen, Certificate: w.Certificate}
		if w.mail, err = receivers.StartMailServer(o); err != nil {
			return fmt.Errorf("listen for mail: %w", err)
		}
	}
	if w.HookListen != "" {
		o := receivers.EndpointOptions{Address: w.HookListen, URL: w.HookURL, Certificate: w.Certificate}
		if w.hook, err = receivers.StartEndpoint(o); err != nil {
			return fmt.Errorf("listen for the webhook: %w", err)
		}
	}
	return nil
}

func (w *walk) close() {
	if w.mail != nil {
		w.mail.Stop()
	}
	if w.hook != nil {
		w.hook.Close()
	}
	w.transport.CloseIdleConnections()
}

// secrets matches what is not printed: uuids and the webhook's secret in bodies, the uuid of a login, and the
// addresses of feeds.
var secrets = regexp.MustCompile(
	`("(?:uuid|secret)":")[^"]+|(login\?uuid=)\S+|(/ical/)[^."/]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{1,22}`)

// hidden returns a text without its secrets.
func hidden(text string) string { return secrets.ReplaceAllString(text, "$1$2$3…") }

// printf prints a line of a step. Callers pass texts that may hold a secret through hidden.
func (w *walk) printf(format string, args ...any) { fmt.Fprintf(w.out, format, args...) }

// differ ends the walk with a difference.
func (w *walk) differ(what, expected, got string) {
	if w.err != nil {
		return
	}
	difference := &DifferenceError{w.step, hidden(what), hidden(expected), hidden(got)}
	w.err = difference
	w.printf("     DIFFERENT: %s\n       expected: %s\n       got:      %s\n",
		difference.What, difference.Expected, difference.Got)
}

// fail ends the walk for a reason other than an answer of the deployment.
func (w *walk) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// check compares a value that was derived from answers.
func (w *walk) check(what string, want, got any) {
	if w.err != nil {
		return
	}
	expected, came := text(want), text(got)
	if expected != came {
		w.differ(what, expected, came)
		return
	}
	w.printf("     and %s: %s\n", what, short(came))
}

// await is check for a value that comes later: it repeats got until the value is as expected, for Patience at most.
func (w *walk) await(what string, want any, got func() any) {
	if w.err != nil {
		return
	}
	began, expected := time.Now(), text(want)
	for {
		came := text(got())
		if came == expected {
			w.printf("     and within %.1f s %s: %s\n", time.Since(began).Seconds(), what, short(came))
			return
		}
		if time.Since(began) > w.Patience {
			w.differ(fmt.Sprintf("%s (waited %v)", what, w.Patience), expected, came)
			return
		}
		select {
		case <-time.After(pause):
		case <-w.ctx.Done():
			w.fail(w.ctx.Err())
			return
		}
	}
}

// call makes a call as a person, or without a session when that is nil, and checks the code and the expectations. A
// string is sent as it is, any other body as JSON; nil is no body.
func (w *walk) call(as *person, method, path string, body any, code int, wants ...expectation) answer {
	return w.callWith(as, method, path, body, nil, code, wants...)
}

// callWith is call with headers: names and values.
func (w *walk) callWith(as *person, method, path string, body any, headers []string, code int,
	wants ...expectation) answer {
	a := answer{walk: w}
	if w.err != nil {
		return a
	}
	sent, isText := body.(string)
	if body != nil && !isText {
		sent = text(body)
		body = sent
	}
	w.step++
	who := "without a session"
	if as != nil {
		who = as.name
	}
	a.request = method + " " + path
	w.printf("%3d. %s: %s\n     expected: %d%s\n", w.step, who, strings.TrimSpace(hidden(a.request)+" "+short(sent)),
		code, listed(wants))
	if err := w.send(as, method, path, body, headers, &a); err != nil {
		w.fail(fmt.Errorf("step %d: %s: %w", w.step, hidden(a.request), err))
		return a
	}
	w.printf("     came:     %d %s\n", a.Code, short(a.shown()))
	if a.Code != code {
		w.differ(a.request, fmt.Sprint(code), fmt.Sprintf("%d %s", a.Code, a.Body))
	}
	for _, want := range wants {
		if got, ok := want.compare(a); w.err == nil && !ok {
			w.differ(a.request+", "+want.what, want.text, got+"\n       of:       "+a.Body)
		}
	}
	return a
}

// send makes a call as a person, or without a session when that is nil.
func (w *walk) send(as *person, method, path string, body any, headers []string, a *answer) error {
	ctx, cancel := context.WithTimeout(w.ctx, callTimeout)
	defer cancel()
	got, err := w.clientOf(as).Send(ctx, method, path, body, headers...)
	if err != nil {
		return err
	}
	w.calls++
	a.Answer = got
	return got.Fault()
}

// clientOf returns a person's client, with their session. For nil it has none.
func (w *walk) clientOf(p *person) *servicetest.Client {
	connect := func() *servicetest.Client {
		return servicetest.Connect(servicetest.ClientOptions{
			URL: w.URL, Transport: w.transport, Undocumented: !w.Documented,
		})
	}
	switch {
	case p == nil:
		return connect()
	case p.client == nil:
		p.client = connect()
	}
	return p.client
}

// short returns the beginning of a text, on one line and without its secrets.
func short(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(hidden(text)), "\r", "")
	text = strings.ReplaceAll(text, "\n", " ⏎ ")
	if len(text) > mostShown {
		return strings.ToValidUTF8(text[:mostShown], "") + "…"
	}
	return text
}
