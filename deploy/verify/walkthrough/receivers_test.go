package walkthrough

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/smtp"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const secret = "whsec_b2YtdGhlLXRlc3Q="

// signed is the signature of a body at a time.
func signed(secret string, at time.Time, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

func TestTheEndpointFindsWhatIsWrongWithADelivery(t *testing.T) {
	e, err := startEndpoint("127.0.0.1:0", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	e.trust(secret)
	now := time.Now()
	event := func(id, kind string) string {
		return fmt.Sprintf(`{"specversion":"1.0","id":%q,"source":"https://belfry.school.invalid/api/events","type":"io.github.belfry-schools.%s","subject":"7","time":%q,`+
			`"datacontenttype":"application/json","data":{"actor_id":1,"entries":[{"commitment_id":71,"status":"confirmed","reason":"fine","decided_by":1}]}}`, id, kind, now.Format(time.RFC3339))
	}
	right := event("1", "commitment.decided")
	other, err := standardwebhooks.NewWebhook("whsec_b3RoZXI=")
	if err != nil {
		t.Fatal(err)
	}
	standard, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body, signature, key, fault string
	}{
		{right, signed(secret, now, right), "1", ""},
		{right, signed(secret, now, right), "1", "unable to verify payload, err: no matching signature"}, // by the standard's headers
		{right, signed(secret+"x", now, right), "1", "the signature is wrong"},
		{right, signed(secret, now, right+" "), "1", "the signature is wrong"},
		{right, strings.Replace(signed(secret, now, right), "t=", "t=1", 1), "1", "the signature is "}, // of another age
		{right, signed(secret, now.Add(-6*time.Minute), right), "1", "the signature is 6m"},
		{right, "", "1", "the signature has no time"},
		{right, signed(secret, now, right), "2", `its Idempotency-Key is "2", its id "1"`},
		{"{}", signed(secret, now, "{}"), "", "it is no CloudEvent 1.0"},
		{"{", signed(secret, now, "{"), "", "unexpected end of JSON input"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Belfry-Signature": {c.signature}, "Idempotency-Key": {c.key}, "Content-Type": {"application/cloudevents+json; charset=utf-8"}}
		signer := standard
		if strings.HasPrefix(c.fault, "unable to verify") {
			signer = other
		}
		signature, err := signer.Sign("1", now, []byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("webhook-id", "1")
		r.Header.Set("webhook-timestamp", fmt.Sprint(now.Unix()))
		r.Header.Set("webhook-signature", signature)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		attempts := e.attempts()
		if got := attempts[len(attempts)-1].fault; a.StatusCode != http.StatusNoContent || (c.fault == "") != (got == "") || !strings.HasPrefix(got, c.fault) {
			t.Errorf("%d, %q, want %q", a.StatusCode, got, c.fault)
		}
	}
	if got := e.of(7); len(got) != 1 || got[0] != "commitment.decided confirmed (fine)" {
		t.Errorf("repeats are told as well: %q", got)
	}
}

func TestTheMailServerReadsWhatItTakes(t *testing.T) {
	m, err := startMailServer("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	mail := func(id, media string) []byte {
		return []byte(strings.ReplaceAll("Message-ID: <"+id+"@school.invalid>\nSubject: 2 notices\nMIME-Version: 1.0\nContent-Type: "+media+`; boundary=b

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
		return smtp.SendMail(m.listen.Addr().String(), nil, "belfry@school.invalid", []string{"kim@school.invalid"}, body)
	}
	for range 2 { // the same again
		if err := send(mail("1", "multipart/alternative")); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"Decided: Concert: The hall was confirmed. Reason: fine", "To decide: Play: The hall was asked for."}
	if got := m.items("kim@school.invalid"); text(got) != text(want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := m.items("olive@school.invalid"); len(got) != 0 {
		t.Errorf("%q for somebody else", got)
	}
	if err := send(mail("2", "multipart/mixed")); err == nil || !strings.Contains(err.Error(), "multipart/alternative") {
		t.Errorf("a mail without its parts: %v", err)
	}
}

func TestWhatIsAtAPath(t *testing.T) {
	a := answer{walk: newWalk(t.Context(), Options{}, "", &bytes.Buffer{}), body: []byte(`{"a":[{"b":1},{"b":9007199254740993}],"c":null,"d":[]}`)}
	for path, want := range map[string]string{
		"a.0.b": "1", "a.*.b": "[1,9007199254740993]", "a.#": "2", "c": "null", "d.*.x": "[]", "a.1": `{"b":9007199254740993}`,
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

// The walk's own table of moves: its round makes each of them.
func TestTheRoundMakesEveryMove(t *testing.T) {
	made := map[string]bool{}
	for i, from := range round[:len(round)-1] {
		made[from+" "+round[i+1]] = true
	}
	for from, all := range moves {
		for _, to := range all {
			if !made[from+" "+to] {
				t.Errorf("%s to %s is not made", from, to)
			}
			delete(made, from+" "+to)
		}
	}
	if len(made) > 0 {
		t.Errorf("these are no moves: %v", made)
	}
}

func TestSecretsAreHidden(t *testing.T) {
	uuid := "7f3c2a9e-0000-4000-8000-000000000001"
	body, err := json.Marshal(map[string]string{"uuid": "chosen-by-hand", "secret": secret, "path": "/ical/abc234.ics", "to": uuid})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(body), string(body[:len(body)/2]), "GET /api/login?uuid=" + uuid} {
		for _, hides := range []string{"chosen", secret, "abc234", uuid} {
			if strings.Contains(hidden(text), hides) {
				t.Errorf("%s", hidden(text))
			}
		}
	}
}
