package servicetest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
)

// Client is one client of a system, with its own cookies.
type Client struct {
	base string
	http *http.Client
}

// Answer is what came back.
type Answer struct {
	Code   int
	Body   string
	Header http.Header
}

// Client returns a client of the front door that is not signed in.
func (s *System) Client(t testing.TB) *Client { return NewClient(t, s.URL) }

// NewClient returns a client of any address that is not signed in.
func NewClient(t testing.TB, base string) *Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Client{base: base, http: &http.Client{Jar: jar}}
}

// At returns the client, cookies included, at another address of the same system: that of one replica, say.
func (c *Client) At(base string) *Client { return &Client{base: base, http: c.http} }

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

// Do sends a request. The body is sent as it is when it is a string, as JSON otherwise, and not at all when nil. Headers come in pairs. An exchange
// that is not as the interface's document says fails the test.
func (c *Client) Do(t testing.TB, method, path string, body any, headers ...string) Answer {
	t.Helper()
	var text string
	switch b := body.(type) {
	case nil:
	case string:
		text = b
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		text = string(encoded)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, c.base+path, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	received, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	err = apidoctest.Check(apidoctest.Exchange{Request: r, Body: []byte(text), Code: answer.StatusCode, Header: answer.Header, Answer: received})
	if err != nil {
		t.Errorf("not as the interface's document says: %v", err)
	}
	return Answer{answer.StatusCode, string(received), answer.Header}
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

// Cookie returns the session cookie that the client holds, "" when none.
func (c *Client) Cookie(t testing.TB) string {
	t.Helper()
	address, err := url.Parse(c.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range c.http.Jar.Cookies(address) {
		if cookie.Name == "scheduling_session" {
			return cookie.Value
		}
	}
	return ""
}

// Import sends records of one kind as one batch, fails the test unless all of them succeed, and returns their ids by key. The client
// must be an administrator's.
func (c *Client) Import(t testing.TB, kind string, records ...map[string]any) map[string]int64 {
	t.Helper()
	a := c.ImportBatch(t, "/api/admin/import/"+kind, records...)
	var reply struct {
		Failed  int
		Records []struct {
			Key string
			ID  int64
		}
	}
	a.Decode(t, &reply)
	if a.Code != http.StatusOK || reply.Failed > 0 {
		t.Fatalf("import of %s: %d %s", kind, a.Code, a.Body)
	}
	ids := map[string]int64{}
	for _, r := range reply.Records {
		ids[r.Key] = r.ID
	}
	return ids
}

// ImportBatch sends records as one batch to an import path, query included.
func (c *Client) ImportBatch(t testing.TB, path string, records ...map[string]any) Answer {
	t.Helper()
	var lines strings.Builder
	for _, record := range records {
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	return c.Do(t, "POST", path, lines.String(), "Content-Type", "application/x-ndjson")
}

// Decode reads the answer's JSON into target.
func (a Answer) Decode(t testing.TB, target any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.Body), target); err != nil {
		t.Fatalf("%v in %d %s", err, a.Code, a.Body)
	}
}

// Want fails the test unless the answer has that code and exactly that body.
func (a Answer) Want(t testing.TB, code int, body string) {
	t.Helper()
	if a.Code != code || a.Body != body {
		t.Errorf("got %d %s\nwant %d %s", a.Code, a.Body, code, body)
	}
}
