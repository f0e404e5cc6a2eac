package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// webhookHandlers are the calls below /api/admin/webhooks; docs/notice.md describes them.
type webhookHandlers struct {
	notices *notice.Service
	shape   shape
}

func (h webhookHandlers) routes() []web.Route {
	const one = "/api/admin/webhooks/:id"
	return []web.Route{
		web.At("GET /api/admin/webhooks", web.SchoolAdmin, h.list),
		web.At("POST /api/admin/webhooks", web.SchoolAdmin, h.create,
			web.Route{Repeatable: h.mayHaveAgain, Secret: true}),
		web.At("GET "+one, web.SchoolAdmin, shows("webhook", h.notices.GetWebhook, h.shown)),
		web.At("PATCH "+one, web.SchoolAdmin, h.change),
		web.At("DELETE "+one, web.SchoolAdmin, removes(h.notices.DeleteWebhook)),
		web.At("GET "+one+"/deliveries", web.SchoolAdmin, h.deliveries),
		web.At("POST "+one+"/secret", web.SchoolAdmin, web.WithID(h.renewSecret),
			web.Route{Repeatable: h.mayHaveAgain, Secret: true}),
		web.At("POST "+one+"/test", web.SchoolAdmin, web.WithID(h.test)),
	}
}

func webhookPath(id int64) string { return fmt.Sprintf("/api/admin/webhooks/%d", id) }

// list is GET /api/admin/webhooks: all that the caller administers, at most 100.
func (h webhookHandlers) list(c *fiber.Ctx) error {
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
	return okPage(c, "webhooks", rest[:min(len(rest), limit)], len(rest) > limit, id, h.shown)
}

// create is POST /api/admin/webhooks. The endpoint's host is looked up.
func (h webhookHandlers) create(c *fiber.Ctx) error {
	o, err := web.Wrapped(c, "webhook")
	if err != nil {
		return err
	}
	w, err := h.notices.CreateWebhook(c.UserContext(), web.Principal(c), readWebhook(o))
	if err != nil {
		return h.refuse(c, err)
	}
	return h.showSecret(c, w)
}

// showSecret answers with a webhook and its new secret.
func (h webhookHandlers) showSecret(c *fiber.Ctx, w notice.Webhook) error {
	shown := h.shown(w)
	if !web.DryRun(c) {
		shown.Secret = w.Secret.Reveal()
	}
	return web.Created(c, webhookPath(w.ID), web.Field{Name: "webhook", Value: shown})
}

// renewSecret is POST /api/admin/webhooks/<id>/secret. The previous secret also signs for a day.
func (h webhookHandlers) renewSecret(c *fiber.Ctx, id int64) error {
	w, err := h.notices.RenewSecret(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return h.showSecret(c, w)
}

// mayHaveAgain says whether a caller who got a webhook may get it again.
func (h webhookHandlers) mayHaveAgain(c *fiber.Ctx, answer []byte) error {
	var made struct{ Webhook struct{ ID int64 } }
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	_, err := h.notices.GetWebhook(c.UserContext(), web.Principal(c), made.Webhook.ID)
	return err
}

// change is PATCH /api/admin/webhooks/<id>. The endpoint's host is looked up when it changes.
func (h webhookHandlers) change(c *fiber.Ctx) error {
	id, o, err := web.PathFields(c, "webhook")
	if err != nil {
		return err
	}
	w, err := h.notices.ChangeWebhook(c.UserContext(), web.Principal(c), id, readWebhook(o))
	if err != nil {
		return h.refuse(c, err)
	}
	return web.OK(c, web.Field{Name: "webhook", Value: h.shown(w)})
}

// deliveries is GET /api/admin/webhooks/<id>/deliveries: newest first, after is the id where the page before ended.
func (h webhookHandlers) deliveries(c *fiber.Ctx) error {
	id, before, limit, err := web.PathPage(c)
	if err != nil {
		return err
	}
	found, more, err := h.notices.ListDeliveries(c.UserContext(), web.Principal(c), id, before, limit)
	if err != nil {
		return err
	}
	return okPage(c, "deliveries", found, more, func(d notice.Delivery) int64 { return d.ID }, h.delivery)
}

// test is POST /api/admin/webhooks/<id>/test: it adds a delivery that is tried once.
func (h webhookHandlers) test(c *fiber.Ctx, id int64) error {
	d, err := h.notices.TestWebhook(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return web.Created(c, webhookPath(id)+"/deliveries", web.Field{Name: "delivery", Value: h.delivery(d)})
}

// refuse answers an invalid webhook with the webhook; other errors go on.
func (h webhookHandlers) refuse(c *fiber.Ctx, err error) error {
	return web.RefuseInvalid(c, "webhook", err, func(w notice.Webhook, faults problem.Fields) shownWebhook {
		shown := h.shown(w)
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

func (h webhookHandlers) shown(w notice.Webhook) shownWebhook {
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

func (h webhookHandlers) delivery(d notice.Delivery) shownDelivery {
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
