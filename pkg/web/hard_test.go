package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/ambiguous"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// exchange sends raw bytes on a connection of their own, and returns all that comes back until the server closes it.
func exchange(t *testing.T, base, raw string) string {
	t.Helper()
	connection := dial(t, base)
	defer func() { _ = connection.Close() }()
	errortest.None(t, connection.SetDeadline(time.Now().Add(10*time.Second)))
	_, err := io.WriteString(connection, raw)
	errortest.None(t, err)
	answer, err := io.ReadAll(connection)
	errortest.None(t, err, "the connection stays open or is reset after %q", answer)
	return string(answer)
}

func TestHardToBreak_Row15_AnAmbiguousRequestIsAnsweredOnceWith400(t *testing.T) {
	var seconds atomic.Int64
	base, _ := serve(t, user(principal.All()),
		route("POST", "/write", func(c *fiber.Ctx) error {
			_, err := web.Body(c)
			return errors.Join(err, web.OK(c))
		}),
		web.Route{Method: "POST", Path: "/own", Access: web.SignedIn, Handler: ok},
		route("GET", "/read", ok),
		route("DELETE", "/gone", func(c *fiber.Ctx) error {
			seconds.Add(1)
			return web.OK(c)
		}),
		route("GET", "/second", func(c *fiber.Ctx) error {
			seconds.Add(1)
			return web.OK(c)
		}))
	const (
		second = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
		before = "GET /read HTTP/1.1\r\nHost: x\r\n\r\n"
	)
	for name, raw := range ambiguous.Requests(ambiguous.Target{
		Read: "/read", Write: "/write", Gone: "/gone", Own: "/own", Nowhere: "/nowhere",
	}) {
		t.Run(name, func(t *testing.T) {
			for how, first := range map[string]string{"alone": "", "after another request": before} {
				answer := exchange(t, base, first+raw+second)
				if first != "" {
					head, rest, _ := strings.Cut(answer, `{"status":"OK"}`)
					if !strings.HasPrefix(head, "HTTP/1.1 200 ") {
						t.Errorf("%s: the request before got %q", how, answer)
					}
					answer = rest
				}
				head, envelope, _ := strings.Cut(answer, "\r\n\r\n")
				if !strings.HasPrefix(head, "HTTP/1.1 400 ") || strings.Count(answer, "HTTP/1.1 ") != 1 ||
					!strings.Contains(head+"\r\n", "Connection: close\r\n") ||
					!strings.HasPrefix(envelope, `{"status":"Bad request"`) {
					t.Errorf("%s: got %q", how, answer)
				}
			}
		})
	}
	valuetest.Same(t, seconds.Load(), 0, "requests were carried out that were not sent")
}

