package conformance_test

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"

	"github.com/belfry-schools/belfry/pkg/testing/receivers"
)

// receiving says where a run receives what the deployment sends.
type receiving struct{ mail, webhook, webhookURL, certificate, key string }

// received is what the run receives: mails, and notices by webhook. Nil: not checked.
var received struct {
	mail *receivers.MailServer
	hook *receivers.Endpoint
}

func (r *receiving) flags() {
	flag.StringVar(&r.mail, "mail-listen", "", "receive the deployment's mails at this `address`: its BELFRY_SMTP_HOST "+
		"and BELFRY_SMTP_PORT, with BELFRY_SMTP_TLS=none unless there is a certificate (default: not checked)")
	flag.StringVar(&r.webhook, "webhook-listen", "", "receive notices by webhook at this `address`, which its "+
		"BELFRY_WEBHOOK_NETWORKS allows (default: not checked)")
	flag.StringVar(&r.webhookURL, "webhook-url", "", "`URL` by which the deployment reaches that address "+
		"(default: the address itself)")
	flag.StringVar(&r.certificate, "tls-cert", "", "`file` with the certificate of both: mail by STARTTLS, the webhook "+
		"by https")
	flag.StringVar(&r.key, "tls-key", "", "`file` with the certificate's key")
}

// start starts the receivers that are asked for. Stop ends them.
func (r *receiving) start() (stop func(), err error) {
	var certificate *tls.Certificate
	if r.certificate != "" || r.key != "" {
		pair, err := tls.LoadX509KeyPair(r.certificate, r.key)
		if err != nil {
			return nil, fmt.Errorf("-tls-cert and -tls-key: %w", err)
		}
		certificate = &pair
	}
	return r.listen(receivers.MailOptions{Address: r.mail, Certificate: certificate},
		receivers.EndpointOptions{Address: r.webhook, URL: r.webhookURL, Certificate: certificate})
}

// startHere starts both receivers on this machine, and returns the settings by which services send to them over TLS.
func (r *receiving) startHere() (env map[string]string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return nil, nil, err
	}
	authority, certificate, err := receivers.Authority(dir)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	r.mail, r.webhook = "127.0.0.1:0", "127.0.0.1:0"
	end, err := r.listen(receivers.MailOptions{Address: r.mail, Certificate: &certificate, Login: true},
		receivers.EndpointOptions{Address: r.webhook, Certificate: &certificate})
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return map[string]string{
		"SSL_CERT_FILE":    authority,
		"BELFRY_SMTP_HOST": received.mail.Host, "BELFRY_SMTP_PORT": strconv.Itoa(received.mail.Port),
		"BELFRY_SMTP_USERNAME": receivers.Username, "BELFRY_SMTP_PASSWORD": receivers.Password,
		"BELFRY_MAIL_FROM": "Belfry <belfry@school.invalid>", "BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8",
	}, func() { end(); _ = os.RemoveAll(dir) }, nil
}

func (r *receiving) listen(mail receivers.MailOptions, hook receivers.EndpointOptions) (stop func(), err error) {
	stop = func() {
		if received.mail != nil {
			received.mail.Stop()
		}
		if received.hook != nil {
			received.hook.Close()
		}
	}
	if mail.Address != "" {
		if received.mail, err = receivers.StartMailServer(mail); err != nil {
			return nil, fmt.Errorf("receive mails: %w", err)
		}
	}
	if hook.Address != "" {
		if received.hook, err = receivers.StartEndpoint(hook); err != nil {
			stop()
			return nil, fmt.Errorf("receive notices by webhook: %w", err)
		}
	}
	return stop, nil
}
