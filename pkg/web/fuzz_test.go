package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

var (
	digits  = regexp.MustCompile(`^[1-9][0-9]*$`)
	largest = new(big.Int).SetUint64(1<<63 - 1)
)

// idByTheBook is the slow model of ids: digits that fit 63 bits, without leading zeros.
func idByTheBook(text string) (int64, bool) {
	n, _ := new(big.Int).SetString(text, 10)
	if !digits.MatchString(text) || n.Cmp(largest) > 0 {
		return 0, false
	}
	return n.Int64(), true
}

func FuzzParseID(f *testing.F) {
	for _, text := range []string{"1", "0", "01", "-1", "+1", " 1", "9223372036854775807", "9223372036854775808", "1e3",
		"١", "1_0", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := ParseID(text)
		want, wantOK := idByTheBook(text)
		if got != want || ok != wantOK {
			t.Fatalf("%q: %d, %v; by the book %d, %v", text, got, ok, want, wantOK)
		}
		if ok && strconv.FormatInt(got, 10) != text {
			t.Fatalf("%q: does not come back from %d", text, got)
		}
	})
}

// FuzzParseBodyID compares with a decoder that takes the value as any JSON.
func FuzzParseBodyID(f *testing.F) {
	for _, text := range []string{`1`, `"1"`, `"\u0031"`, `1.0`, `1e3`, `"01"`, `null`, `[1]`, `""`, `"`, `-1`,
		`true`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := ParseObject([]byte(`{"id":` + string(raw) + `}`))
		if err != nil || len(o) != 1 { // it was no value
			return
		}
		var value any
		decoder := json.NewDecoder(bytes.NewReader(o["id"]))
		decoder.UseNumber()
		errortest.None(t, decoder.Decode(&value))
		var want int64
		wantOK := false
		switch v := value.(type) {
		case json.Number:
			want, wantOK = idByTheBook(v.String())
		case string:
			want, wantOK = idByTheBook(v)
		}
		if got, ok := ParseBodyID(o["id"]); got != want || ok != wantOK {
			t.Fatalf("%s: %d, %v; by the book %d, %v", raw, got, ok, want, wantOK)
		}
	})
}

// objectByTheBook is the slow model of ParseObject: one value from a stream, and then its end.
func objectByTheBook(text []byte) (map[string]any, bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if !utf8.Valid(text) || decoder.Decode(&value) != nil {
		return nil, false
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, false
	}
	object, ok := value.(map[string]any)
	return object, ok
}

func FuzzParseObject(f *testing.F) {
	for _, text := range []string{
		`{}`, ` {"a":1}` + "\n", `{"a":1} x`, `{"a":1}{}`, `[]`, `null`, `{"a":{"b":[1,2,{"c":null}]}}`,
		`{"a":1,"a":2}`, `{"A":1,"a":2}`,
		"{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{"":""}`, `{"a":1e999}`, `{a:1}`, "\ufeff{}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ParseObject(text)
		want, ok := objectByTheBook(text)
		valuetest.MustSame(t, err == nil, ok, "%q: %v", text, err)
		if !ok {
			return
		}
		// Written and read again, it is the same to the book.
		written, err := json.Marshal(got)
		errortest.None(t, err, "%q", text)
		if again, _ := objectByTheBook(written); !reflect.DeepEqual(again, want) {
			t.Fatalf("%q: became %s", text, written)
		}
		for name := range want {
			valuetest.MustSame(t, got.Null(name) || !got.Has(name), want[name] == nil,
				"%q: %s is null or not there", text, name)
		}
	})
}

// FuzzQuery compares the value that a handler reads with that of net/url, for queries that both can read.
func FuzzQuery(f *testing.F) {
	for _, query := range []string{"name=a", "name=a+b%20c", "name=%ff", "name=%C3%A9", "name", "name=a&name=b",
		"x=1&name=a", "name=a%26b=c", "%6eame=a", "name=a%"} {
		f.Add(query)
	}
	app := fiber.New(fiber.Config{Immutable: true})
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil || strings.ContainsAny(query, "#\x00") {
			return
		}
		var request fasthttp.RequestCtx
		request.Request.URI().SetQueryString(query)
		c := app.AcquireCtx(&request)
		defer app.ReleaseCtx(c)
		got, err := Query(c, "name")
		want := values.Get("name")
		if utf8.ValidString(want) != (err == nil) || (err == nil && got != want) {
			t.Fatalf("%q: %q, %v; by the book %q", query, got, err, want)
		}
	})
}

