// Package sender sends the mails and webhook deliveries of package notice.
package sender

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

const (
	// attemptTimeout bounds one attempt, connectTimeout its connection.
	attemptTimeout = 10 * time.Second
	connectTimeout = 5 * time.Second
	// maxFault bounds what the delivery log has of an error, in characters, and maxAnswerHeader the header of an
	// answer, in bytes.
	maxFault        = 200
	maxAnswerHeader = 64 << 10
)

// Webhooks implements notice.Webhooks. It is safe for concurrent use.
type Webhooks struct {
	addresses
	tls   *http.Client // for https
	plain *http.Client // for http, which may go only into networks that the configuration names
}

// NewWebhooks returns the sender. Besides public addresses it sends to those of the allowed networks, there also over
// plain http.
func NewWebhooks(allowed []netip.Prefix) *Webhooks {
	a := addresses{refusedNetworks(), allowed}
	client := func(plain bool) *http.Client {
		return &http.Client{
			Transport: &http.Transport{
				DialContext: a.dialer(plain).DialContext, // and no proxy: it would hide where the connection goes
				// receivers are many and deliveries rare; each connection is checked
				DisableKeepAlives:      true,
				MaxResponseHeaderBytes: maxAnswerHeader,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return &Webhooks{addresses: a, tls: client(false), plain: client(true)}
}

// Attempt implements notice.Webhooks.
func (s *Webhooks) Attempt(ctx context.Context, w notice.Webhook, d notice.Delivery) (code int, fault string) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(d.Body))
	if err != nil {
		return 0, "the endpoint's address is invalid"
	}
	request.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	request.Header.Set("User-Agent", "Belfry")
	request.Header.Set("Idempotency-Key", d.NoticeID)
	if err := sign(request.Header, w, d.NoticeID, time.Now(), d.Body); err != nil {
		return 0, err.Error()
	}
	client := s.tls
	if request.URL.Scheme == "http" {
		client = s.plain
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, withoutAddress(err)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols { // then the body is the connection, without an end
		_, _ = io.CopyN(io.Discard, answer.Body, 4096) // what it says does not matter
	}
	_ = answer.Body.Close()
	switch {
	case answer.StatusCode >= 200 && answer.StatusCode < 300:
		return answer.StatusCode, ""
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return answer.StatusCode, fmt.Sprintf("answered %d; redirects are not followed", answer.StatusCode)
	}
	return answer.StatusCode, fmt.Sprintf("answered %d", answer.StatusCode)
}

// sign sets the headers of Standard Webhooks for a body with an id that is sent at a time, with a signature for every
// secret that signs then.
func sign(header http.Header, w notice.Webhook, id string, at time.Time, body []byte) error {
	var signatures []string
	for _, secret := range w.SecretsAt(at) {
		raw, err := key(secret)
		if err != nil {
			return err
		}
		signer, err := standardwebhooks.NewWebhookRaw(raw)
		if err != nil {
			return err
		}
		signature, err := signer.Sign(id, at, body)
		if err != nil {
			return err
		}
		signatures = append(signatures, signature)
	}
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}

// key returns what a secret encodes.
func key(secret settings.Secret) ([]byte, error) {
	text, ok := strings.CutPrefix(secret.Reveal(), notice.SecretPrefix)
	decoded, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(decoded) == 0 {
		return nil, errors.New("the webhook's secret is invalid") // without the secret
	}
	return decoded, nil
}
