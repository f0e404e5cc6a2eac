package apidoc_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func get(t *testing.T, path, known string) (*http.Response, []byte) {
	t.Helper()
	app := fiber.New()
	for _, r := range apidoc.Routes() {
		app.Get(r.Path, r.Handler)
	}
	request := httptest.NewRequest(http.MethodGet, path, nil)
	if known != "" {
		request.Header.Set("If-None-Match", known)
	}
	answer, err := app.Test(request, -1) // without a time limit: the page is made by the first call
	errortest.None(t, err)
	body, err := io.ReadAll(answer.Body)
	errortest.None(t, err)
	errortest.None(t, answer.Body.Close())
	return answer, body
}

func TestRoutes_AreServedOnceAndThenOnlyWhenChanged(t *testing.T) {
	for path, media := range map[string]string{"/api/openapi.json": "application/json; charset=utf-8",
		"/api/docs": "text/html; charset=utf-8"} {
		first, body := get(t, path, "")
		tag := first.Header.Get("ETag")
		if first.StatusCode != http.StatusOK || first.Header.Get("Content-Type") != media || len(body) < 10000 ||
			tag == "" {
			t.Errorf("%s: %d %v, %d bytes", path, first.StatusCode, first.Header, len(body))
		}
		if again, body := get(t, path, tag); again.StatusCode != http.StatusNotModified || len(body) != 0 ||
			again.Header.Get("ETag") != tag {
			t.Errorf("%s again: %d, %d bytes", path, again.StatusCode, len(body))
		}
		changed, _ := get(t, path, `"other"`)
		valuetest.Same(t, changed.StatusCode, http.StatusOK, "%s with another tag", path)
	}
}

// The page has its style and script in it, and its policy allows these two texts and calls of its own address alone.
func TestPage_AsksNoOtherSiteAndRunsNothingElse(t *testing.T) {
	answer, body := get(t, "/api/docs", "")
	rest, sums := body, map[string]string{}
	for _, part := range []struct{ element, file string }{{"style", "page.css"}, {"script", "page.js"}} {
		text, err := os.ReadFile(part.file)
		errortest.None(t, err)
		whole := fmt.Appendf(nil, "<%s>%s</%s>", part.element, text, part.element)
		if !bytes.Contains(body, whole) {
			t.Errorf("the page's %s is not %s to the letter", part.element, part.file)
		}
		rest = bytes.Replace(rest, whole, nil, 1)
		sum := sha256.Sum256(text)
		sums[part.element] = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	policy := "default-src 'none'; style-src " + sums["style"] + "; script-src " + sums["script"] +
		"; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	valuetest.Same(t, answer.Header.Get("Content-Security-Policy"), policy, "the policy")
	for _, bad := range []string{"<style", "<script", "<link", "<img", "<iframe", "@import", "url(", " style=",
		"javascript:", " onclick="} {
		valuetest.Holds(t, !bytes.Contains(rest, []byte(bad)), "the page has %s", bad)
	}
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(` id="([^"]+)"`).FindAllSubmatch(body, -1) {
		if ids[string(id[1])] {
			t.Errorf("the id %s comes twice", id[1])
		}
		ids[string(id[1])] = true
	}
	for _, link := range regexp.MustCompile(` href="([^"]+)"`).FindAllSubmatch(body, -1) {
		target, local := strings.CutPrefix(string(link[1]), "#")
		if local && !ids[target] || !local && target != "/api/openapi.json" {
			t.Errorf("the link %s leads nowhere", link[1])
		}
	}
}
