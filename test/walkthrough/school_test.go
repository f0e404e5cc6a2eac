package walkthrough_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/test/walkthrough"
)

// deployment is an empty deployment with two replicas of every service. It sends its notices to the receivers of a
// walk, over TLS.
type deployment struct {
	*servicetest.System
	options walkthrough.Options
}

func startEmpty(t *testing.T) deployment {
	t.Helper()
	receivers := httptest.NewTLSServer(nil) // for its certificate, of 127.0.0.1
	receivers.Close()
	authority := filepath.Join(t.TempDir(), "authority.pem")
	errortest.None(t, os.WriteFile(authority,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receivers.Certificate().Raw}), 0o600))
	mail, hook := free(t), free(t)
	host, port, err := net.SplitHostPort(mail)
	errortest.None(t, err)
	s := servicetest.Start(t, servicetest.Options{Replicas: 2, Env: map[string]string{
		"SSL_CERT_FILE": authority, "BELFRY_SMTP_HOST": host, "BELFRY_SMTP_PORT": port,
		"BELFRY_MAIL_FROM":     "Belfry <belfry@school.invalid>",
		"BELFRY_SMTP_USERNAME": "belfry", "BELFRY_SMTP_PASSWORD": "mail-password-of-the-test",
		"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8",
	}})
	zone, err := time.LoadLocation("Europe/London")
	errortest.None(t, err)
	return deployment{s, walkthrough.Options{
		URL: s.URL, AdminUUID: s.AdminUUID, Zone: zone, MailListen: mail, HookListen: hook,
		Certificate: &receivers.TLS.Certificates[0],
		Documented:  true,
	}}
}

// free returns an address that nothing listens on. Its port is outside the ranges for the services of tests and for
// outgoing connections.
func free(t *testing.T) string {
	t.Helper()
	for {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		errortest.None(t, err)
		defer func() { _ = listener.Close() }()
		return listener.Addr().String()
	}
}

func TestSchool_FromAnEmptyDeploymentToARunningSchool(t *testing.T) {
	t.Parallel()
	d := startEmpty(t)
	var printed bytes.Buffer
	summary, err := walkthrough.Run(t.Context(), d.options, &printed)
	t.Logf("%s\n%+v", &printed, summary)
	errortest.None(t, err)
	if summary.Calls < 50 || summary.Mails == 0 || summary.Notices < 7 {
		t.Errorf("%+v", summary)
	}
	valuetest.Same(t, regexp.MustCompile(regexp.QuoteMeta(d.AdminUUID)+
		`|whsec_|/ical/[a-z2-7]|[0-9a-f]{8}-[0-9a-f]{4}-4`).FindString(printed.String()), "", "a secret is printed")
	printed.Reset()
	errortest.Is(t, errortest.Of(walkthrough.Run(t.Context(), d.options, &printed)), walkthrough.ErrNotEmpty,
		"a second walk ended with\n%s", &printed)
}

// TestADifferenceEndsTheWalk walks through proxies that each break one thing: at the beginning, in the middle or
// near the end of the walk.
func TestADifferenceEndsTheWalk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change   func(r *http.Response, body string) string
		expected string // how the difference begins
	}{
		"a field": {
			func(_ *http.Response, body string) string {
				return strings.Replace(body, `"current":true`, `"current":false`, 1)
			}, "POST /api/admin/elements, element.current\n  expected: true\n  got:      false\n",
		},
		"a forbidden move": {
			func(r *http.Response, body string) string {
				if r.StatusCode == http.StatusConflict {
					r.StatusCode = http.StatusOK
				}
				return body
			}, "PATCH /api/commitments/4\n  expected: 409\n  got:      200 {",
		},
		"a feed that outlives its renewal": {
			func(r *http.Response, body string) string {
				if strings.HasPrefix(r.Request.URL.Path, "/ical/") && r.StatusCode == http.StatusNotFound {
					r.StatusCode = http.StatusOK
				}
				return body
			}, "GET /ical/….ics\n  expected: 404\n  got:      200 {",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := startEmpty(t)
			d.options.URL, d.options.Documented = servicetest.Through(t, d.URL, c.change), false
			var printed bytes.Buffer
			_, err := walkthrough.Run(t.Context(), d.options, &printed)
			var difference *walkthrough.DifferenceError
			if !errors.As(err, &difference) ||
				!strings.HasPrefix(err.Error(), fmt.Sprintf("step %d: %s", difference.Step, c.expected)) {
				t.Errorf("%v\n%s", err, &printed)
			}
			valuetest.Has(t, printed.String(), "DIFFERENT: ", "it is not printed")
		})
	}
}

// A deployment that sends no notices fails the walk.
func TestANoticeThatDoesNotComeIsADifference(t *testing.T) {
	t.Parallel()
	d := startEmpty(t)
	// its mail goes elsewhere
	d.options.MailListen, d.options.Patience, d.options.Documented = "127.0.0.1:0", 3*time.Second, false
	_, err := walkthrough.Run(t.Context(), d.options, io.Discard)
	var difference *walkthrough.DifferenceError
	if !errors.As(err, &difference) || difference.What != "the administrator has mail (waited 3s)" ||
		difference.Got != "[]" {
		t.Errorf("%v", err)
	}
}

func TestWhatCannotBeWalkedThrough(t *testing.T) {
	zone := time.UTC
	for says, o := range map[string]walkthrough.Options{
		"the address must look like": {URL: "belfry", Zone: zone},
		"connection refused":         {URL: "http://127.0.0.1:1", Zone: zone},
		"listen for mail":            {URL: "http://127.0.0.1:1", Zone: zone, MailListen: "127.0.0.1:x"},
		"listen for the webhook":     {URL: "http://127.0.0.1:1", Zone: zone, HookListen: "127.0.0.1:x"},
	} {
		var difference *walkthrough.DifferenceError
		if _, err := walkthrough.Run(t.Context(), o, io.Discard); err == nil || errors.As(err, &difference) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}
