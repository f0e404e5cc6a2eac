package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// requestTimeout bounds one request.
const requestTimeout = 30 * time.Second

// Client is one client of the deployment, with a session cookie of its own that checks may read and set. Every method that sends ends
// the check when no answer comes. A client may be used by several goroutines as long as none logs in, switches or logs out.
type Client struct {
	t      *T
	Cookie *http.Cookie // the session's; nil when there is none
}

// Answer is what came back.
type Answer struct {
	t       *T
	request string // method and path, for failures
	Code    int
	Body    string // every byte
	Header  http.Header
	Cookies []*http.Cookie // that it sets
}

// Client returns a client that is not signed in.
func (t *T) Client() *Client { return &Client{t: t} }

// Copy returns another client with the same cookie, as a second holder of it.
func (c *Client) Copy() *Client { return &Client{t: c.t, Cookie: c.Cookie} }

// Do sends a request. The body is sent as it is when it is a string, as JSON otherwise, and not at all when nil. Headers come in pairs;
// one with an empty value is not sent.
func (c *Client) Do(method, path string, body any, headers ...string) Answer {
	a, err := c.send(method, path, body, headers...)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, redacted(path), err)
	}
	return a
}

// send is Do for goroutines beside the check's own.
func (c *Client) send(method, path string, body any, headers ...string) (Answer, error) {
	var text []byte
	switch b := body.(type) {
	case nil:
	case string:
		text = []byte(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			return Answer{}, err
		}
		text = encoded
	}
	if err := c.t.ctx.Err(); err != nil {
		return Answer{}, err
	}
	// What is under way is waited for, also in a run that is interrupted: else nobody would know what it has made.
	r, err := http.NewRequestWithContext(context.WithoutCancel(c.t.ctx), method, c.t.School.url+path, bytes.NewReader(text))
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Cookie != nil {
		r.Header.Set("Cookie", c.Cookie.Name+"="+c.Cookie.Value)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	res, err := c.t.School.http.Do(r)
	if err != nil {
		return Answer{}, withoutURL(err)
	}
	defer func() { _ = res.Body.Close() }()
	received, err := io.ReadAll(res.Body)
	if err != nil {
		return Answer{}, err
	}
	if observe := c.t.School.observe; observe != nil {
		if err := observe(Exchange{Request: r, Sent: text, Code: res.StatusCode, Header: res.Header, Answer: received}); err != nil {
			c.t.Errorf("%v", err)
		}
	}
	a := Answer{t: c.t, request: method + " " + redacted(path), Code: res.StatusCode, Body: string(received), Header: res.Header, Cookies: res.Cookies()}
	for _, cookie := range a.Cookies {
		if cookie.Name != sessionCookie && cookie.Name != secureSessionCookie {
			continue
		}
		if c.Cookie = cookie; cookie.Value == "" || cookie.MaxAge < 0 {
			c.Cookie = nil
		}
	}
	c.t.School.remember(method, path, a)
	return a, nil
}

// The names of the session cookie (decisions, part 2): the second wherever cookies are Secure.
const (
	sessionCookie       = "scheduling_session"
	secureSessionCookie = "__Host-scheduling_session"
)

// redacted is a path without the value of a login's uuid.
func redacted(path string) string {
	if before, _, found := strings.Cut(path, "/api/login?"); found {
		return before + "/api/login?…"
	}
	return path
}

// withoutURL takes off what net/http puts around an error: the address with its query.
func withoutURL(err error) error {
	if wrapped, ok := err.(*url.Error); ok { //nolint:errorlint // exactly the outermost
		return wrapped.Err
	}
	return err
}

// Get sends a GET.
func (c *Client) Get(path string) Answer { return c.Do(http.MethodGet, path, nil) }

// Post sends a POST.
func (c *Client) Post(path string, body any) Answer { return c.Do(http.MethodPost, path, body) }

// Put sends a PUT.
func (c *Client) Put(path string, body any) Answer { return c.Do(http.MethodPut, path, body) }

// Patch sends a PATCH.
func (c *Client) Patch(path string, body any) Answer { return c.Do(http.MethodPatch, path, body) }

// Delete sends a DELETE.
func (c *Client) Delete(path string) Answer { return c.Do(http.MethodDelete, path, nil) }

// TryLogin logs in and returns the answer, whatever it is. While the limit on failed logins holds for this address, which several runs
// share, it waits as it is told.
func (c *Client) TryLogin(uuid string, headers ...string) Answer {
	return c.patiently(func() Answer { return c.Do(http.MethodGet, "/api/login?uuid="+url.QueryEscape(uuid), nil, headers...) })
}

// patiently sends a login again when it is answered 429.
func (c *Client) patiently(login func() Answer) Answer {
	for {
		a := login()
		if a.Code != http.StatusTooManyRequests {
			return a
		}
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if err != nil || seconds < 1 || seconds > 60 {
			c.t.Fatalf("a 429 with Retry-After %q", a.Header.Get("Retry-After"))
		}
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-c.t.ctx.Done():
			c.t.Fatalf("logins are limited for too long")
		}
	}
}

