package notice_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
	"github.com/belfry-schools/belfry/services/events/internal/sender"
)

// create tries to register an endpoint and returns what is wrong with its address.
func create(ctx context.Context, t *testing.T, o *office, url string) []string {
	t.Helper()
	_, err := o.CreateWebhook(ctx, admin, notice.WebhookFields{URL: &url, Faults: problem.Fields{}})
	var invalid *record.InvalidError[notice.Webhook]
	if errors.As(err, &invalid) {
		return invalid.Faults["url"]
	}
	errortest.None(t, err)
	return nil
}

func TestWebhook_EndpointsThatAreRefused(t *testing.T) {
	o := open(t, storetest.Mongo(t),
		func(s *sender.Settings) { s.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")} })
	const notAllowed, notHTTPS, notAnAddress = "is at an address that is not allowed", "must begin with " +
		"https://", "is not an https address"
	for url, want := range map[string]string{
		"https://127.0.0.1/hook":                             notAllowed,
		"https://localhost/hook":                             notAllowed,
		"https://127.8.9.10:8443/":                           notAllowed,
		"https://0.0.0.0/":                                   notAllowed,
		"https://10.0.0.1/":                                  notAllowed,
		"https://172.16.0.1/":                                notAllowed,
		"https://172.31.255.255/":                            notAllowed,
		"https://192.168.1.1/":                               notAllowed,
		"https://100.64.0.1/":                                notAllowed,
		"https://169.254.169.254/latest/meta-data":           notAllowed,
		"https://192.0.0.8/":                                 notAllowed,
		"https://198.18.0.1/":                                notAllowed,
		"https://224.0.0.1/":                                 notAllowed,
		"https://255.255.255.255/":                           notAllowed,
		"https://[::]/":                                      notAllowed,
		"https://[::1]/":                                     notAllowed,
		"https://[fe80::1]/":                                 notAllowed,
		"https://[fd12:3456::1]/":                            notAllowed,
		"https://[ff02::1]/":                                 notAllowed,
		"https://[::ffff:127.0.0.1]/":                        notAllowed, // mapped
		"https://[::ffff:a9fe:a9fe]/":                        notAllowed,
		"https://[::127.0.0.1]/":                             notAllowed, // compatible
		"https://[64:ff9b::10.0.0.1]/":                       notAllowed, // by NAT64
		"https://[2002:7f00:1::]/":                           notAllowed, // by 6to4
		"https://[2001:db8::1]/":                             notAllowed,
		"http://127.0.0.1/":                                  notAllowed,
		"http://93.184.215.14/":                              notHTTPS,
		"http://no-such-host.invalid/":                       notHTTPS,
		"https://":                                           notAnAddress,
		"hooks.school.example":                               notAnAddress,
		"ftp://93.184.215.14/":                               notAnAddress,
		"file:///etc/passwd":                                 notAnAddress,
		"https://2130706433/":                                notAnAddress, // 127.0.0.1 for some resolvers
		"https://0x7f000001/":                                notAnAddress,
		"https://127.1/":                                     notAnAddress,
		"https://10.0.0.1./":                                 notAnAddress,
		"https://./":                                         notAnAddress,
		"https://school.example:0/":                          notAnAddress,
		"https://school.example:65536/":                      notAnAddress,
		"https://user:password@93.184.215.14/":               "must have no user and no fragment",
		"https://93.184.215.14/#here":                        "must have no user and no fragment",
		"":                                                   "can't be blank",
		"https://93.184.215.14/" + strings.Repeat("x", 2048): "is too long (maximum is 2048 characters)",

		"https://93.184.215.14/":        "",
		"https://172.32.0.1/":           "",
		"https://[2606:4700::1111]/":    "",
		"https://no-such-host.invalid/": "", // it may come; the delivery looks again
		"https://10.1.2.3/":             "", // configured
		"http://10.1.2.3/":              "",
		"https://[::ffff:10.1.2.3]/":    "",
	} {
		got := create(t.Context(), t, o, url)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0] != want) {
			t.Errorf("%.60s: %q, want %q", url, got, want)
		}
	}
}

// An endpoint whose name leads elsewhere by the time of the delivery is refused then: the address of the connection
// counts.
func TestWebhook_ANameThatLeadsInsideLaterIsRefusedAtTheConnection(t *testing.T) {
	r := receivers.NewEndpoint(t)
	o := running(t) // without this machine's network
	for _, host := range []string{"localhost", "127.0.0.1"} {
		_, port, _ := strings.Cut(strings.TrimPrefix(r.URL, "http://"), ":")
		for _, scheme := range []string{"https", "http"} {
			_, err := o.Store.InsertWebhook(t.Context(), notice.Webhook{
				URL: scheme + "://" + host + ":" +
					port, Kinds: event.NoticeKinds(), Active: true,
				Secret: settings.NewSecret("whsec_b2YtdGhlLXRlc3Q=")})
			errortest.None(t, err)
		}
	}
	o.tell(t, pending(1, 1))
	hooks, err := o.Store.ListWebhooks(t.Context())
	if err != nil || len(hooks) != 4 {
		t.Fatal(hooks, err)
	}
	for _, w := range hooks {
		timetest.Eventually(t, "an attempt", soon, func() bool {
			log, err := o.Store.ListDeliveries(t.Context(), w.ID, 0, 10)
			errortest.None(t, err)
			if len(log) == 0 || log[0].Attempts == 0 {
				return false
			}
			valuetest.Same(t, log[0].Error,
				"the address is not a public one, and not in a network that the configuration "+
					"allows", w.URL)
			return true
		})
	}
	valuetest.Holds(t, len(r.Got()) == 0, "it was reached")
}

// With a port in the host no mail is ever sent, which shows at the first notice, days later.
func TestSettings_AMailServerHasNoPortInItsName(t *testing.T) {
	for host, fine := range map[string]bool{"mail.school.example": true, "10.20.0.1": true,
		"fd00::25": true, "[fd00::25]": true,
		"[]": false, "[mail.school.example]": false, "mail.school.example\n": false,
		"mail.school.example:587": false, "10.20.0.1:25": false, "smtp://mail.school.example": false} {
		s := sender.Settings{SMTPHost: host, SMTPPort: 587, SMTPTLS: "mandatory", MailFrom: "belfry@school.example"}
		err := s.Check()
		if (err == nil) != fine || err != nil && !strings.HasPrefix(err.Error(), "BELFRY_SMTP_HOST:") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestSettings_WhatIsWrongIsNamed(t *testing.T) {
	fine := sender.Settings{SMTPPort: 587, SMTPTLS: "mandatory"}
	for want, change := range map[string]func(*sender.Settings){
		"":                     func(*sender.Settings) {},
		"BELFRY_SMTP_TLS":      func(s *sender.Settings) { s.SMTPTLS = "maybe" },
		"BELFRY_SMTP_PORT":     func(s *sender.Settings) { s.SMTPPort = 0 },
		"BELFRY_SMTP_PASSWORD": func(s *sender.Settings) { s.SMTPUsername = "belfry" },
		"BELFRY_MAIL_FROM":     func(s *sender.Settings) { s.SMTPHost = "mail.school.example" },
		"BELFRY_MAIL_DIGEST":   func(s *sender.Settings) { s.MailDigest = -1 },
	} {
		s := fine
		change(&s)
		err := s.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want+":")) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, wrong := range []string{"school.example", "https://school.example/#", "https://school.example?"} {
		s := fine
		s.PublicURL = wrong
		errortest.Says(t, s.Check(), "BELFRY_PUBLIC_URL:", wrong)
	}
}
