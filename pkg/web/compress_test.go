package web_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// plain returns the body of an answer, which may be compressed.
func plain(t *testing.T, body string, header http.Header) string {
	t.Helper()
	var unpacked io.Reader = strings.NewReader(body)
	var err error
	switch header.Get("Content-Encoding") {
	case "gzip":
		unpacked, err = gzip.NewReader(unpacked)
	case "zstd":
		unpacked, err = zstd.NewReader(unpacked)
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(unpacked)
	}
	if err != nil {
		t.Errorf("%s: %v", header.Get("Content-Encoding"), err)
	}
	return string(text)
}

// text answers with "belfry " repeated that many times, as a record with a tag.
func text(times int) fiber.Handler {
	return func(c *fiber.Ctx) error {
		return web.Record(c, web.State{Kind: "text", ID: 1, Version: 1},
			web.Field{Name: "text", Value: strings.Repeat("belfry ", times)})
	}
}

const variesBy = "Accept-Encoding, Origin, Sec-Fetch-Site"

func TestCompression_AnAnswerAboveAKiBComesAsItsClientAccepts(t *testing.T) {
	base, _ := serve(t, user(principal.All()), route(http.MethodGet, "/text", text(200)))
	_, want, header := ask(t, http.MethodGet, base+"/text", "", "Accept-Encoding", "identity")
	tag := strings.Trim(header.Get("ETag"), `"`)
	if len(want) != 1400+around || header.Get("Content-Encoding") != "" || header.Get("Vary") != variesBy {
		t.Fatalf("%d bytes, %v", len(want), header)
	}
	for accepted, encoding := range map[string]string{
		"gzip": "gzip", "GZip": "gzip", "x-gzip": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd",
		"*":                "zstd",
		"zstd;q=0.5, gzip": "gzip", "gzip; Q=0.5": "gzip", "zstd;q=0, *": "gzip", "identity;q=0.5, gzip;q=0.6": "gzip",
		"br": "", "deflate": "", "gzip;q=0": "", "*;q=0": "", "gzip;q=2": "", "gzip;q=nan": "", "gzip;level=9": "",
		"identity, gzip;q=0.5": "", "gzip;q=0.0001": "gzip", ",, ;": "",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			code, body, header := ask(t, method, base+"/text", "", "Accept-Encoding", accepted)
			own := tag
			if encoding != "" {
				own += "-" + encoding
			}
			if code != 200 || header.Get("Content-Encoding") != encoding || header.Get("Vary") != variesBy ||
				header.Get("ETag") != `"`+own+`"` {
				t.Errorf("%s %q: %d %v", method, accepted, code, header)
			}
			switch {
			case method == http.MethodHead:
				if _, got, _ := ask(t, http.MethodGet, base+"/text", "", "Accept-Encoding", accepted); body != "" ||
					header.Get("Content-Length") != fmt.Sprint(len(got)) {
					t.Errorf("HEAD %q: %s bytes, of GET %d", accepted, header.Get("Content-Length"), len(got))
				}
			case plain(t, body, header) != want || encoding != "" && len(body) > len(want)/4:
				t.Errorf("%q: %d bytes", accepted, len(body))
			}
			for known, code := range map[string]int{own: 304, tag: 304, tag + "-br": 200} {
				if known == tag && encoding != "" {
					code = 200 // it has other bytes
				}
				got, body, header := ask(t, method, base+"/text", "", "Accept-Encoding", accepted,
					"If-None-Match", `"`+known+`"`)
				if got != code || header.Get("ETag") != `"`+own+`"` || header.Get("Vary") != variesBy ||
					code == 304 && (body != "" || header.Get("Content-Encoding") != "") {
					t.Errorf("%s %q of who has %s: %d, %d bytes, %v", method, accepted, known, got, len(body), header)
				}
			}
		}
	}
}

