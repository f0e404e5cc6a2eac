package walkthrough

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const secret = "whsec_of-the-test"

func TestNoticesAreReadOnce(t *testing.T) {
	e := receivers.NewEndpoint(t)
	w := &walk{hook: e}
	for _, id := range []string{"1", "1", "2"} {
		body := fmt.Sprintf(`{"id":%q,"type":"io.github.belfry-schools.commitment.decided","subject":"7",`+
			`"data":{"entries":[{"status":"confirmed","reason":"fine"}]}}`, id)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL, strings.NewReader(body))
		errortest.None(t, err)
		a, err := http.DefaultClient.Do(r)
		errortest.None(t, err)
		_ = a.Body.Close()
	}
	const line = "commitment.decided confirmed (fine)"
	valuetest.List(t, w.noticesOf(7), []string{line, line})
	valuetest.Len(t, w.noticesOf(8), 0, "of another event")
}

func TestTheItemsOfMailsAreReadOnce(t *testing.T) {
	m, err := receivers.StartMailServer(receivers.MailOptions{})
	errortest.None(t, err)
	defer m.Stop()
	mail := func(id, media string) []byte {
		return []byte(strings.ReplaceAll(`Message-ID: <`+id+`@school.invalid>
Subject: 2 notices
MIME-Version: 1.0
Content-Type: `+media+`; boundary=b

--b
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: quoted-printable

Decided: Con=
cert
Mon 7 Sep 2026, 19:00
- The hall was confirmed.
  Reason: fine
https://belfry.school.invalid/api/events/7

To decide: Play
Tue 8 Sep 2026
- The hall was asked for.

--=20
Sent by Belfry.
--b
Content-Type: text/html; charset=UTF-8
Content-Transfer-Encoding: quoted-printable

<p>Concert</p>
--b--
`, "\n", "\r\n"))
	}
	send := func(body []byte) error {
		return smtp.SendMail(m.Address(), nil, "belfry@school.invalid", []string{"kim@school.invalid"}, body)
	}
	for range 2 { // the same again
		errortest.None(t, send(mail("1", "multipart/alternative")))
	}
	want := []string{
		"Decided: Concert: The hall was confirmed. Reason: fine",
		"To decide: Play: The hall was asked for.",
	}
	got := items(m, "kim@school.invalid")
	valuetest.Same(t, text(got), text(want), "%q, want %q", got, want)
	valuetest.Len(t, items(m, "olive@school.invalid"), 0, "for another reader")
}

func TestWhatIsAtAPath(t *testing.T) {
	a := answer{walk: newWalk(t.Context(), Options{}, io.Discard)}
	a.Body = `{"a":[{"b":1},{"b":9007199254740993}],"c":null,"d":[]}`
	for path, want := range map[string]string{
		"a.0.b": "1", "a.*.b": "[1,9007199254740993]", "a.#": "2", "c": "null", "d.*.x": "[]",
		"a.1": `{"b":9007199254740993}`,
	} {
		if got, ok := a.find(path); !ok || text(got) != want {
			t.Errorf("%s: %s %t, want %s", path, text(got), ok, want)
		}
	}
	for _, path := range []string{"x", "a.2", "a.-1", "a.*.c", "c.d", "a.0.b.1"} {
		if got, ok := a.find(path); ok {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestSecretsAreHidden(t *testing.T) {
	uuid := "7f3c2a9e-0000-4000-8000-000000000001"
	body, err := json.Marshal(map[string]string{"uuid": "chosen-by-hand", "secret": secret, "path": "/ical/abc234.ics",
		"to": uuid})
	errortest.None(t, err)
	for _, text := range []string{string(body), string(body[:len(body)/2]), "GET /api/login?uuid=" + uuid} {
		for _, hides := range []string{"chosen", secret, "abc234", uuid} {
			valuetest.Lacks(t, hidden(text), hides)
		}
	}
}
