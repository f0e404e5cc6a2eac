package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

// logoutTimeout bounds how long a command waits at its end for its sessions to end.
const logoutTimeout = 3 * time.Second

// sessions are those of a command. They end with it: a user has 20 at most, and the 21st login would end the one that
// was unused longest, such as that of the user's browser.
type sessions struct {
	clients []*client.Client
	ending  atomic.Bool // retries are no longer printed
}

// end logs out wherever the command is logged in, also when it was interrupted. Failing to log out does not fail the
// command: an unused session ends by itself.
func (s *sessions) end(ctx context.Context) {
	s.ending.Store(true)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logoutTimeout)
	defer cancel()
	for _, c := range s.clients {
		if _, err := c.Cookie(); err == nil {
			_ = c.Logout(ctx)
		}
	}
}

// connection says which deployment a command calls, and as which user.
type connection struct {
	url, uuidFile string
	byUUID        bool             // a token is not used
	toServices    routes.Addresses // in place of url
}

// flags adds the flags of every command that calls a deployment.
func (c *connection) flags(flags *pflag.FlagSet, s surroundings) {
	kept, _ := readContexts(s.env) // what can't be read is reported when the login is needed
	flags.StringVar(&c.url, "url", cmp.Or(s.env("BELFRY_URL"), kept.Current, defaultURL),
		"address of the deployment (environment: BELFRY_URL)")
	flags.StringVar(&c.uuidFile, "uuid-file", "", "file with the uuid to log in with (instead of BELFRY_UUID)")
}

// routeFlag adds the flag of a command that works without a front door.
func (c *connection) routeFlag(flags *pflag.FlagSet) {
	flags.Func("route", "`PREFIX=ADDRESS` of a service and the paths that it serves, in place of --url; repeatable",
		func(text string) error { return c.toServices.UnmarshalText([]byte(text)) })
}

// token returns the token to call with: that of BELFRY_TOKEN or, where no uuid is given, that which was kept for the
// address; "": the login is by a uuid.
func (c *connection) token(s surroundings) (string, error) {
	switch token := strings.TrimSpace(s.env("BELFRY_TOKEN")); {
	case c.byUUID, c.uuidFile != "":
		return "", nil
	case token != "":
		return token, nil
	case strings.TrimSpace(s.env("BELFRY_UUID")) != "":
		return "", nil
	}
	kept, err := readContexts(s.env)
	return kept.of(c.url).Token, err
}

// client returns a client that is not logged in yet, and the uuid to log in with; "": it has a token. The client prints
// its retries.
func (c *connection) client(s surroundings, show *progress) (*client.Client, string, error) {
	token, err := c.token(s)
	uuid := ""
	if err == nil && token == "" {
		uuid, err = readUUID(c.uuidFile, s.env)
	}
	if err != nil {
		return nil, "", err
	}
	o := client.Options{Wait: s.wait, UserAgent: "belfryctl", Token: token}
	o.OnRetry = func(err error, pause time.Duration) {
		if !s.sessions.ending.Load() {
			show.retry(err, pause)
		}
	}
	address := c.url
	if len(c.toServices.Routes) > 0 {
		address = routes.Inside
		o.Transport = routes.Transport{Addresses: c.toServices, Through: http.DefaultTransport}
	}
	made, err := client.New(address, o)
	if err != nil {
		return nil, "", &usageError{fmt.Errorf("--url: %w", err)}
	}
	s.sessions.clients = append(s.sessions.clients, made)
	return made, uuid, nil
}

// login returns a client that is logged in. If no server answers, the address is probably wrong, and the command ends
// at once. After the login the client waits for a server that is restarted.
func (c *connection) login(ctx context.Context, s surroundings) (*client.Client, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var in atomic.Bool
	show := &progress{out: s.err}
	show.refused = func(err error) bool {
		if !in.Load() {
			end(fmt.Errorf("no server answers at %s (--url or BELFRY_URL): %w", c.url, err))
		}
		return !in.Load()
	}
	made, uuid, err := c.client(s, show)
	if err != nil {
		return nil, err
	}
	if err := signIn(ctx, made, uuid); err != nil {
		return nil, fmt.Errorf("logging in: %w", err)
	}
	in.Store(true)
	return made, nil
}

// signIn logs in by a uuid, or, without one, tries the client's token.
func signIn(ctx context.Context, c *client.Client, uuid string) error {
	if uuid != "" {
		return c.Login(ctx, uuid)
	}
	_, err := c.WhoAmI(ctx)
	return err
}

// every is the time between two lines of progress when there is no terminal.
const every = 5 * time.Second

// progress shows the progress of an import: a bar with a rate on a terminal, otherwise a line every five seconds. It
// is safe for use by several goroutines.
type progress struct {
	out io.Writer
	// refused, if set, hears that no server answers at the address. True: nothing is tried again.
	refused func(error) bool

	mu          sync.Mutex
	bar         *progressbar.ProgressBar // nil where there is no terminal
	total, seen int
	began, last time.Time
}

func (p *progress) start(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.began, p.last = total, time.Now(), time.Now()
	if isTerminal(p.out) {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("records"),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
}

// add counts processed records of a kind.
func (p *progress) add(kind bundle.Kind, records int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen += records
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("%-15s", kind))
		_ = p.bar.Add(records) // a bar that can't be drawn is no reason to stop
		return
	}
	if time.Since(p.last) >= every {
		p.last = time.Now()
		fmt.Fprintf(p.out, "%s: %s of %s records, %s a second\n", kind, number(p.seen), number(p.total),
			number(int(float64(p.seen)/time.Since(p.began).Seconds())))
	}
}

// retry prints why a call is tried again.
func (p *progress) retry(err error, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if dial := (*net.OpError)(nil); p.refused != nil && errors.As(err, &dial) && dial.Op == "dial" && p.refused(dial) {
		return
	}
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(p.out, "%v; trying again in %s\n", err, pause.Round(time.Second/10))
}

// done removes the bar.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
