// Package client calls Belfry's public API for administrators' programs: it logs in and keeps the session, or sends a
// token, and tries again while a service is away.
//
// It is the client of belfryctl, and open to every program. Within a major version its names, types and what they do
// stay, and it may get more of them (docs/releases.md). It works with services of the release before and after it. Its
// README has a whole program.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// requestTimeout bounds one try. A batch takes seconds; after a minute without an answer the connection is dead.
	requestTimeout = 2 * time.Minute
	// maxAnswer bounds the bytes read of an answer. The longest is that of a batch, about 100 bytes a record.
	maxAnswer = 16 << 20
)

// Options of a client. The zero value is usable.
type Options struct {
	// Wait is the first pause before trying again, 250 ms when zero. It doubles up to 20 times itself.
	Wait time.Duration
	// Tries bounds how often a call is made; 17 when zero, which takes about a minute.
	Tries uint
	// OnRetry, if set, is called with the reason for a new try and the pause before it. Several goroutines may call
	// it at once.
	OnRetry func(err error, pause time.Duration)
	// UserAgent is sent with every call; empty means "belfry-client".
	UserAgent string
	// Token is a token for programs, which takes the place of Login. No error holds it.
	Token string
	// Transport carries the calls; http.DefaultTransport when nil.
	Transport http.RoundTripper
}

// Client is a logged-in caller of one deployment. It is safe for use by several goroutines, which share the session.
// None of its errors holds the uuid.
type Client struct {
	base    *url.URL
	options Options
	http    *http.Client

	session sync.Mutex // held while logging in
	uuid    string
	logins  int // counts logins, so that of several callers that meet a dead session one renews it
	// switched says that the session may be another user's: a login would go on with the rights of the original one.
	switched bool
}

