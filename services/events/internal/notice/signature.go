package notice

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-schools/belfry/pkg/service/settings"
)

const (
	// secretBytes is how much randomness a webhook's secret has.
	secretBytes = 32
	// secretPrefix begins each secret, as Standard Webhooks has it. The key follows in Base64.
	secretPrefix = "whsec_"
)

// newSecret makes a secret in the form that the libraries of Standard Webhooks take.
func newSecret() settings.Secret {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails
	return settings.NewSecret(secretPrefix + base64.StdEncoding.EncodeToString(random))
}

// key returns what a secret encodes.
func key(secret settings.Secret) ([]byte, error) {
	text, ok := strings.CutPrefix(secret.Reveal(), secretPrefix)
	decoded, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(decoded) == 0 {
		return nil, errors.New("the webhook's secret is not right") // without the secret
	}
	return decoded, nil
}

// secrets are those that sign at a time: the webhook's own, then the renewed ones that sign along, the newest first.
func (w Webhook) secrets(at time.Time) []settings.Secret {
	secrets := []settings.Secret{w.Secret}
	for _, old := range w.Before {
		if at.Before(old.Until) {
			secrets = append(secrets, old.Secret)
		}
	}
	return secrets
}

// sign sets the headers of Standard Webhooks for a body with an id that is sent at a time, with a signature for every
// secret that signs then.
func (w Webhook) sign(header http.Header, id string, at time.Time, body []byte) error {
	var signatures []string
	for _, secret := range w.secrets(at) {
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
