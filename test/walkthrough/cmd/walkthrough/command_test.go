package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// command runs the command with a uuid in the environment.
func command(t *testing.T, uuid string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr, func(name string) string {
		if name == "BELFRY_UUID" {
			return uuid
		}
		return ""
	})
	return code, stdout.String(), stderr.String()
}

func TestAWalkEndsAtTheFirstDifference(t *testing.T) {
	s := servicetest.Start(t, servicetest.Options{})
	target, err := url.Parse(s.URL)
	errortest.None(t, err)
	door := httputil.NewSingleHostReverseProxy(target)
	door.ModifyResponse = func(r *http.Response) error {
		if r.Request.URL.Path != "/api/admin/users" {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		body = bytes.Replace(body, []byte(`"id":`), []byte(`"number":`), 1)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", fmt.Sprint(len(body)))
		return nil
	}
	broken := httptest.NewServer(door)
	defer broken.Close()
	code, out, errs := command(t, s.AdminUUID, "--url", broken.URL, "--mail-listen=", "--webhook-listen=")
	if code != exitFailed || errs != "" ||
		!strings.Contains(out, "DIFFERENT: GET /api/admin/users\n       expected: something at users.0.id\n") ||
		!strings.Contains(out, "\nThe walk ended at step 3, after ") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
}

func TestWhatCannotBeWalkedThroughIsExitTwo(t *testing.T) {
	s := servicetest.Start(t, servicetest.Options{})
	user := map[string]any{"name": "Ann Archer", "email": "ann.archer@school.example"}
	s.Admin(t).Post(t, "/api/admin/users", map[string]any{"user": user}).WantCode(t, http.StatusCreated)
	file := filepath.Join(t.TempDir(), "uuid")
	errortest.None(t, os.WriteFile(file, []byte(s.AdminUUID+"\n"), 0o600))
	for name, c := range map[string]struct {
		uuid string
		args []string
		says string
	}{
		"no uuid":      {"", nil, "set BELFRY_UUID or --uuid-file"},
		"no such file": {"", []string{"--uuid-file", file + "x"}, "no such file"},
		"a uuid in a file": {"", []string{"--uuid-file", file, "--url", s.URL, "--mail-listen=", "--webhook-listen="},
			"there is a school already"},
		"a school is there": {s.AdminUUID, []string{"--url", s.URL, "--mail-listen=", "--webhook-listen="},
			"there is a school already"},
		"no deployment there": {"x", []string{"--url", "http://127.0.0.1:1", "--mail-listen=", "--webhook-listen="},
			"connection refused"},
		"half a pair":     {"x", []string{"--tls-cert", file}, "--tls-cert and --tls-key"},
		"no such zone":    {"x", []string{"--timezone", "Mars/Olympus"}, "unknown time zone"},
		"an unknown flag": {"x", []string{"--colour"}, "unknown flag"},
	} {
		code, _, errs := command(t, c.uuid, c.args...)
		if code != exitUnusable || !strings.Contains(errs, c.says) {
			t.Errorf("%s: %d %q", name, code, errs)
		}
		if len(c.uuid) > 1 && strings.Contains(errs, c.uuid) {
			t.Errorf("%s: the uuid is shown: %s", name, errs)
		}
	}
}