// Want fails the check unless the answer has that code and exactly that body.
func (a Answer) Want(code int, body string) {
	if a.Code != code || a.Body != body {
		a.t.Errorf("%s\n  expected: %d %s\n  got:      %d %s", a.request, code, body, a.Code, a.Body)
	}
}

// WantCode fails the check unless the answer has that code. For bodies that another check compares.
func (a Answer) WantCode(code int) {
	if a.Code != code {
		a.t.Errorf("%s\n  expected: %d\n  got:      %d %s", a.request, code, a.Code, a.Body)
	}
}

// Must ends the check unless the answer has that code, and returns the answer.
func (a Answer) Must(code int) Answer {
	if a.Code != code {
		a.t.Fatalf("%s\n  expected: %d\n  got:      %d %s", a.request, code, a.Code, a.Body)
	}
	return a
}

// Equal fails the check unless the JSON text at a path is exactly that.
func (a Answer) Equal(path, want string) {
	if got := a.At(path); got != want {
		a.t.Errorf("%s, at %s\n  expected: %s\n  got:      %s", a.request, path, want, got)
	}
}

// At returns the JSON text at a path such as "event.commitments.0.id", byte for byte, and ends the check when there is nothing.
func (a Answer) At(path string) string {
	text, ok := at(json.RawMessage(a.Body), path)
	if !ok {
		a.t.Fatalf("%s\n  expected: something at %s\n  got:      %d %s", a.request, path, a.Code, a.Body)
	}
	return string(text)
}

// Has says whether there is anything at a path, null included.
func (a Answer) Has(path string) bool { _, ok := at(json.RawMessage(a.Body), path); return ok }

// Int returns the integer at a path.
func (a Answer) Int(path string) int64 {
	n, err := strconv.ParseInt(a.At(path), 10, 64)
	if err != nil {
		a.t.Fatalf("%s\n  expected: an integer at %s\n  got:      %s", a.request, path, a.At(path))
	}
	return n
}

// String returns the string at a path, decoded.
func (a Answer) String(path string) string {
	var s string
	if err := json.Unmarshal([]byte(a.At(path)), &s); err != nil {
		a.t.Fatalf("%s\n  expected: a string at %s\n  got:      %s", a.request, path, a.At(path))
	}
	return s
}

// Len returns the length of the array at a path.
func (a Answer) Len(path string) int {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(a.At(path)), &list); err != nil || list == nil {
		a.t.Fatalf("%s\n  expected: an array at %s\n  got:      %s", a.request, path, a.At(path))
	}
	return len(list)
}

// Keys returns the names of the object at a path ("" is the whole answer), in their order, comma-separated.
func (a Answer) Keys(path string) string {
	text := a.Body
	if path != "" {
		text = a.At(path)
	}
	keys, err := keys(text)
	if err != nil {
		a.t.Fatalf("%s\n  expected: an object at %q\n  got:      %s (%v)", a.request, path, text, err)
	}
	return strings.Join(keys, ",")
}

func at(text json.RawMessage, path string) (json.RawMessage, bool) {
	for step := range strings.SplitSeq(path, ".") {
		if i, err := strconv.Atoi(step); err == nil {
			var list []json.RawMessage
			if json.Unmarshal(text, &list) != nil || i >= len(list) {
				return nil, false
			}
			text = list[i]
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) != nil {
			return nil, false
		}
		value, ok := object[step]
		if !ok {
			return nil, false
		}
		text = value
	}
	return text, true
}

func keys(object string) ([]string, error) {
	decoder := json.NewDecoder(strings.NewReader(object))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("no object: %w", err)
	}
	var all []string
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprint(key))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
	}
	return all, nil
}
