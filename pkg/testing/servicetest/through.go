package servicetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// Through returns the address of a proxy that changes the bodies of answers. The proxy ends with the test.
func Through(t *testing.T, address string, change func(r *http.Response, body string) string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	door := httputil.NewSingleHostReverseProxy(target)
	door.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		changed := change(r, string(body))
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(changed)), int64(len(changed))
		r.Header.Set("Content-Length", fmt.Sprint(len(changed)))
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding") // a body that is to be changed has to be plain
		door.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
