package notice

import (
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/settings"
)

const (
	// secretBytes is how much randomness a webhook's secret has.
	secretBytes = 32
	// SecretPrefix begins each secret, as in Standard Webhooks. The key follows in Base64.
	SecretPrefix = "whsec_"
)

// newSecret makes a secret in the form that the libraries of Standard Webhooks take.
func newSecret() settings.Secret {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails
	return settings.NewSecret(SecretPrefix + base64.StdEncoding.EncodeToString(random))
}

// SecretsAt returns those that sign at a time: the webhook's own, then the renewed ones that still sign, the newest
// first.
func (w Webhook) SecretsAt(at time.Time) []settings.Secret {
	secrets := []settings.Secret{w.Secret}
	for _, old := range w.Before {
		if at.Before(old.Until) {
			secrets = append(secrets, old.Secret)
		}
	}
	return secrets
}
