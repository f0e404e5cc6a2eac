package sender

import (
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/belfry-schools/belfry/pkg/service/settings"
)

// protections are how the connection to the mail server may be protected.
var protections = map[string]gomail.Option{
	"mandatory":     gomail.WithTLSPolicy(gomail.TLSMandatory),     // STARTTLS, or no mail
	"opportunistic": gomail.WithTLSPolicy(gomail.TLSOpportunistic), // STARTTLS where the server offers it
	"implicit":      gomail.WithSSL(),                              // TLS from the first byte, as on port 465
	"none":          gomail.WithTLSPolicy(gomail.NoTLS),
}

// Settings are those of notices, beside service.Config.
type Settings struct {
	PublicURL string `envconfig:"BELFRY_PUBLIC_URL" desc:"address at which clients reach this deployment, for links in mails and the source of webhook events, such as https://belfry.school.example"`

	SMTPHost     string          `envconfig:"BELFRY_SMTP_HOST" desc:"mail server that sends notices; without it no mail is sent"`
	SMTPPort     int             `envconfig:"BELFRY_SMTP_PORT" default:"587" desc:"port of the mail server"`
	SMTPTLS      string          `envconfig:"BELFRY_SMTP_TLS" default:"mandatory" desc:"protection of the connection: mandatory (STARTTLS or no mail), opportunistic, implicit (TLS from the start) or none"`
	SMTPUsername string          `envconfig:"BELFRY_SMTP_USERNAME" desc:"user at the mail server; without it there is no login"`
	SMTPPassword settings.Secret `envconfig:"BELFRY_SMTP_PASSWORD" desc:"password at the mail server; a secret"`
	MailFrom     string          `envconfig:"BELFRY_MAIL_FROM" desc:"sender of mails, such as Belfry <belfry@school.example>; needed with BELFRY_SMTP_HOST"`
	MailDigest   time.Duration   `envconfig:"BELFRY_MAIL_DIGEST" default:"0s" desc:"how long notices for one person are gathered for one mail, at most a week; 0s: they are sent at once"`

	WebhookNetworks []netip.Prefix `envconfig:"BELFRY_WEBHOOK_NETWORKS" desc:"comma-separated networks (CIDR), not public ones, in which webhooks may be received, also over plain http; all other loopback, private and link-local addresses are refused"`
}

// longestDigest bounds how long mail may wait to be gathered.
const longestDigest = 7 * 24 * time.Hour

// Check implements settings.Checker.
func (s *Settings) Check() error {
	var faults []error
	if u, err := url.Parse(s.PublicURL); s.PublicURL != "" &&
		(err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil ||
			strings.ContainsAny(s.PublicURL, "?#")) {
		faults = append(faults, errors.New("BELFRY_PUBLIC_URL: not an http or https address"))
	}
	if protections[s.SMTPTLS] == nil {
		faults = append(faults, errors.New("BELFRY_SMTP_TLS: must be mandatory, opportunistic, implicit or none"))
	}
	if s.SMTPPort < 1 || s.SMTPPort > 65535 {
		faults = append(faults, errors.New("BELFRY_SMTP_PORT: must be a port"))
	}
	if bare := strings.Trim(s.SMTPHost, "[]"); !isIPv6(bare) && strings.ContainsAny(s.SMTPHost, "[]:/@ \t\r\n") {
		faults = append(faults, errors.New("BELFRY_SMTP_HOST: must be a host without a port"))
	}
	if s.SMTPUsername != "" && !s.SMTPPassword.Set() {
		faults = append(faults, errors.New("BELFRY_SMTP_PASSWORD: needed with BELFRY_SMTP_USERNAME"))
	}
	if s.MailDigest < 0 || s.MailDigest > longestDigest {
		faults = append(faults, fmt.Errorf("BELFRY_MAIL_DIGEST: must be 0s to %v", longestDigest))
	}
	if s.SMTPHost != "" {
		if _, err := mail.ParseAddress(s.MailFrom); err != nil {
			faults = append(faults, errors.New("BELFRY_MAIL_FROM: not an address such as Belfry "+
				"<belfry@school.example>"))
		}
	}
	return errors.Join(faults...)
}