// FuzzParseTags holds that what is read as tags, written as tags, is read as the same.
func FuzzParseTags(f *testing.F) {
	for _, text := range []string{`"a"`, `W/"a", "b,c"`, `*`, ` ,"",, "a"`, `"a`, `a`, `"a""b"`, `"a" x`, "", `w/"a"`,
		`W/*`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, star, ok := parseTags(text)
		if ok && star == (len(list) > 0) || !ok && (star || list != nil) {
			t.Fatalf("%q: %q, %v, %v", text, list, star, ok)
		}
		if len(list) == 0 {
			return
		}
		written := `W/"` + strings.Join(list, `" , "`) + `"`
		again, _, ok := parseTags(written)
		if !ok || !reflect.DeepEqual(again, list) {
			t.Fatalf("%q: %q, written as %s: %q, %v", text, list, written, again, ok)
		}
		valuetest.MustSame(t, strings.Count(text, `"`), 2*len(list), "%q: %d tags", text, len(list))
	})
}

// FuzzClientAddress holds that the client's address is an address; that without a trusted peer no header counts; and
// that a client can't say by a header of its own what the proxy in front of it says after it.
func FuzzClientAddress(f *testing.F) {
	for _, header := range []string{
		"192.0.2.1", "192.0.2.1, 10.0.0.1", "[2001:db8::1]:443", "2001:db8::1%eth0", "unknown, 192.0.2.1", ", ,",
		"10.0.0.1:99999",
		"::ffff:192.0.2.1", "[192.0.2.1]", "192.0.2.1\t,\t_x", "0x7f.1", "192.0.2.01",
	} {
		f.Add(header)
	}
	app := fiber.New()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	ask := func(peer, header string) string {
		var request fasthttp.RequestCtx
		request.Init(&fasthttp.Request{}, &net.TCPAddr{IP: net.ParseIP(peer)}, nil)
		request.Request.Header.Set(fiber.HeaderXForwardedFor, header)
		c := app.AcquireCtx(&request)
		defer app.ReleaseCtx(c)
		return ClientAddress(c, trusted)
	}
	f.Fuzz(func(t *testing.T, header string) {
		valuetest.MustSame(t, ask("192.0.2.9", header), "192.0.2.9", "%q, from a peer that is not trusted", header)
		got := ask("10.0.0.2", header)
		valuetest.MustSame(t, netip.MustParseAddr(got).Zone(), "", "%q: %s", header, got)
		valuetest.MustSame(t, ask("10.0.0.2", header+", 198.51.100.7"), "198.51.100.7",
			"%q, and then what the proxy says", header)
	})
}

// FuzzNegotiate compares the chosen encoding with that of a model, which considers each encoding alone.
func FuzzNegotiate(f *testing.F) {
	for _, text := range []string{"gzip", "gzip, br;q=0.5, zstd;q=0.4", "*;q=0.1, gzip;q=0", "identity", "", ";", ",",
		"gzip;q=1;q=0", "zstd;Q= 1", "\tx-gzip ; q=.5 ", "identity;q=0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, accepted string) {
		chosen := negotiate(accepted)
		if chosen == identity {
			return
		}
		named := strings.Contains(strings.ToLower(accepted), chosen.String()) || strings.Contains(accepted, "*")
		valuetest.MustHold(t, named, "%q: %v", accepted, chosen)
		for _, refusal := range []string{
			"%s, gzip;q=0, x-gzip;q=0, zstd;q=0", "%s, identity;q=1, gzip;q=0.5, zstd;q=0.5",
		} {
			valuetest.MustSame(t, negotiate(fmt.Sprintf(refusal, accepted)), identity, "%q refused", accepted)
		}
	})
}
