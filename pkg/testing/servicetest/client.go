package servicetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// requestTimeout bounds one request.
const requestTimeout = time.Minute

// The names of the session cookie (decisions, part 2): the second wherever cookies are Secure.
const (
	SessionCookie       = "scheduling_session"
	SecureSessionCookie = "__Host-scheduling_session"
)

// ClientOptions say how a client reaches a deployment.
type ClientOptions struct {
	URL          string            // such as https://belfry.school.example
	Transport    http.RoundTripper // nil: http.DefaultTransport
	Undocumented bool              // exchanges are not checked against the OpenAPI document
	Token        string            // for programs, sent with every request
}

// Client is one client of a deployment, with a session cookie of its own. It sends a Secure cookie over http, too.
// It follows no redirect. It is safe for concurrent use.
type Client struct {
	options ClientOptions
	http    *http.Client
	session *session
}

// session holds the cookie of a client; nil when there is none.
type session struct {
	mu     sync.Mutex
	cookie *http.Cookie
}

// Answer is an answer to a request.
type Answer struct {
	Code    int
	Body    string // every byte; of a stream of events, the first event
	Header  http.Header
	Request string // method and path, for failures

	fault error // how the exchange differs from the OpenAPI document
}

// Client returns a client of the front door that is not signed in.
func (s *System) Client(t testing.TB) *Client { return NewClient(t, s.URL) }

// NewClient returns a client of any address that is not signed in.
func NewClient(t testing.TB, base string) *Client {
	t.Helper()
	return Connect(ClientOptions{URL: base})
}

// Connect returns a client that is not signed in.
func Connect(o ClientOptions) *Client {
	return &Client{o, &http.Client{
		Timeout:       requestTimeout,
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, &session{}}
}

// At returns a client with the same cookie at another address of the same system, such as that of one replica.
func (c *Client) At(base string) *Client {
	o := c.options
	o.URL = base
	return &Client{o, c.http, c.session}
}

// ByToken returns a client without a session that sends a token for programs.
func (c *Client) ByToken(token string) *Client {
	o := c.options
	o.Token = token
	return &Client{o, c.http, &session{}}
}

// Copy returns another client that starts with the same cookie.
func (c *Client) Copy() *Client {
	return &Client{c.options, c.http, &session{cookie: c.SessionCookie()}}
}

// SessionCookie returns the session's cookie as the server set it, nil when there is none.
func (c *Client) SessionCookie() *http.Cookie {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.session.cookie
}

// SetSessionCookie sets the session cookie of the client.
func (c *Client) SetSessionCookie(cookie *http.Cookie) {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.cookie = cookie
}

// Login returns a client that is signed in as the user with that uuid.
func (s *System) Login(t testing.TB, uuid string) *Client {
	t.Helper()
	c := s.Client(t)
	if a := c.Get(t, "/api/login?uuid="+url.QueryEscape(uuid)); a.Code != http.StatusOK {
		t.Fatalf("login: %d %s", a.Code, a.Body)
	}
	return c
}

// Admin returns a client that is signed in as the first administrator.
func (s *System) Admin(t testing.TB) *Client { t.Helper(); return s.Login(t, s.AdminUUID) }

// Do sends a request. A string body is sent as it is, any other as JSON; nil sends no body. Headers come in pairs; one
// with an empty value is not sent. It ends the test when there is no answer, and fails it when the exchange is not as
// the OpenAPI document says.
func (c *Client) Do(t testing.TB, method, path string, body any, headers ...string) Answer {
	t.Helper()
	a, err := c.Try(t, method, path, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, redacted(path), err)
	}
	return a
}

// Try is Do for goroutines other than the test's: it returns an error when there is no answer.
func (c *Client) Try(t testing.TB, method, path string, body any, headers ...string) (Answer, error) {
	t.Helper()
	// A request that is in flight when the test ends is completed: otherwise it would be unknown what it created.
	a, err := c.Send(context.WithoutCancel(t.Context()), method, path, body, headers...)
	if a.fault != nil {
		t.Errorf("not as the interface's document says: %v", a.fault)
	}
	return a, err
}

// prepare adds the session's cookie and the headers to a request.
func (c *Client) prepare(r *http.Request, headers []string) {
	if cookie := c.SessionCookie(); cookie != nil {
		r.Header.Set("Cookie", cookie.Name+"="+cookie.Value)
	}
	if c.options.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
}