func TestCompression_WhatIsSmallRefusedStreamedOrSecretIsSentAsItIs(t *testing.T) {
	secret, streamed, refused := route(http.MethodGet, "/secret", text(200)),
		route(http.MethodGet, "/stream", func(c *fiber.Ctx) error {
			c.Context().Response.SetBodyStream(strings.NewReader(strings.Repeat("belfry ", 200)), -1)
			return nil
		}),
		route(http.MethodGet, "/refused", func(c *fiber.Ctx) error {
			return web.Answer(c, 422, "Invalid", web.Field{Name: "text", Value: strings.Repeat("belfry ", 200)})
		})
	secret.Secret = true
	inner := route(http.MethodGet, "/inner", text(200))
	inner.Access = web.Neighbour
	base, _ := serve(t, user(principal.All()), route(http.MethodGet, "/kib", func(c *fiber.Ctx) error {
		return web.OK(c, web.Field{Name: "text", Value: strings.Repeat("b", 1024-around)})
	}), route(http.MethodGet, "/text", text(200)), secret, streamed, refused, inner)
	for _, c := range []struct {
		path    string
		headers []string
		varies  bool
	}{
		{path: "/kib"}, {path: "/secret"}, {path: "/stream"}, {path: "/refused"},
		{path: "/inner", headers: []string{"Authorization", "Bearer " + internalToken}},
		// asked for by pages from elsewhere
		{path: "/text", headers: []string{"Sec-Fetch-Site", "cross-site"}, varies: true},
		{path: "/text", headers: []string{"Sec-Fetch-Site", "same-site"}, varies: true},
		{path: "/text", headers: []string{"Origin", "https://elsewhere.example"}, varies: true},
	} {
		headers := append(c.headers, "Accept-Encoding", "gzip, zstd")
		_, body, header := ask(t, http.MethodGet, base+c.path, "", headers...)
		if len(body) < 1024 || header.Get("Content-Encoding") != "" || (header.Get("Vary") != "") != c.varies ||
			strings.Contains(header.Get("ETag"), "gzip") {
			t.Errorf("%v: %d bytes, %v", c, len(body), header)
		}
	}
	own := route(http.MethodGet, "/own", func(c *fiber.Ctx) error {
		c.Vary(fiber.HeaderAcceptLanguage)
		return text(200)(c)
	})
	at, _ := serve(t, user(principal.All()), own)
	_, _, header := ask(t, http.MethodGet, at+"/own", "", "Accept-Encoding", "gzip")
	valuetest.Same(t, header.Get("Vary"), "Accept-Language, "+variesBy,
		"beside what its handler names, an answer varies by …")
	for _, site := range []string{"same-origin", "none"} {
		_, _, header := ask(t, http.MethodGet, base+"/text", "", "Accept-Encoding", "gzip", "Sec-Fetch-Site", site)
		valuetest.Same(t, header.Get("Content-Encoding"), "gzip", "%s: %v", site, header)
	}
}

func TestCompression_ARepeatedRequestGetsItsAnswerAsItAcceptsItThen(t *testing.T) {
	address, things := repeatableAt(t, func(c *fiber.Ctx, _ int64) error {
		return web.Answer(c, 201, "Created", web.Field{Name: "text", Value: strings.Repeat("belfry ", 200)})
	})
	var want string
	for _, encoding := range []string{"zstd", "identity", "gzip", "zstd"} {
		code, body, header := ask(t, http.MethodPost, address+"/things/1", `{}`, "Cookie", cookie, "Idempotency-Key",
			"k", "Accept-Encoding", encoding)
		got := plain(t, body, header)
		if want == "" {
			want = got
		}
		if encoding == "identity" {
			encoding = ""
		}
		if code != 201 || header.Get("Content-Encoding") != encoding || got != want || len(got) < 1400 {
			t.Errorf("%q: %d, %d bytes, %v", encoding, code, len(body), header)
		}
	}
	valuetest.Same(t, things.Load(), 1, "things")
}

// TestCompression_ManyLargeAnswersAtOnce asks for more at a time than there are compressors, and than there is room
// for. The bound of a list counts before compression.
func TestCompression_ManyLargeAnswersAtOnce(t *testing.T) {
	base := serveTexts(t, "belfry ")
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			length, encoding := 7*(1<<20-100), [...]string{"gzip", "zstd"}[i%2]
			if i%3 > 0 {
				length = 7 * (20 << 10) * (i % 3)
			}
			_, body, header := ask(t, http.MethodGet, fmt.Sprint(base, "/text/", length), "", "Cookie", cookie,
				"Accept-Encoding", encoding)
			if header.Get("Content-Encoding") != encoding || len(body) > length/100 ||
				len(plain(t, body, header)) != length+around {
				t.Errorf("%d bytes by %s: %d bytes, %v", length, encoding, len(body), header)
			}
		})
	}
	wg.Wait()
	if code, body, header := ask(t, http.MethodGet, fmt.Sprint(base, "/text/", 7*(2<<20)), "", "Cookie", cookie,
		"Accept-Encoding", "gzip"); code != 400 || body != refusedList || header.Get("Content-Encoding") != "" {
		t.Errorf("too long: %d %.200s %v", code, body, header)
	}
}
