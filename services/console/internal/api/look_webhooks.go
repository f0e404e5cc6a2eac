package api

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// noticeKinds are the kinds of notice of a webhook.
var noticeKinds = []string{
	string(api.CommitmentRequested), string(api.CommitmentDecided), string(api.CommitmentDeleted),
	string(api.RequestAllocated), string(api.EventDeleted),
}

// webhooks have an address, and a box for each kind of notice.
var webhooks = recordKind{
	name: "webhook", at: "/look-after/webhooks", add: "/look-after/webhooks/new", path: "/api/admin/webhooks",
	part: "webhook", list: "webhooks", audit: "Webhook", called: "url", off: "look.hook.off", beside: deliveries,
	made: showSecret, first: client.Record{"active": true, "kinds": strings.Join(noticeKinds, " ")},
	form: must(1, []entry{{Name: "url", As: "url"}, {Name: "active", As: "box"}},
		entries(entry{As: "box", among: "kinds"}, noticeKinds...)),
}

// showSecret shows the secret of a webhook, once.
func showSecret(made client.Record) recordBody { return recordBody{Secret: made.Text("secret")} }

// deliveries adds the last deliveries of a webhook, and the actions on it.
func deliveries(v *visit, k recordKind, found client.Record, b *recordBody) error {
	path := fmt.Sprintf("%s/%d/deliveries", k.path, found.ID("id"))
	last, _, err := v.api.Page(v.ctx, path, "deliveries", url.Values{"limit": {lookPage}}, "")
	b.Deliveries = client.Each[api.Delivery](last)
	b.Actions = []action{{b.At + "/test", "look.hook.test", false}, {b.At + "/secret", "look.hook.secret", false},
		{b.At + "/end", "look.hook.end", true}}
	return err
}

// webhookTestSent sends a test, whose outcome is among the deliveries.
func (h handlers) webhookTestSent(v *visit) error {
	_, err := v.api.Create(v.ctx, v.record(webhooks.path, "/test"), "delivery", nil)
	return v.done(err, "sent")
}

// webhookSecretSent renews the secret, and shows it once.
func (h handlers) webhookSecretSent(v *visit) error {
	made, err := v.api.Create(v.ctx, v.record(webhooks.path, "/secret"), "webhook", nil)
	if err != nil {
		return err
	}
	return v.showFound(webhooks, made, webhooks.form.fill(made), showSecret(made), fiber.StatusCreated)
}

// webhookEndSent deletes a webhook.
func (h handlers) webhookEndSent(v *visit) error {
	return v.after(v.remove(v.record(webhooks.path, "")), webhooks.at)
}