// Send is Do without a test. The caller checks Answer.Fault.
func (c *Client) Send(ctx context.Context, method, path string, body any, headers ...string) (Answer, error) {
	sent, err := encode(body)
	if err != nil {
		return Answer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.options.URL+path, bytes.NewReader(sent))
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	c.prepare(r, headers)
	answer, err := c.http.Do(r)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the address, whose query may hold a uuid
	}
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	received, err := readBody(answer)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Code: answer.StatusCode, Body: string(received), Header: answer.Header,
		Request: method + " " + redacted(path)}
	if !c.options.Undocumented {
		a.fault = apidoctest.Check(apidoctest.Exchange{Request: r, Body: sent, Code: a.Code, Header: a.Header,
			Answer: received})
	}
	c.keep(a.Cookies())
	return a, nil
}

func encode(body any) ([]byte, error) {
	switch b := body.(type) {
	case nil:
		return nil, nil
	case string:
		return []byte(b), nil
	default:
		return json.Marshal(b)
	}
}

// keep stores the session cookie if it is one of them, and removes it when it is expired.
func (c *Client) keep(set []*http.Cookie) {
	for _, cookie := range set {
		if cookie.Name != SessionCookie && cookie.Name != SecureSessionCookie {
			continue
		}
		if cookie.Value == "" || cookie.MaxAge < 0 {
			cookie = nil
		}
		c.SetSessionCookie(cookie)
	}
}

// redacted returns a path without the uuid of a login.
func redacted(path string) string {
	if before, _, found := strings.Cut(path, "/api/login?"); found {
		return before + "/api/login?…"
	}
	return path
}

// Get sends a GET.
func (c *Client) Get(t testing.TB, path string) Answer { t.Helper(); return c.Do(t, "GET", path, nil) }

// Post sends a POST.
func (c *Client) Post(t testing.TB, path string, body any) Answer {
	t.Helper()
	return c.Do(t, "POST", path, body)
}

// Put sends a PUT.
func (c *Client) Put(t testing.TB, path string, body any) Answer {
	t.Helper()
	return c.Do(t, "PUT", path, body)
}

// Patch sends a PATCH.
func (c *Client) Patch(t testing.TB, path string, body any) Answer {
	t.Helper()
	return c.Do(t, "PATCH", path, body)
}

// Delete sends a DELETE.
func (c *Client) Delete(t testing.TB, path string) Answer {
	t.Helper()
	return c.Do(t, "DELETE", path, nil)
}

// Cookie returns the value of the session cookie, "" when there is none.
func (c *Client) Cookie(t testing.TB) string {
	t.Helper()
	if cookie := c.SessionCookie(); cookie != nil {
		return cookie.Value
	}
	return ""
}

// Import sends records of one kind as one batch, fails the test unless all of them succeed, and returns their ids
// by key. The client must be an administrator's.
func (c *Client) Import(t testing.TB, kind string, records ...map[string]any) map[string]int64 {
	t.Helper()
	a := c.ImportBatch(t, "/api/admin/import/"+kind, records...)
	if a.Code != http.StatusOK || a.Int(t, "failed") > 0 {
		t.Fatalf("import of %s: %d %s", kind, a.Code, a.Body)
	}
	ids := map[string]int64{}
	for _, record := range a.array(t, "records") {
		ids[record.Get("key").String()] = record.Get("id").Int()
	}
	return ids
}

// ImportBatch sends records as one batch to an import path, query included.
func (c *Client) ImportBatch(t testing.TB, path string, records ...map[string]any) Answer {
	t.Helper()
	var lines strings.Builder
	for _, record := range records {
		line, err := json.Marshal(record)
		errortest.None(t, err)
		lines.Write(append(line, '\n'))
	}
	return c.Do(t, "POST", path, lines.String(), "Content-Type", "application/x-ndjson")
}

// ReadsBack fails the test unless fields, written as JSON and read again, are what was read before.
func ReadsBack[T any](t *testing.T, written map[string]any, read func(web.Object) T, before T) {
	t.Helper()
	text, err := json.Marshal(written)
	errortest.None(t, err)
	again, err := web.ParseObject(text)
	errortest.None(t, err)
	if got := read(again); !reflect.DeepEqual(got, before) {
		t.Fatalf("written as %s: %+v, before %+v", text, got, before)
	}
}

// With returns fields with others instead of them or beside them; pairs are names and values. A field of the value nil
// is left out.
func With(fields map[string]any, pairs ...any) map[string]any {
	for i := 0; i+1 < len(pairs); i += 2 {
		if name := pairs[i].(string); pairs[i+1] == nil {
			delete(fields, name)
		} else {
			fields[name] = pairs[i+1]
		}
	}
	return fields
}
