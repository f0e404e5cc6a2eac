package receivers_test

import (
	"fmt"
	"net/http"
	"net/smtp"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const secret = "whsec_b2YtdGhlLXRlc3Q="

func TestTheEndpointFindsWhatIsWrongWithADelivery(t *testing.T) {
	e, err := receivers.StartEndpoint(receivers.EndpointOptions{})
	errortest.None(t, err)
	defer e.Close()
	e.Trust(secret)
	now := time.Now()
	event := func(id, kind string) string {
		return fmt.Sprintf(`{"specversion":"1.0","id":%q,"source":"https://belfry.school.invalid/api/events",`+
			`"type":"io.github.belfry-schools.%s","subject":"7","time":%q,"datacontenttype":"application/json",`+
			`"data":{"actor_id":1,"entries":[`+
			`{"commitment_id":71,"status":"confirmed","reason":"fine","decided_by":1}]}}`,
			id, kind, now.Format(time.RFC3339))
	}
	right := event("1", "commitment.decided")
	for _, c := range []struct {
		secret, body, key string
		at                time.Time
		fault             string
	}{
		{secret, right, "1", now, ""},
		{"whsec_b3RoZXI=", right, "1", now, "unable to verify payload, err: no matching signature"},
		{secret, right, "1", now.Add(-6 * time.Minute), "unable to verify payload, err: message timestamp too old"},
		{secret, right, "2", now, `its Idempotency-Key is "2", its id "1"`},
		{secret, "{}", "", now, "it is no CloudEvent 1.0"},
		{secret, "{", "", now, "unexpected end of JSON input"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL, strings.NewReader(c.body))
		errortest.None(t, err)
		standard, err := standardwebhooks.NewWebhook(c.secret)
		errortest.None(t, err)
		signature, err := standard.Sign("1", c.at, []byte(c.body))
		errortest.None(t, err)
		r.Header = http.Header{
			"Idempotency-Key": {c.key}, "Content-Type": {"application/cloudevents+json; charset=utf-8"},
		}
		r.Header.Set("webhook-id", "1")
		r.Header.Set("webhook-timestamp", fmt.Sprint(c.at.Unix()))
		r.Header.Set("webhook-signature", signature)
		a, err := http.DefaultClient.Do(r)
		errortest.None(t, err)
		_ = a.Body.Close()
		attempts := e.Got()
		got := attempts[len(attempts)-1].Fault
		if a.StatusCode != http.StatusNoContent || (c.fault == "") != (got == "") || !strings.HasPrefix(got, c.fault) {
			t.Errorf("%d, %q, want %q", a.StatusCode, got, c.fault)
		}
	}
}

func mail(id, media string) []byte {
	return []byte(strings.ReplaceAll(`Message-ID: <`+id+`@school.invalid>
Subject: =?utf-8?q?2_notices?=
MIME-Version: 1.0
Content-Type: `+media+`; boundary=b

--b
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: quoted-printable

Con=
cert
--b
Content-Type: text/html; charset=UTF-8
Content-Transfer-Encoding: quoted-printable

<p>Concert</p>
--b--
`, "\n", "\r\n"))
}

func TestTheMailServerReadsWhatItTakes(t *testing.T) {
	m, err := receivers.StartMailServer(receivers.MailOptions{})
	errortest.None(t, err)
	defer m.Stop()
	send := func(body []byte) error {
		return smtp.SendMail(m.Address(), nil, "belfry@school.invalid", []string{"kim@school.invalid"}, body)
	}
	for range 2 { // the same again
		errortest.None(t, send(mail("1", "multipart/alternative")))
	}
	valuetest.Same(t, len(m.To("kim@school.invalid")), 2, "mails, want a repeat as well")
	got := m.Taken()
	if len(got) != 1 || got[0].ID != "<1@school.invalid>" || got[0].Subject != "2 notices" ||
		got[0].Text != "Concert" || got[0].HTML != "<p>Concert</p>" {
		t.Errorf("%+v", got)
	}
	valuetest.Same(t, len(m.To("olive@school.invalid")), 0, "for somebody else")
	errortest.Says(t, send(mail("2", "multipart/mixed")), "multipart/alternative", "a mail without its parts")
	m.Stop()
	errortest.Some(t, send(mail("3", "multipart/alternative")), "a server that was stopped takes mail")
	errortest.None(t, m.Restart())
	errortest.Report(t, send(mail("3", "multipart/alternative")), "started again")
}

func TestAMailServerWithACertificateTakesNothingInTheClear(t *testing.T) {
	_, certificate, err := receivers.Authority(t.TempDir())
	errortest.None(t, err)
	m, err := receivers.StartMailServer(receivers.MailOptions{Certificate: &certificate})
	errortest.None(t, err)
	defer m.Stop()
	c, err := smtp.Dial(m.Address())
	errortest.None(t, err)
	defer func() { _ = c.Close() }()
	errortest.Says(t, c.Mail("belfry@school.invalid"), "STARTTLS")
}

func TestTheEndpointAnswersAsItIsTold(t *testing.T) {
	e := receivers.NewEndpoint(t)
	post := func() (int, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL, strings.NewReader(`{"id":"1"}`))
		errortest.None(t, err)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		return a.StatusCode, a.Body.Close()
	}
	e.Answer(http.StatusTeapot)
	if code, err := post(); code != http.StatusTeapot || err != nil {
		t.Errorf("%d, %v", code, err)
	}
	e.Answer(receivers.Stall)
	stalled := make(chan error, 1)
	go func() { _, err := post(); stalled <- err }()
	timetest.Eventually(t, "the request to come", 10*time.Second, func() bool { return len(e.Got()) == 2 })
	e.Answer(http.StatusNoContent)
	errortest.Some(t, <-stalled, "a request that stalled was answered")
	if code, err := post(); code != http.StatusNoContent || err != nil {
		t.Errorf("%d, %v", code, err)
	}
	if len(e.Got()) != 3 || len(e.Taken()) != 1 {
		t.Errorf("%d came and %d were taken", len(e.Got()), len(e.Taken()))
	}
}