// Valid requests are accepted, however their bytes are split.
func TestHardToBreak_Row15_RequestsInOrderAreAnsweredEach(t *testing.T) {
	base, _ := serve(t, user(principal.All()),
		route("GET", "/read", ok),
		route("POST", "/write", func(c *fiber.Ctx) error {
			if _, err := web.Wrapped(c, "thing"); err != nil {
				return err
			}
			return web.OK(c)
		}),
		web.Route{Method: "POST", Path: "/own", Access: web.SignedIn, Handler: ok})
	const content = `{"thing":{"a":"0123456789"}}`
	length := fmt.Sprintf("Content-Length: %d\r\n", len(content))
	requests := []struct{ raw, code string }{
		{"GET /read HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
		{"\r\nGET /read HTTP/1.1\r\nHost:x\r\nX:\r\nY: \t a\tb\u00e9 \t\r\n\r\n", "200"},
		{"POST /write HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + content, "200"},
		{"POST /write HTTP/1.1\r\nhost: x\r\ncontent-LENGTH:  0" + length[len("Content-Length: "):] + "\r\n" + content,
			"200"},
		{
			"POST /write HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked \r\n\r\n" +
				"1\r\n{\r\n1b;a=\"b\"\r\n" + content[1:] + "\r\n000\r\n\r\n", "200",
		},
		{"POST /own HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + content, "401"},
		{"POST /own HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n", "401"},
		{"POST /nowhere HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + content, "404"},
		{"BREW /read HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + content, "405"},
		{"DELETE /read HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + content, "405"},
		{"GET /read HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + content, "200"},
		{"POST /write HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "400"},
		{"POST /write HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		{"GET /read HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "200"},
	}
	var all strings.Builder
	var want []string
	for _, r := range requests {
		all.WriteString(r.raw)
		want = append(want, r.code)
	}
	for _, size := range []int{1, 7, 100, all.Len()} {
		connection := dial(t, base)
		go func() {
			for rest := all.String(); rest != ""; {
				n := min(size, len(rest))
				if _, err := io.WriteString(connection, rest[:n]); err != nil {
					return // seen by the reader
				}
				rest = rest[n:]
			}
		}()
		_ = connection.SetReadDeadline(time.Now().Add(10 * time.Second))
		answers, err := io.ReadAll(connection)
		errortest.Report(t, err)
		_ = connection.Close()
		var got []string
		for _, part := range strings.Split(string(answers), "HTTP/1.1 ")[1:] {
			got = append(got, part[:3])
		}
		valuetest.Same(t, fmt.Sprint(got), fmt.Sprint(want), "in pieces of %d bytes", size)
	}
}

// fasthttp takes the end of the connection for the end of the body.
func TestHardToBreak_Row15_ABodyThatIsCutShortIsNotTaken(t *testing.T) {
	var written atomic.Int64
	base, _ := serve(t, nil, route("POST", "/write", func(c *fiber.Ctx) error {
		written.Add(1)
		return web.OK(c)
	}))
	for name, raw := range map[string]string{
		"of known length":   "POST /write HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{}",
		"between chunks":    "POST /write HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
		"in a chunk":        "POST /write HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{}",
		"in a chunk's size": "POST /write HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2",
		"in the last chunk": "POST /write HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
	} {
		connection := dial(t, base)
		_, err := io.WriteString(connection, raw)
		errortest.None(t, err)
		errortest.None(t, connection.CloseWrite())
		answer, err := io.ReadAll(connection)
		if err != nil || bytes.HasPrefix(answer, []byte("HTTP/1.1 2")) {
			t.Errorf("%s: got %q, %v", name, answer, err)
		}
		_ = connection.Close()
	}
	valuetest.Same(t, written.Load(), 0, "bodies were taken")
}

func TestHardToBreak_Row06_TheNearestUntrustedAddressWins(t *testing.T) {
	trusted := []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("2001:db8:ff::/48"),
	}
	base, _ := serve(t, nil, route("GET", "/x", func(c *fiber.Ctx) error {
		return web.OK(c, web.Field{Name: "from", Value: web.ClientAddress(c, trusted)})
	}))
	for _, c := range []struct {
		name, want string
		lines      []string
	}{
		{"two lines", "203.0.113.9", []string{"198.51.100.1", "203.0.113.9"}},
		{"the client's line comes first", "203.0.113.9", []string{"198.51.100.1, 198.51.100.2", "203.0.113.9"}},
		{"a line for each proxy", "203.0.113.9", []string{"198.51.100.1", "203.0.113.9", "10.0.0.3", "10.0.0.2"}},
		{"lists in lines", "203.0.113.9", []string{"198.51.100.1", "203.0.113.9, 10.0.0.3", "10.0.0.2"}},
		{"an empty line last", "203.0.113.9", []string{"203.0.113.9", ""}},
		{"empty elements", "203.0.113.9", []string{"198.51.100.1,, 203.0.113.9 , ,"}},
		{"tabs", "203.0.113.9", []string{"198.51.100.1,\t203.0.113.9\t"}},
		{"a port", "203.0.113.9", []string{"203.0.113.9:5678"}},
		{"a port of a proxy", "203.0.113.9", []string{"203.0.113.9, 10.0.0.3:443"}},
		{"IPv6", "2001:db8::1", []string{"2001:db8::1"}},
		{"IPv6 written long", "2001:db8::1", []string{"2001:0DB8:0:0:0:0:0:1"}},
		{"IPv6 in brackets", "2001:db8::1", []string{"[2001:db8::1]"}},
		{"IPv6 with a port", "2001:db8::1", []string{"[2001:db8::1]:443"}},
		{"IPv6 of a proxy", "2001:db8::1", []string{"2001:db8::1, [2001:db8:ff::2]:443"}},
		{"a zone", "fe80::1", []string{"fe80::1%eth0"}},
		{"a zone in brackets", "fe80::1", []string{"[fe80::1%eth0]:443"}},
		{"a zone does not hide a proxy", "203.0.113.9", []string{"203.0.113.9, 2001:db8:ff::2%eth0"}},
		{"IPv4 in IPv6", "203.0.113.9", []string{"::ffff:203.0.113.9"}},
		{"IPv4 in IPv6 of a proxy", "203.0.113.9", []string{"203.0.113.9, ::ffff:10.0.0.3"}},
		{"garbage before", "203.0.113.9", []string{"<script>", "203.0.113.9"}},
		{"garbage last", "127.0.0.1", []string{"203.0.113.9, garbage"}},
		{"garbage behind a proxy", "10.0.0.3", []string{"203.0.113.9, garbage, 10.0.0.3"}},
		{"unknown", "127.0.0.1", []string{"203.0.113.9, unknown"}},
		{"a port that is none", "127.0.0.1", []string{"203.0.113.9:99999"}},
		{"a port that is missing", "127.0.0.1", []string{"203.0.113.9:"}},
		{"an open bracket", "127.0.0.1", []string{"[2001:db8::1"}},
		{"IPv4 in brackets", "127.0.0.1", []string{"[203.0.113.9]"}},
		{"quoted", "127.0.0.1", []string{`"203.0.113.9"`}},
		{"a network", "127.0.0.1", []string{"203.0.113.9/32"}},
		{"octal", "127.0.0.1", []string{"0313.0.113.9"}},
		{"a number", "127.0.0.1", []string{"3405803785"}},
		{"no header", "127.0.0.1", nil},
		{"nothing but proxies", "10.0.0.2", []string{"10.0.0.2, 10.0.0.3"}},
	} {
		var headers []string
		for _, line := range c.lines {
			headers = append(headers, "X-Forwarded-For", line)
		}
		_, text, _ := ask(t, http.MethodGet, base+"/x", "", headers...)
		valuetest.Same(t, text, `{"status":"OK","from":"`+c.want+`"}`, "%s: %q", c.name, c.lines)
	}
}

func TestHardToBreak_Row11_PagesFromElsewhereChangeNothing(t *testing.T) {
	for _, c := range []struct {
		name    string
		secure  bool
		headers []string // beside Host: school.example
		code    int
	}{
		{"a program", true, nil, 200},
		{"same-origin", true, []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"typed in", true, []string{"Sec-Fetch-Site", "none"}, 200},
		{"same-site", true, []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"cross-site", true, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"an unknown site", true, []string{"Sec-Fetch-Site", "new-word"}, 403},
		{"two words", true, []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "cross-site"}, 403},
		{"own origin", true, []string{"Origin", "https://school.example"}, 200},
		{"own origin with its port", true, []string{"Origin", "https://School.Example:443"}, 200},
		{"own origin of an address with its port", true,
			[]string{"Host", "school.example:443", "Origin", "https://school.example"}, 200},
		{"own origin, same-origin", true, []string{"Origin", "https://school.example", "Sec-Fetch-Site", "same-origin"},
			200},
		{"own origin without TLS", true, []string{"Origin", "http://school.example"}, 403},
		{"own origin where there is no TLS", false, []string{"Origin", "http://school.example"}, 200},
		{"own origin behind TLS unknown to us", false, []string{"Origin", "https://school.example"}, 200},
		{"another port", true, []string{"Origin", "https://school.example:8443"}, 403},
		{"a subdomain", true, []string{"Origin", "https://www.school.example"}, 403},
		{"the domain above", true, []string{"Origin", "https://example"}, 403},
		{"another site", true, []string{"Origin", "https://evil.example"}, 403},
		{"another site that says same-origin", true,
			[]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"}, 403},
		{"own host as a user", true, []string{"Origin", "https://school.example@evil.example"}, 403},
		{"own host as a prefix", true, []string{"Origin", "https://school.example.evil.example"}, 403},
		{"no origin", true, []string{"Origin", "null"}, 403},
		{"another scheme", true, []string{"Origin", "chrome-extension://school.example"}, 403},
		{"a path", true, []string{"Origin", "https://school.example/"}, 403},
		{"two origins", true, []string{"Origin", "https://school.example", "Origin", "https://evil.example"}, 403},
		{"an allowed origin", true, []string{"Origin", "https://timetable.example", "Sec-Fetch-Site", "cross-site"},
			200},
		{"an allowed origin, otherwise written", true, []string{"Origin", "HTTPS://Timetable.example:443"}, 200},
		{"an allowed origin without TLS", true, []string{"Origin", "http://timetable.example"}, 403},
		{"cross-site without Content-Type", true, []string{"Origin", "https://evil.example", "Content-Type", ""}, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := serveOptions(t, web.Options{
				Cookies: web.Cookies{Secure: c.secure}, AllowedOrigins: []string{"https://timetable.example"},
				Timeout: time.Second,
			},
				route("GET", "/read", ok), route("POST", "/write", ok), route("PUT", "/write", ok),
				route("PATCH", "/write", ok), route("DELETE", "/write", ok),
				web.Route{Method: "GET", Path: "/login", ActsOnGet: true, Handler: ok})
			for _, call := range []string{
				"POST /write", "PUT /write", "PATCH /write", "DELETE /write", "GET /login", "HEAD /login", "GET /read",
			} {
				host, headers := "school.example", ""
				for i := 0; i < len(c.headers); i += 2 {
					switch name, value := c.headers[i], c.headers[i+1]; {
					case name == "Host":
						host = value
					case value != "":
						headers += name + ": " + value + "\r\n"
					}
				}
				body := "Content-Length: 2\r\n\r\n{}"
				answer := exchange(t, base, call+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n"+headers+body)
				want := c.code
				if call == "GET /read" {
					want = 200
				}
				valuetest.Same(t, strings.Fields(answer)[1], fmt.Sprint(want), call)
			}
		})
	}
}

// TestHardToBreak_Row01_BodiesHaveABound fills what one user may have, what one listener may have, and what a process
// may have.
func TestHardToBreak_Row01_BodiesHaveABound(t *testing.T) {
	bounds := web.NewBounds()
	listener := func() string {
		return serveOptions(t, web.Options{
			Sessions: user(principal.All()), Token: settings.NewSecret(internalToken), Bounds: bounds,
			Timeout: 300 * time.Millisecond,
		},
			web.Route{Method: "POST", Path: "/import", Access: web.Admin, MaxBody: 4 << 20, Handler: ok},
			web.Route{Method: "POST", Path: "/internal", Access: web.Neighbour, MaxBody: 4 << 20, Handler: ok})
	}
	public, internal := listener(), listener()
	hold := func(base, path, header string, n int) {
		for range n {
			connection := dial(t, base)
			head := "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 4194304\r\n" + header + "\r\n\r\n"
			errortest.None(t, errortest.Of(io.WriteString(connection, head+strings.Repeat("x", 4194303))))
		}
	}
	becomes := func(what, url string, want int, headers ...string) {
		t.Helper()
		code, text, header := 0, "", http.Header{}
		for deadline := time.Now().Add(5 * time.Second); code != want && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
			code, text, header = ask(t, "POST", url, "{"+strings.Repeat(" ", 40<<10)+"}", headers...)
		}
		if code != want || want != 200 && header.Get("Retry-After") != "1" {
			t.Errorf("%s: got %d %s, Retry-After %q, want %d", what, code, text, header.Get("Retry-After"), want)
		}
	}
	session, token := []string{"Cookie", cookie}, []string{"Authorization", "Bearer " + internalToken}
	hold(public, "/import", "Cookie: "+cookie, 2)
	becomes("the user who holds all of its share", public+"/import", 429, session...)
	becomes("others", public+"/internal", 200, token...)
	code, text, _ := ask(t, "POST", public+"/import", `{}`, session...)
	valuetest.Same(t, code, 200, "a small body of that user %s", text)
	hold(public, "/internal", "Authorization: Bearer "+internalToken, 4)
	becomes("every user, when the listener has no room", public+"/internal", 503, token...)
	becomes("the other listener", internal+"/internal", 200, token...)
	hold(internal, "/internal", "Authorization: Bearer "+internalToken, 2)
	becomes("every user, when the process has no room", internal+"/internal", 503, token...)
}

// TestHardToBreak_Row05_BodiesWithoutASessionTakeTheRoomOfTheirAddress: one address held what all others without a
// session had too.
func TestHardToBreak_Row05_BodiesWithoutASessionTakeTheRoomOfTheirAddress(t *testing.T) {
	base := serveOptions(t, web.Options{
		Timeout: time.Second, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}, web.Route{Method: "POST", Path: "/form", MaxBody: 4 << 20, Handler: ok, Admit: func(c *fiber.Ctx) error {
		if c.Get("User") != "" {
			web.Holds(c, 7)
		}
		return c.Next()
	}})
	const held = "2001:db8::1"
	hold := func() {
		connection := dial(t, base)
		go func() { // what it is refused it need not read
			_, _ = io.WriteString(connection, "POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: 4194304\r\n"+
				"X-Forwarded-For: "+held+"\r\n\r\n"+strings.Repeat("x", 4194303))
		}()
	}
	hold()
	body := "{" + strings.Repeat(" ", 16<<10) + "}"
	for _, c := range []struct {
		address, user, body string
		want                int
	}{
		{held, "", body, 429}, {"2001:db8::2", "", body, 429}, {"2001:db8:0:1::1", "", body, 200},
		{"192.0.2.1", "", body, 200}, {held, "seven", body, 200}, {held, "", "{}", 200},
	} {
		code, text := 0, ""
		for deadline := time.Now().Add(10 * time.Second); code != c.want && time.Now().Before(deadline); {
			code, text, _ = ask(t, "POST", base+"/form", c.body, "X-Forwarded-For", c.address, "User", c.user)
			if code != c.want && c.want == 429 { // what is held grows, or gave way to what was asked
				hold()
				time.Sleep(50 * time.Millisecond)
			}
		}
		valuetest.Same(t, code, c.want, "%s %s with %d bytes %s", c.address, c.user, len(c.body), text)
	}
}

func TestHardToBreak_Row01_ConnectionsHaveABound(t *testing.T) {
	bounds := web.NewBounds()
	listener := func() string {
		return serveOptions(t, web.Options{Bounds: bounds, Timeout: time.Minute}, route("GET", "/read", ok))
	}
	public, internal := listener(), listener()
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	const request = "GET /read HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	fill := func(base string, n int) {
		t.Helper()
		for range n {
			connection := dial(t, base)
			open = append(open, connection)
		}
		head, envelope, _ := strings.Cut(exchange(t, base, ""), "\r\n\r\n")
		if !strings.HasPrefix(head, "HTTP/1.1 503 ") || envelope != `{"status":"Service unavailable"}` {
			t.Errorf("one more got %q %q", head, envelope)
		}
	}
	fill(public, 1536)
	if answer := exchange(t, internal, request); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Errorf("the other listener: %q", answer)
	}
	fill(internal, 512)
	for _, c := range open[:100] {
		_ = c.Close()
	}
	timetest.Eventually(t, "200 when others have gone", 5*time.Second,
		func() bool { return strings.HasPrefix(exchange(t, public, request), "HTTP/1.1 200 ") })
}

// A client that asks whether its body is wanted is answered before it sends any.
func TestHardToBreak_Row01_ExpectContinue(t *testing.T) {
	base, _ := serve(t, user(principal.All()),
		web.Route{Method: "POST", Path: "/own", Access: web.SignedIn, Handler: ok})
	for _, c := range []struct{ name, length, body, want string }{
		{"taken", "2", "{}", "100 200"},
		{"larger than any route takes", "5000000", "", "413"},
		{"larger than the route takes", "2000000", "x", "100 413"},
	} {
		head := "POST /own HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n" +
			"Cookie: " + cookie + "\r\nContent-Length: "
		var codes []string
		for _, part := range strings.Split(exchange(t, base, head+c.length+"\r\n\r\n"+c.body), "HTTP/1.1 ")[1:] {
			codes = append(codes, part[:3])
		}
		valuetest.Same(t, strings.Join(codes, " "), c.want, c.name)
	}
}

// A client that sends all of its body before it reads gets the answer that came before, and not a reset.
func TestHardToBreak_Row01_AnEarlyAnswerReachesWhoSendsOn(t *testing.T) {
	base, _ := serve(t, user(principal.All()),
		web.Route{Method: "POST", Path: "/own", Access: web.SignedIn, Handler: ok})
	for name, header := range map[string]string{"401": "", "413": "Cookie: " + cookie + "\r\n"} {
		for range 20 {
			head := "POST /own HTTP/1.1\r\nHost: x\r\n" + header + "Content-Length: 4000000\r\n\r\n"
			if answer := exchange(t, base, head+strings.Repeat("x", 4000000)); !strings.HasPrefix(answer,
				"HTTP/1.1 "+name) {
				t.Fatalf("got %q, want %s", answer, name)
			}
		}
	}
}