// New returns a client of the deployment at an address such as https://belfry.school.example. It calls nothing yet.
func New(address string, options Options) (*Client, error) {
	base, err := url.Parse(address)
	switch {
	case err != nil, base.Scheme != "http" && base.Scheme != "https", base.Host == "":
		return nil, errors.New("the address must look like https://belfry.school.example")
	case base.User != nil, base.RawQuery != "", base.Fragment != "":
		return nil, errors.New("the address must have no user, query or fragment")
	}
	if base.Path == "" {
		base.Path = "/" // or the paths joined to it would be relative ones, which match no cookie
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	options.Wait = cmp.Or(options.Wait, 250*time.Millisecond)
	options.Tries = cmp.Or(options.Tries, tries)
	options.UserAgent = cmp.Or(options.UserAgent, "belfry-client")
	return &Client{base: base, options: options, http: &http.Client{
		Jar:       jar,
		Transport: options.Transport,
		Timeout:   requestTimeout,
		// A redirect would carry the uuid of a login on, or lose the body of a POST.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Login starts a session as the user with the uuid. An *Error with code 401 means that no user has it. The client
// keeps the uuid, because a session may end before the work does. Login must return before the other calls start.
func (c *Client) Login(ctx context.Context, uuid string) error {
	c.session.Lock()
	defer c.session.Unlock()
	c.uuid, c.switched = uuid, false
	return c.login(ctx)
}

func (c *Client) login(ctx context.Context) error {
	body, err := json.Marshal(map[string]string{"uuid": c.uuid})
	if err != nil {
		return fmt.Errorf("POST /api/login: %w", err)
	}
	posted := request{method: http.MethodPost, path: "/api/login", body: body, media: "application/json"}
	if err := c.persist(ctx, func() error { return c.once(ctx, posted, nil) }); err != nil {
		return err
	}
	if len(c.http.Jar.Cookies(c.base.JoinPath("/api/"))) == 0 {
		return errors.New(
			"the login gave no session cookie that may be sent to this address (over plain http, a Secure cookie " +
				"can't be: use https)")
	}
	c.logins++
	return nil
}

// Cookie returns the session's cookie as a header has it, for other programs that call with it. The client may renew
// its session at any later call.
func (c *Client) Cookie() (string, error) {
	kept := c.http.Jar.Cookies(c.base.JoinPath("/api/"))
	if len(kept) == 0 {
		return "", errors.New("no session")
	}
	return kept[0].Name + "=" + kept[0].Value, nil
}

// Logout ends the session. The next call starts another. Without it the session stays until it is unused for too long,
// and a user has 20 at most: one more login ends the one that was unused longest.
func (c *Client) Logout(ctx context.Context) error {
	return c.become(false, c.call(ctx, request{method: http.MethodGet, path: "/api/logout"}, nil))
}

// Switch makes the session that of another user, by the id, until Revert or its end: it is not renewed, so that calls
// then fail with 401 rather than go on as its original user. Requires the permission can_su.
func (c *Client) Switch(ctx context.Context, user int64) error {
	body := map[string]any{"session": map[string]any{"user_id": user}}
	switches := request{method: http.MethodPut, path: "/api/sessions/1", json: body, creates: true}
	return c.become(true, c.call(ctx, switches, nil))
}

// Revert makes the session that of its original user again. One that has not switched stays as it is.
func (c *Client) Revert(ctx context.Context) error {
	reverts := request{method: http.MethodPut, path: "/api/sessions/1/revert", creates: true}
	return c.become(false, c.call(ctx, reverts, nil))
}

// become keeps whether the session is another user's, after a call that makes it so or ends it. Where the answer was
// lost, it may have switched.
func (c *Client) become(switched bool, err error) error {
	var refused *Error
	if err == nil || switched && !errors.As(err, &refused) {
		c.session.Lock()
		defer c.session.Unlock()
		c.switched = switched
	}
	return err
}

// WhoAmI returns the id of the session's user.
func (c *Client) WhoAmI(ctx context.Context) (int64, error) {
	var answer struct {
		UserID int64 `json:"user_id"`
	}
	err := c.call(ctx, request{method: http.MethodGet, path: "/sessions/1/whoami"}, &answer)
	return answer.UserID, err
}

// renew logs in again, unless another caller has done so since the given login.
func (c *Client) renew(ctx context.Context, seen int) error {
	c.session.Lock()
	defer c.session.Unlock()
	if c.logins != seen {
		return nil
	}
	return c.login(ctx)
}

// renewable says whether a session that ends may be renewed, and how many logins there were.
func (c *Client) renewable() (bool, int) {
	c.session.Lock()
	defer c.session.Unlock()
	return c.uuid != "" && !c.switched, c.logins
}

// request is one call of the API.
type request struct {
	method, path string
	query        url.Values
	body         []byte  // nil: none
	media        string  // of the body; newline-delimited JSON when empty
	json         any     // sent as the body instead, unless nil
	text         *[]byte // takes an answer of the media type that is no JSON
	// creates says that the call, made twice, would create two records. It is made again only when it cannot have
	// reached the service.
	creates bool
}

type dryRun struct{}

// DryRun returns a context whose calls write nothing: they answer as if they had, with null for the ids of new records.
// A call that has no dry run is an *Error with code 400, and writes nothing either.
func DryRun(ctx context.Context) context.Context { return context.WithValue(ctx, dryRun{}, true) }

// call makes a request and decodes its answer into answer, unless that is nil. It renews a session that has ended,
// once, and tries again while a service is away, see persist.
func (c *Client) call(ctx context.Context, r request, answer any) error {
	if ctx.Value(dryRun{}) != nil && r.method != http.MethodGet {
		query := url.Values{"dry_run": {"true"}}
		maps.Copy(query, r.query)
		r.query = query
	}
	if r.json != nil {
		text, err := json.Marshal(r.json)
		if err != nil {
			return fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
		r.body, r.media = text, "application/json"
	}
	renewed := false
	return c.persist(ctx, func() error {
		may, seen := c.renewable()
		err := c.once(ctx, r, answer)
		failed := (*Error)(nil)
		if !renewed && may && errors.As(err, &failed) && failed.Code == http.StatusUnauthorized {
			renewed = true
			if err := c.renew(ctx, seen); err != nil {
				return fmt.Errorf("the session has ended: %w", err)
			}
			err = c.once(ctx, r, answer)
		}
		if r.creates && err != nil && !untouched(err) {
			return backoff.Permanent(err)
		}
		return err
	})
}

// once makes one try.
func (c *Client) once(ctx context.Context, r request, answer any) error {
	accept := "application/json"
	if r.text != nil {
		accept = r.media + ", " + accept
	}
	req, err := c.prepare(ctx, r, accept)
	if err != nil {
		return err
	}
	if r.body != nil {
		req.Header.Set("Content-Type", cmp.Or(r.media, "application/x-ndjson"))
	}
	res, err := c.http.Do(req)
	if err != nil {
		return &networkError{fmt.Errorf("%s %s: %w", r.method, r.path, c.withoutURL(err))}
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return &networkError{fmt.Errorf("%s %s: reading the answer: %w", r.method, r.path, c.withoutURL(err))}
	}
	if media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); r.text != nil && media == r.media &&
		res.StatusCode == http.StatusOK {
		*r.text = text
		return nil
	}
	good := res.StatusCode == http.StatusOK || res.StatusCode == http.StatusCreated
	e, enveloped := envelopeOf(text)
	if !good || !enveloped {
		return c.failure(r, res, text, e)
	}
	if answer == nil {
		return nil
	}
	if err := decode(text, answer); err != nil {
		return fmt.Errorf("%s %s: the answer is not Belfry's: %w", r.method, r.path, err)
	}
	return nil
}

// prepare returns the HTTP request of a call, with what says who makes it.
func (c *Client) prepare(ctx context.Context, r request, accept string) (*http.Request, error) {
	address := c.base.JoinPath(r.path)
	address.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, address.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, c.withoutURL(err))
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", c.options.UserAgent)
	if c.options.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	return req, nil
}

// withoutURL removes the address that net/http puts around an error: its query may hold a secret.
func (c *Client) withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// envelope is what answers of Belfry have: all of them a status.
type envelope struct{ Status, Message, Exception string }

// envelopeOf returns the envelope of an answer, the zero one for an answer that is not Belfry's.
func envelopeOf(text []byte) (e envelope, found bool) {
	if json.Unmarshal(text, &e) != nil || e.Status == "" {
		return envelope{}, false
	}
	return e, true
}

// failure returns the error of an answer, without uuid and token, in case a proxy repeats the address.
func (c *Client) failure(r request, res *http.Response, text []byte, e envelope) error {
	failed := &Error{Method: r.method, Path: r.path, Code: res.StatusCode, Status: http.StatusText(res.StatusCode),
		Message: "the answer is not Belfry's", Foreign: true, after: retryAfter(res)}
	if e.Status != "" {
		failed.Status, failed.Message, failed.Exception, failed.Foreign = e.Status, e.Message, e.Exception, false
	}
	if res.StatusCode == http.StatusUnprocessableEntity {
		failed.Fields = fieldErrors(text)
	}
	if to, err := res.Location(); err == nil {
		failed.Message = "it redirects to " + to.Scheme + "://" + to.Host
	}
	for _, secret := range []string{c.uuid, c.options.Token} {
		if secret != "" {
			failed.Status = strings.ReplaceAll(failed.Status, secret, "…")
			failed.Message = strings.ReplaceAll(failed.Message, secret, "…")
		}
	}
	return failed
}

// fieldErrors returns the errors in the answer to an invalid record: those of the record, of each of several, or those
// that stand by themselves.
func fieldErrors(text []byte) map[string][]string {
	type invalid struct{ Errors map[string][]string }
	var parts map[string]json.RawMessage
	if json.Unmarshal(text, &parts) != nil {
		return nil
	}
	var found map[string][]string
	if json.Unmarshal(parts["errors"], &found) != nil || found == nil { // they are a record's
		found = map[string][]string{}
	}
	for _, part := range parts {
		var one invalid
		var several []invalid
		if json.Unmarshal(part, &one) == nil {
			several = []invalid{one}
		} else if json.Unmarshal(part, &several) != nil {
			continue
		}
		for _, record := range several {
			for field, messages := range record.Errors {
				found[field] = append(found[field], messages...)
			}
		}
	}
	return found
}
