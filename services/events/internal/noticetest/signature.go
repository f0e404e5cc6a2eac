package noticetest

import (
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// VerifyStandard is what a receiver does with a library of Standard Webhooks to know that a request is Belfry's. It
// refuses what was sent more than five minutes ago.
func VerifyStandard(secret string, got Request) error {
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return webhook.Verify([]byte(got.Body), got.Header)
}
