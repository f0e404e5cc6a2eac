package api

import (
	"fmt"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// webhooksPath is where the interface has them.
const webhooksPath = "/api/admin/webhooks"

// noticeKinds are what a webhook may be told of.
var noticeKinds = []api.NoticeKind{
	api.CommitmentRequested, api.CommitmentDecided, api.CommitmentDeleted, api.RequestAllocated, api.EventDeleted,
}

// webhookFields are its address, and a box for each kind of notice.
var webhookFields = func() record {
	r := record{Entries: []entry{{Name: "url", As: "url", Must: true}, {Name: "active", As: "box"}}}
	for _, kind := range noticeKinds {
		r.Entries = append(r.Entries, entry{Name: string(kind), As: "box"})
	}
	return r
}()

// webhookForm shows a webhook as it is.
func webhookForm(w api.Webhook) record {
	shown := client.Record{"url": w.URL, "active": w.Active}
	for _, kind := range w.Kinds {
		shown[string(kind)] = true
	}
	return webhookFields.fill(shown)
}

// webhookChanged are the fields that the form changes, as the interface takes them.
func webhookChanged(r record) map[string]any {
	fields, kinds, changed := r.changed(), []string{}, false
	for _, e := range r.Entries[len(r.Entries)-len(noticeKinds):] {
		if e.Value == yes {
			kinds = append(kinds, e.Name)
		}
		changed = changed || e.Value != e.Was
		delete(fields, e.Name)
	}
	if changed {
		fields["kinds"] = kinds
	}
	return fields
}

// lookWebhooks lists the webhooks.
func (h handlers) lookWebhooks(v *visit) error {
	b := listBody{At: "/look-after/webhooks", Add: "/look-after/webhooks/new"}
	return v.showList(b, "look.webhooks", webhooksPath, "webhooks", func(record client.Record) row {
		w := client.As[api.Webhook](record)
		r := row{Path: fmt.Sprintf("%s/%d", b.At, w.ID), Name: w.URL}
		if !w.Active {
			r.Hint = v.texts.T("look.hook.off")
		}
		return r
	})
}

// lookWebhookNew shows the form for a new webhook.
func (h handlers) lookWebhookNew(v *visit) error {
	return v.showWebhookNew(webhookForm(api.Webhook{Active: true, Kinds: noticeKinds}), fiber.StatusOK)
}

func (v *visit) showWebhookNew(r record, code int) error {
	return v.showRecord(recordBody{record: r, New: true, At: "/look-after/webhooks/new",
		Name: v.texts.T("look.new.webhook")}, code)
}

// lookWebhookNewSent registers a webhook, and shows its secret this once.
func (h handlers) lookWebhookNewSent(v *visit) error {
	r := webhookFields.read(v)
	made, err := v.api.Create(v.ctx, webhooksPath, "webhook", webhookChanged(r))
	if refused, is := r.refused(err); is {
		return v.showWebhookNew(refused, fiber.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	w := client.As[api.Webhook](made)
	return v.showWebhook(w, webhookForm(w), made.Text("secret"), fiber.StatusCreated)
}

// webhookPath is that of the interface for the webhook in the page's address.
func (v *visit) webhookPath(end string) string {
	return webhooksPath + "/" + url.PathEscape(v.c.Params("id")) + end
}

func (v *visit) readWebhook() (api.Webhook, error) {
	record, err := v.api.Get(v.ctx, v.webhookPath(""), "webhook")
	return client.As[api.Webhook](record), err
}

// lookWebhook shows a webhook with its last deliveries.
func (h handlers) lookWebhook(v *visit) error {
	w, err := v.readWebhook()
	if err != nil {
		return err
	}
	return v.showWebhook(w, webhookForm(w), "", fiber.StatusOK)
}

func (v *visit) showWebhook(w api.Webhook, r record, secret string, code int) error {
	at := fmt.Sprintf("/look-after/webhooks/%d", w.ID)
	found, _, err := v.api.Page(v.ctx, fmt.Sprintf("%s/%d/deliveries", webhooksPath, w.ID), "deliveries",
		url.Values{"limit": {lookPage}}, "")
	if err != nil {
		return err
	}
	deliveries := []api.Delivery{}
	for _, record := range found {
		deliveries = append(deliveries, client.As[api.Delivery](record))
	}
	return v.showRecord(recordBody{record: r, At: at, Name: w.URL, Secret: secret, Deliveries: deliveries,
		History: fmt.Sprintf("/look-after/history?record=Webhook:%d", w.ID),
		Actions: []action{{at + "/test", "look.hook.test", false}, {at + "/secret", "look.hook.secret", false},
			{at + "/end", "look.hook.end", true}}}, code)
}

// lookWebhookSent changes a webhook.
func (h handlers) lookWebhookSent(v *visit) error {
	w, err := v.readWebhook()
	if err != nil {
		return err
	}
	r := webhookFields.read(v)
	_, err = v.api.Change(v.ctx, v.webhookPath(""), "webhook", webhookChanged(r))
	if refused, is := r.refused(err); is {
		return v.showWebhook(w, refused, "", fiber.StatusUnprocessableEntity)
	}
	return v.done(err, "changed")
}

// webhookTestSent sends a test, whose outcome is among the deliveries.
func (h handlers) webhookTestSent(v *visit) error {
	_, err := v.api.Create(v.ctx, v.webhookPath("/test"), "delivery", nil)
	return v.done(err, "sent")
}

// webhookSecretSent renews the secret, and shows it this once.
func (h handlers) webhookSecretSent(v *visit) error {
	made, err := v.api.Create(v.ctx, v.webhookPath("/secret"), "webhook", nil)
	if err != nil {
		return err
	}
	w := client.As[api.Webhook](made)
	return v.showWebhook(w, webhookForm(w), made.Text("secret"), fiber.StatusCreated)
}

// webhookEndSent deletes a webhook.
func (h handlers) webhookEndSent(v *visit) error {
	if err := v.api.Delete(v.ctx, v.webhookPath(""), nil); err != nil {
		return err
	}
	return v.leave("/look-after/webhooks")
}
