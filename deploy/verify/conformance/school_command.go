package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/deploy/verify/walkthrough"
)

// schoolFlags are those of the command school, besides those of the deployment.
type schoolFlags struct {
	mail, hook, hookURL, certificate, key string
	patience                              time.Duration
}

// schoolCommand walks from an empty deployment to a running school.
func schoolCommand(d *deployment) *cobra.Command {
	var f schoolFlags
	command := &cobra.Command{
		Use:   "school --url URL",
		Short: "Take an empty deployment to a running school, step by step",
		Long: `school takes an empty deployment to a running school with documented calls alone, and tells each step: what was called, what was expected and what
came. It receives the deployment's mails and notices itself. It ends at the first difference. What it makes stays: the deployment must have no user but
its first administrator, and is not to be used for anything else.

The deployment has to send its mail here (BELFRY_SMTP_HOST, BELFRY_SMTP_PORT, BELFRY_MAIL_FROM, and BELFRY_SMTP_TLS=none without --tls-cert) and to take
an endpoint here (BELFRY_WEBHOOK_NETWORKS). docs/conformance.md has an example.

Exit codes: 0 all was as expected, 1 something was not, 2 the deployment could not be walked through.`,
		Example: `  conformance school --url http://127.0.0.1:8080 --uuid-file .local/admin-uuid
  BELFRY_UUID=… conformance school --url https://belfry.school.example --mail-listen :2525 --webhook-listen :2580 \
    --webhook-url https://check.school.example:2580/ --tls-cert check.pem --tls-key check.key`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return walk(c, d, f) },
	}
	flags := command.Flags()
	flags.StringVar(&f.mail, "mail-listen", "127.0.0.1:2525", "address to take the deployment's mail at; empty: mail is not looked at")
	flags.StringVar(&f.hook, "webhook-listen", "127.0.0.1:2580", "address to take notices by webhook at; empty: webhooks are not looked at")
	flags.StringVar(&f.hookURL, "webhook-url", "", "where the deployment reaches the webhook's address (default: that address)")
	flags.StringVar(&f.certificate, "tls-cert", "", "file with the certificate of both: mail by STARTTLS, the webhook by https")
	flags.StringVar(&f.key, "tls-key", "", "file with the certificate's key")
	flags.DurationVar(&f.patience, "patience", time.Minute, "how long a notice may take")
	return command
}

func walk(c *cobra.Command, d *deployment, f schoolFlags) error {
	uuid, zone, err := d.read()
	if err != nil {
		return err
	}
	o := walkthrough.Options{URL: d.url, AdminUUID: uuid, Zone: zone, MailListen: f.mail, HookListen: f.hook, HookURL: f.hookURL, Patience: f.patience}
	if f.certificate != "" || f.key != "" {
		certificate, err := tls.LoadX509KeyPair(f.certificate, f.key)
		if err != nil {
			return fmt.Errorf("--tls-cert and --tls-key: %w", err)
		}
		o.Certificate = &certificate
	}
	out := c.OutOrStdout()
	s, err := walkthrough.Run(c.Context(), o, out)
	if difference := (*walkthrough.DifferenceError)(nil); errors.As(err, &difference) {
		fmt.Fprintf(out, "\nThe walk ended at step %d, after %.0f s.\n", difference.Step, s.Took.Seconds())
		return errFailed
	}
	if err == nil {
		fmt.Fprintf(out, "\nA running school: %d calls, %d mails and %d notices by webhook, all as expected, in %.0f s.\n", s.Calls, s.Mails, s.Notices, s.Took.Seconds())
	}
	return err
}
