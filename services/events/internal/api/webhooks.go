package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
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
		{Method: fiber.MethodGet, Path: "/api/admin/webhooks", Access: web.SchoolAdmin, Handler: h.list},
		{
			Method: fiber.MethodPost, Path: "/api/admin/webhooks", Access: web.SchoolAdmin,
			Repeatable: h.mayHaveAgain, Secret: true, Handler: h.create,
		},
		{
			Method: fiber.MethodGet, Path: one, Access: web.SchoolAdmin,
			Handler: shows("webhook", h.notices.GetWebhook, h.shown),
		},
		{Method: fiber.MethodPatch, Path: one, Access: web.SchoolAdmin, Handler: h.change},
		{Method: fiber.MethodDelete, Path: one, Access: web.SchoolAdmin, Handler: removes(h.notices.DeleteWebhook)},
		{Method: fiber.MethodGet, Path: one + "/deliveries", Access: web.SchoolAdmin, Handler: h.deliveries},
		{
			Method: fiber.MethodPost, Path: one + "/secret", Access: web.SchoolAdmin,
			Repeatable: h.mayHaveAgain, Secret: true, Handler: h.renewSecret,
		},
		{Method: fiber.MethodPost, Path: one + "/test", Access: web.SchoolAdmin, Handler: h.test},
	}
}

// list is GET /api/admin/webhooks: all that the caller administers, at most 100.
func (h webhookHandlers) list(c *fiber.Ctx) error {
	all, err := h.notices.ListWebhooks(c.UserContext(), web.Principal(c))
	if err != nil {
		return err
	}
	shown := make([]shownWebhook, len(all))
	for i, w := range all {
		shown[i] = h.shown(w)
	}
	return web.OK(c, web.Field{Name: "webhooks", Value: shown}, web.Next(0))
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
	shown.Secret = w.Secret.Reveal()
	return web.Answer(c, fiber.StatusCreated, "Created", web.Field{Name: "webhook", Value: shown})
}

// renewSecret is POST /api/admin/webhooks/<id>/secret: a new one, while the one before signs along for a day.
func (h webhookHandlers) renewSecret(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
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
	var next int64
	if more {
		next = found[limit-1].ID
	}
	shown := make([]shownDelivery, len(found))
	for i, d := range found {
		shown[i] = h.delivery(d)
	}
	return web.OKPage(c, "deliveries", shown, web.Next(next),
		func(i int) web.Field { return web.Next(found[i].ID) })
}

// test is POST /api/admin/webhooks/<id>/test: it adds a delivery that is tried once.
func (h webhookHandlers) test(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	d, err := h.notices.TestWebhook(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return web.Answer(c, fiber.StatusCreated, "Created", web.Field{Name: "delivery", Value: h.delivery(d)})
}

// refuse answers an invalid webhook with the webhook; other errors go on.
func (h webhookHandlers) refuse(c *fiber.Ctx, err error) error {
	return web.RefuseInvalid(c, "webhook", err, func(w notice.Webhook, faults problem.Fields) shownWebhook {
		shown := h.shown(w)
		shown.Valid, shown.Errors = false, faults
		return shown
	})
}
