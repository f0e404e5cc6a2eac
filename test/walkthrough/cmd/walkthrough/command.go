package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/test/walkthrough"
)

// Exit codes; docs/conformance.md promises them.
const (
	exitOK       = 0
	exitFailed   = 1 // something was not as expected
	exitUnusable = 2 // wrong arguments, or the walk could not be made
)

// flags are the flags of the command.
type flags struct {
	walkthrough.Options
	uuidFile, zone, certificate, key string
}

// run runs the command with those arguments and returns its exit code.
func run(ctx context.Context, args []string, out, errs io.Writer, env func(string) string) int {
	var f flags
	command := &cobra.Command{
		Use:   "walkthrough --url URL",
		Short: "Take an empty deployment to a running school, step by step",
		Long: `walkthrough takes an empty deployment to a running school with documented calls alone, and shows each
step: what was called, what was expected and what came. It receives the deployment's mails and notices itself.
It ends at the first difference. What it makes stays: the deployment must have no user but its first
administrator, and should be used for nothing else.

The deployment has to send its mail here (BELFRY_SMTP_HOST, BELFRY_SMTP_PORT, BELFRY_MAIL_FROM, and
BELFRY_SMTP_TLS=none without --tls-cert) and allow an endpoint here (BELFRY_WEBHOOK_NETWORKS).
docs/conformance.md has an example.

Exit codes: 0 all was as expected, 1 something was not, 2 the deployment could not be checked.`,
		Example: `  walkthrough --url http://127.0.0.1:8080 --uuid-file .local/admin-uuid
  BELFRY_UUID=… walkthrough --url https://belfry.school.example --mail-listen :2525 --webhook-listen :2580 \
    --webhook-url https://check.school.example:2580/ --tls-cert check.pem --tls-key check.key`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := f.options(env)
			if err != nil {
				return err
			}
			return walk(c.Context(), o, out)
		},
	}
	set := command.Flags()
	set.StringVar(&f.URL, "url", "http://127.0.0.1:8080", "address of the deployment")
	set.StringVar(&f.uuidFile, "uuid-file", "", "file with the administrator's uuid (default: BELFRY_UUID)")
	set.StringVar(&f.zone, "timezone", "Europe/London", "time zone of the deployment, its BELFRY_TIMEZONE")
	set.StringVar(&f.MailListen, "mail-listen", "127.0.0.1:2525",
		"address to receive the deployment's mail at; empty: mail is not checked")
	set.StringVar(&f.HookListen, "webhook-listen", "127.0.0.1:2580",
		"address to receive notices by webhook at; empty: webhooks are not checked")
	set.StringVar(&f.HookURL, "webhook-url", "",
		"where the deployment reaches the webhook's address (default: that address)")
	set.StringVar(&f.certificate, "tls-cert", "",
		"file with the certificate of both: mail by STARTTLS, the webhook by https")
	set.StringVar(&f.key, "tls-key", "", "file with the certificate's key")
	set.DurationVar(&f.Patience, "patience", time.Minute, "how long a notice may take")
	command.SetArgs(args)
	command.SetOut(out)
	command.SetErr(errs)
	err := command.ExecuteContext(ctx)
	switch difference := (*walkthrough.DifferenceError)(nil); {
	case err == nil:
		return exitOK
	case errors.As(err, &difference):
		return exitFailed
	default:
		fmt.Fprintf(errs, "walkthrough: %v\n", err)
		return exitUnusable
	}
}

// options returns the options of the walk.
func (f flags) options(env func(string) string) (o walkthrough.Options, err error) {
	o = f.Options
	o.AdminUUID = env("BELFRY_UUID")
	if f.uuidFile != "" {
		text, err := os.ReadFile(f.uuidFile)
		if err != nil {
			return o, err
		}
		o.AdminUUID = strings.TrimSpace(string(text))
	}
	if o.AdminUUID == "" {
		return o, errors.New("the administrator's uuid is needed: set BELFRY_UUID or --uuid-file")
	}
	if o.Zone, err = time.LoadLocation(f.zone); err != nil {
		return o, fmt.Errorf("--timezone: %w", err)
	}
	if f.certificate != "" || f.key != "" {
		certificate, err := tls.LoadX509KeyPair(f.certificate, f.key)
		if err != nil {
			return o, fmt.Errorf("--tls-cert and --tls-key: %w", err)
		}
		o.Certificate = &certificate
	}
	return o, nil
}

func walk(ctx context.Context, o walkthrough.Options, out io.Writer) error {
	s, err := walkthrough.Run(ctx, o, out)
	if difference, ok := errors.AsType[*walkthrough.DifferenceError](err); ok {
		fmt.Fprintf(out, "\nThe walk ended at step %d, after %.0f s.\n", difference.Step, s.Took.Seconds())
	}
	if err == nil {
		fmt.Fprintf(out, "\nA running school: %d calls, %d mails and %d notices by webhook, "+
			"all as expected, in %.0f s.\n", s.Calls, s.Mails, s.Notices, s.Took.Seconds())
	}
	return err
}
