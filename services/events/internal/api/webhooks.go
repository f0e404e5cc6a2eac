package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// webhookRoutes are the calls below /api/admin/webhooks; docs/notice.md describes them.
func (h handlers) webhookRoutes() []web.Route {
	const one = "/api/admin/webhooks/:id"
	return []web.Route{
		web.At("GET /api/admin/webhooks", web.SchoolAdmin, h.listWebhooks),
		web.At("POST /api/admin/webhooks", web.SchoolAdmin, h.createWebhook,
			web.Route{Repeatable: mayGetAgain(h.notices.GetWebhook), Secret: true}),
		web.At("GET "+one, web.SchoolAdmin, shows("webhook", h.notices.GetWebhook, h.webhook)),
		web.At("PATCH "+one, web.SchoolAdmin, h.changeWebhook),
		web.At("DELETE "+one, web.SchoolAdmin, removes(h.notices.DeleteWebhook)),
		web.At("GET "+one+"/deliveries", web.SchoolAdmin, h.listDeliveries),
		web.At("POST "+one+"/secret", web.SchoolAdmin, web.WithID(h.renewSecret),
			web.Route{Repeatable: mayGetAgain(h.notices.GetWebhook), Secret: true}),
		web.At("POST "+one+"/test", web.SchoolAdmin, web.WithID(h.testWebhook)),
	}
}

func webhookPath(id int64) string { return fmt.Sprintf("/api/admin/webhooks/%d", id) }

// listWebhooks is GET /api/admin/webhooks: all that the caller administers, at most 100.
func (h handlers) listWebhooks(c *fiber.Ctx) error {
	after, limit, err := web.Page(c)
	if err != nil {
		return err
	}
	all, err := h.notices.ListWebhooks(c.UserContext(), web.Principal(c))
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(all, func(w notice.Webhook) bool { return w.ID <= after })
	id := func(w notice.Webhook) int64 { return w.ID }
	rest, next := sequence.Page(rest, limit, false, id)
	return web.OKList(c, "webhooks", rest, next, nil, h.webhook, id)
}

// createWebhook is POST /api/admin/webhooks. The endpoint's host is looked up.
func (h handlers) createWebhook(c *fiber.Ctx) error {
	o, err := web.Wrapped(c, "webhook")
	if err != nil {
		return err
	}
	w, err := h.notices.CreateWebhook(c.UserContext(), web.Principal(c), readWebhook(o))
	if err != nil {
		return h.refuseWebhook(c, err)
	}
	return h.showSecret(c, w)
}

// showSecret answers with a webhook and its new secret.
func (h handlers) showSecret(c *fiber.Ctx, w notice.Webhook) error {
	shown := h.webhook(w)
	if !web.DryRun(c) {
		shown.Secret = w.Secret.Reveal()
	}
	return web.Created(c, webhookPath(w.ID), web.Field{Name: "webhook", Value: shown})
}

// renewSecret is POST /api/admin/webhooks/<id>/secret. The previous secret also signs for a day.
func (h handlers) renewSecret(c *fiber.Ctx, id int64) error {
	w, err := h.notices.RenewSecret(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return h.showSecret(c, w)
}

// changeWebhook is PATCH /api/admin/webhooks/<id>. The endpoint's host is looked up when it changes.
func (h handlers) changeWebhook(c *fiber.Ctx) error {
	id, o, err := web.PathFields(c, "webhook")
	if err != nil {
		return err
	}
	w, err := h.notices.ChangeWebhook(c.UserContext(), web.Principal(c), id, readWebhook(o))
	if err != nil {
		return h.refuseWebhook(c, err)
	}
	return web.OK(c, web.Field{Name: "webhook", Value: h.webhook(w)})
}

// listDeliveries is GET /api/admin/webhooks/<id>/deliveries: newest first, after is the id where the page before ended.
func (h handlers) listDeliveries(c *fiber.Ctx) error {
	id, before, limit, err := web.PathPage(c)
	if err != nil {
		return err
	}
	found, next, err := h.notices.ListDeliveries(c.UserContext(), web.Principal(c), id, before, limit)
	return web.OKList(c, "deliveries", found, next, err, h.delivery, func(d notice.Delivery) int64 { return d.ID })
}

// testWebhook is POST /api/admin/webhooks/<id>/test: it adds a delivery that is tried once.
func (h handlers) testWebhook(c *fiber.Ctx, id int64) error {
	d, err := h.notices.TestWebhook(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return web.Created(c, webhookPath(id)+"/deliveries", web.Field{Name: "delivery", Value: h.delivery(d)})
}

// refuseWebhook answers an invalid webhook with the webhook; other errors go on.
func (h handlers) refuseWebhook(c *fiber.Ctx, err error) error {
	return web.RefuseInvalid(c, "webhook", err, func(w notice.Webhook, faults problem.Fields) shownWebhook {
		shown := h.webhook(w)
		shown.Valid, shown.Errors = false, faults
		return shown
	})
}

// shownWebhook is a webhook in answers.
type shownWebhook struct {
	ID *int64 `json:"id"` // nil (null): never stored
	notice.Webhook

	CreatedAt string         `json:"created_at"`
	Secret    string         `json:"secret,omitempty"` // only in the answer that made or renewed it
	Valid     bool           `json:"valid"`
	Errors    problem.Fields `json:"errors,omitempty"`
}

func (h handlers) webhook(w notice.Webhook) shownWebhook {
	return shownWebhook{ID: form.OrNull(w.ID), Webhook: w, CreatedAt: h.shape.zone.Format(w.CreatedAt), Valid: true}
}

// shownDelivery is a line of the delivery log.
type shownDelivery struct {
	ID            int64            `json:"id"`
	NoticeID      string           `json:"notice_id"` // the id of the CloudEvent
	Kind          event.NoticeKind `json:"kind"`
	EventID       *int64           `json:"event_id"` // null: of a test
	State         notice.State     `json:"state"`
	Attempts      int              `json:"attempts"`
	CreatedAt     string           `json:"created_at"`
	AttemptedAt   *string          `json:"attempted_at"`    // null: not yet
	NextAttemptAt *string          `json:"next_attempt_at"` // null: none
	Code          *int             `json:"code"`            // null: no answer
	Error         string           `json:"error"`
	Valid         bool             `json:"valid"`
}

func (h handlers) delivery(d notice.Delivery) shownDelivery {
	shown := shownDelivery{
		ID: d.ID, NoticeID: d.NoticeID, Kind: d.Kind, EventID: form.OrNull(d.EventID), State: d.State,
		Attempts: d.Attempts, CreatedAt: h.shape.zone.Format(d.At.Truncate(time.Second)),
		AttemptedAt: h.shape.moment(d.AttemptedAt.Truncate(time.Second)), Code: form.OrNull(d.Code),
		Error: d.Error, Valid: true,
	}
	if d.State == notice.Waiting {
		shown.NextAttemptAt = h.shape.moment(d.DueAt.Truncate(time.Second))
	}
	return shown
}

func readWebhook(o web.Object) notice.WebhookFields {
	faults := problem.Fields{}
	f := notice.WebhookFields{URL: o.Text("url", faults), Active: o.Bool("active", faults), Faults: faults}
	f.SchoolID = o.ID("school_id", faults)
	if o.Has("kinds") {
		var kinds []string
		if json.Unmarshal(o["kinds"], &kinds) != nil {
			faults.Add("kinds", "is not an array of kinds")
		} else {
			f.Kinds = &kinds
		}
	}
	return f
}
