package api

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestEveryPublicPathLiesInTheServicesRows(t *testing.T) {
	servicetest.RoutedTo(t, names.Console, (handlers{}).public(), nil)
}

// TestHardToBreak_Row05_FormsThatStallRefuseNoSignIn: anyone could keep all visitors from sending a form.
func TestHardToBreak_Row05_FormsThatStallRefuseNoSignIn(t *testing.T) {
	s := shared.Get(t)
	b := visitor(t)
	b.base = s.Replica("console", 0)
	for range 200 {
		stall(t, b.base, "/sign-in", form, 64<<10, 60<<10)
	}
	large := url.Values{"title": {strings.Repeat("x", 56<<10)}}
	code, page := 0, ""
	for deadline := time.Now().Add(5 * time.Second); code != 429 && time.Now().Before(deadline); {
		code, _, page = b.do(http.MethodPost, "/book", large)
	}
	if code != 429 || !strings.Contains(page, "One moment, please") {
		t.Errorf("a long form while others hold all room of its address: %d %s", code, page)
	}
	b.send("/sign-in", url.Values{"uuid": {s.AdminUUID}}, 200)
}

// TestHardToBreak_Row05_NoFormIsReadBeforeItsBoundIsKnown: a form where files are expected was read as a whole, from
// anyone.
func TestHardToBreak_Row05_NoFormIsReadBeforeItsBoundIsKnown(t *testing.T) {
	c := stall(t, shared.Get(t).Replica("console", 0), importPath, form, 1<<20, 100)
	errortest.None(t, c.SetReadDeadline(time.Now().Add(5*time.Second)))
	answer := make([]byte, len("HTTP/1.1 401"))
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 401" {
		t.Errorf("who is not signed in gets %q, %v", answer, err)
	}
}

// TestDecisionsPart1_AnUnknownPathIsNotFoundByAnyMethod: it was 405, for the page of unknown paths was a GET of each.
func TestDecisionsPart1_AnUnknownPathIsNotFoundByAnyMethod(t *testing.T) {
	c := shared.Get(t).Client(t)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
		for _, path := range []string{"/nonsense", "/x/y/z", "/week/1/x", "/sign-in/"} {
			c.Do(t, method, path, nil).WantCode(t, 404)
		}
	}
	for path, allow := range map[string]string{"/week/1": "GET, HEAD", "/account/tokens": "POST",
		"/sign-in": "GET, HEAD, POST"} {
		a := c.Do(t, "DELETE", path, nil)
		a.WantCode(t, 405)
		valuetest.Same(t, a.Header.Get("Allow"), allow, path)
	}
	b := visitor(t)
	code, _, page := b.do(http.MethodPost, "/nonsense", url.Values{"a": {"b"}})
	b.check("/nonsense", code, 404, page, []string{"There is nothing here"})
}

// What middleware refuses is a page too.
func TestConsole_AFormThatIsNotReadGivesAPage(t *testing.T) {
	b := visitor(t)
	code, _, page := b.do(http.MethodPost, "/book", url.Values{"title": {strings.Repeat("x", formAtMost)}})
	b.check("/book", code, 413, page, []string{"Nothing was changed"})
	valuetest.Lacks(t, page, "<form", "what was not read is sent again")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+"/book", strings.NewReader("{}"))
	errortest.None(t, err)
	r.Header.Set("Content-Type", "application/json")
	code, _, page = b.answered(r)
	b.check("/book", code, 415, page, []string{"Nothing was changed"})
}

// stall sends the head of a form, and a part of what it declares.
func stall(t *testing.T, base, path, media string, declared, sent int) net.Conn {
	t.Helper()
	at := strings.TrimPrefix(base, "http://")
	c, err := net.Dial("tcp", at)
	errortest.None(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, at,
		media, declared, strings.Repeat("x", sent)) // what it refuses it need not read
	return c
}

func TestLocal_OnlyPathsOfThisAddress(t *testing.T) {
	for to, want := range map[string]string{
		"/week/5?date=2026-11-24": "/week/5?date=2026-11-24", "": "/", "https://elsewhere.example/": "/",
		"//elsewhere.example": "/", `/\elsewhere.example`: "/", "/\n": "/", "week": "/",
		"/api/login?uuid=x": "/", "/%61pi/logout": "/", "/x/..//api/logout": "/",
	} {
		valuetest.Same(t, local(to), want, "%q", to)
	}
}

func TestReadIDs_EachOnceAndABound(t *testing.T) {
	if ids, err := readIDs("5, 7,,5"); err != nil || joinIDs(ids) != "5,7" {
		t.Errorf("%v, %v", ids, err)
	}
	for _, text := range []string{"", "0", "-1", "x", "1,x", "1,2,3,4,5,6,7,8,9"} {
		ids, err := readIDs(text)
		errortest.Some(t, err, "%q passes as %v", text, ids)
	}
}

func TestTimes_WhatTheInterfaceIsGiven(t *testing.T) {
	timed := times{Title: "Maths", Kind: 2, Date: "2026-11-24", From: "09:00", To: "09:50"}.fields()
	if timed["starts_at_text"] != "2026-11-24 09:00" || timed["ends_at_text"] != "2026-11-24 09:50" {
		t.Errorf("%v", timed)
	}
	if open := (times{Date: "2026-11-24"}).fields(); open["starts_at_text"] == "2026-11-24 " ||
		open["ends_at_text"] == "2026-11-24 " {
		t.Errorf("an event without times is at midnight: %v", open)
	}
	night := times{Date: "2026-11-24", From: "22:00", To: "02:00", Last: "2026-11-25"}.fields()
	valuetest.Holds(t, night["ends_at_text"] == "2026-11-25 02:00", "%v", night)
	days := times{Date: "2026-11-24", Last: "2026-11-25", AllDay: true}.fields()
	valuetest.Holds(t, days["starts_at_text"] == "2026-11-24" && days["ends_at_text"] == "2026-11-25", "%v", days)
}
