package notice

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-schools/belfry/pkg/settings"
)

const (
	// secretBytes is how much randomness a webhook's secret has.
	secretBytes = 32
	// secretPrefix begins each secret, as Standard Webhooks has it. The key follows in Base64.
	secretPrefix = "whsec_"
	// headerSignature is the signature of before Standard Webhooks. It is sent for one release more, for receivers that
	// check it.
	headerSignature = "Belfry-Signature"
)

// newSecret makes a secret in the form that the libraries of Standard Webhooks take.
func newSecret() settings.Secret {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails
	return settings.NewSecret(secretPrefix + base64.StdEncoding.EncodeToString(random))
}

// key returns what a secret encodes. Older secrets have the URL alphabet of Base64, and no padding.
func key(secret settings.Secret) ([]byte, error) {
	text, ok := strings.CutPrefix(secret.Reveal(), secretPrefix)
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	decoded, err := base64.RawStdEncoding.DecodeString(text)
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

// sign sets the headers of Standard Webhooks for a body with an id that is sent at a time, and the one of before. Each
// has a signature for every secret that signs then.
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
	header.Set(headerSignature, w.oldSignature(at, body))
	return nil
}

// oldSignature returns the value of Belfry-Signature: the seconds since 1970, and the HMAC-SHA256 of these, a dot
// and the body, in hexadecimal digits, under each secret's text.
func (w Webhook) oldSignature(at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	value := "t=" + seconds
	for _, secret := range w.secrets(at) {
		mac := hmac.New(sha256.New, []byte(secret.Reveal()))
		mac.Write([]byte(seconds + "."))
		mac.Write(body)
		value += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	return value
}
