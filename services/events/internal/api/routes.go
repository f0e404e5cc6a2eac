package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/absence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/follow"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
	"github.com/belfry-schools/belfry/services/events/internal/series"
)

// handlers parse requests and shape answers; the use cases decide.
type handlers struct {
	events     *event.Service
	dateOrder  wiretime.DateOrder // of dates with slashes in events
	clashes    *clash.Service
	categories *category.Service
	series     *series.Service
	follow     *follow.Service
	hub        *follow.Hub
	streams    web.StreamBounds
	shape      shape
	webhooks   webhookHandlers
	absences   *absence.Service
	audit      *auditlog.Log
	eraseRest  func(erasure.Person) []erasure.Part // of what no use case has
}

// public are the routes for clients.
func (h handlers) public() []web.Route {
	return append(h.webhooks.routes(), []web.Route{
		{Method: fiber.MethodGet, Path: "/api/events", Access: web.SignedIn, Handler: h.search},
		{
			Method: fiber.MethodPost, Path: "/api/events", Access: web.SignedIn,
			Repeatable: h.mayHaveAgain, Handler: h.create,
		},
		{Method: fiber.MethodGet, Path: "/api/events/:id", Access: web.SignedIn, Handler: web.WithID(h.read)},
		{
			Method: fiber.MethodPatch, Path: "/api/events/:id", Access: web.SignedIn,
			Repeatable: h.mayHaveAgain, RepeatableWhen: changesSeveral, Handler: h.change,
		},
		{
			Method: fiber.MethodPut, Path: "/api/events/:id", Access: web.SignedIn,
			Repeatable: h.mayHaveAgain, RepeatableWhen: changesSeveral, Handler: h.change,
		},
		{Method: fiber.MethodDelete, Path: "/api/events/:id", Access: web.SignedIn, Handler: h.remove},
		{
			Method: fiber.MethodPost, Path: "/api/events/:id/add", Access: web.SignedIn,
			Repeatable: h.mayHaveAgain, Handler: h.add,
		},
		{
			Method: fiber.MethodPost, Path: "/api/events/:id/replace", Access: web.SignedIn,
			Repeatable: h.mayHaveAgain, Handler: h.replace,
		},
		{
			Method: fiber.MethodDelete, Path: "/api/events/:id/elements/:element", Access: web.SignedIn,
			Handler: h.removeElement,
		},
		{
			Method: fiber.MethodGet, Path: "/api/events/:id/notes", Access: web.SignedIn,
			Handler: shows("notes", h.events.Notes, asTheyAre),
		},
		{
			Method: fiber.MethodPost, Path: "/api/events/:id/notes", Access: web.SignedIn,
			Repeatable: h.mayHaveNoteAgain, Handler: h.addNote,
		},

		{
			Method: fiber.MethodGet, Path: "/api/series/:id", Access: web.SignedIn,
			Handler: web.WithID(h.getSeries),
		},

		{Method: fiber.MethodGet, Path: "/api/changes", Access: web.SignedIn, Handler: h.changes},
		{
			Method: fiber.MethodGet, Path: "/api/changes/stream", Access: web.SignedIn,
			Streams: h.streams, Handler: h.streamChanges,
		},

		{Method: fiber.MethodGet, Path: "/api/commitments", Access: web.SignedIn, Handler: h.decidable},
		{
			Method: fiber.MethodPatch, Path: "/api/commitments/:id", Access: web.SignedIn, ByToken: web.Administers,
			Handler: h.decide,
		},
		{
			Method: fiber.MethodDelete, Path: "/api/commitments/:id", Access: web.SignedIn,
			Handler: removes(h.events.DeleteCommitment),
		},
		{Method: fiber.MethodGet, Path: "/api/requests", Access: web.SignedIn, Handler: h.outstanding},
		{Method: fiber.MethodPatch, Path: "/api/requests/:id", Access: web.SignedIn, Handler: h.changeQuantity},
		{
			Method: fiber.MethodDelete, Path: "/api/requests/:id", Access: web.SignedIn,
			Handler: removes(h.events.DeleteRequest),
		},
		{
			Method: fiber.MethodPost, Path: "/api/requests/:id/allocations", Access: web.SignedIn,
			ByToken: web.Administers, Repeatable: h.mayHaveAgain, Handler: h.allocate,
		},

		{
			Method: fiber.MethodGet, Path: "/api/eventcategories", Access: web.SignedIn,
			Handler: h.listCategories,
		},
		{
			Method: fiber.MethodGet, Path: "/api/eventcategories/:id", Access: web.SignedIn,
			Handler: shows("eventcategory", h.categories.Get, detail),
		},

		{
			Method: fiber.MethodGet, Path: "/api/admin/eventcategories", Access: web.SchoolAdmin,
			Handler: h.pageOfCategories,
		},
		{
			Method: fiber.MethodPost, Path: "/api/admin/eventcategories", Access: web.SchoolAdmin,
			Repeatable: h.mayHaveCategoryAgain, Handler: h.createCategory,
		},
		{
			Method: fiber.MethodPatch, Path: "/api/admin/eventcategories/:id", Access: web.SchoolAdmin,
			Handler: h.changeCategory,
		},
		{Method: fiber.MethodPost, Path: "/api/admin/clashes", Access: web.Admin, Handler: h.checkAbsences},
		{Method: fiber.MethodGet, Path: "/api/admin/export/events", Access: web.Admin, Handler: h.exportEvents},
		importer.Route("eventcategories", web.SchoolAdmin, h.audit, h.importCategories),
		importer.Route("events", web.SchoolAdmin, h.audit, h.importEvents),
		h.audit.Route("events", h.shape.zone, &auditlog.Own{
			Records: h.administers, Many: event.Record, OfMany: h.events.Administers,
		}),
	}...)
}

// internal are the routes for the other services.
func (h handlers) internal() []web.Route {
	return []web.Route{
		web.Serve(neighbour.Commitments, h.commitments),
		web.Serve(neighbour.Requests, h.requests),
		web.Serve(neighbour.Summaries, h.summaries),
		web.Serve(neighbour.Living, h.living),
		web.Serve(neighbour.Busy, h.busy),
		web.Serve(neighbour.Calendar, h.calendar),
		web.Serve(neighbour.EraseEvents, h.erase),
	}
}

// administers is for auditlog.Own: p reads the audit of the categories and the webhooks of its schools.
func (h handlers) administers(ctx context.Context, p principal.Principal) (map[string][]int64, error) {
	categories, err := h.categories.Administers(ctx, p)
	if err != nil {
		return nil, err
	}
	webhooks, err := h.webhooks.notices.ListWebhooks(ctx, p)
	ids := sequence.Map(webhooks, func(w notice.Webhook) int64 { return w.ID })
	return map[string][]int64{category.Record: categories, notice.WebhookRecord: ids}, err
}

// shows handles a call that reads the record of the id in its path.
func shows[T, Form any](
	field string, get func(context.Context, principal.Principal, int64) (T, error), shape func(T) Form,
) fiber.Handler {
	return web.WithID(func(c *fiber.Ctx, id int64) error {
		v, err := get(c.UserContext(), web.Principal(c), id)
		if err != nil {
			return err
		}
		return web.OK(c, web.Field{Name: field, Value: shape(v)})
	})
}

// removes handles a call that removes the record of the id in its path.
func removes(remove func(context.Context, principal.Principal, int64) error) fiber.Handler {
	return web.WithID(func(c *fiber.Ctx, id int64) error {
		return web.OKUnless(c, remove(c.UserContext(), web.Principal(c), id))
	})
}

// okPage answers with a page of records in order of id, after which there may be more.
func okPage[T, Form any](c *fiber.Ctx, name string, page []T, more bool, id func(T) int64, shape func(T) Form) error {
	place := func(i int) web.Field { return web.Next(c, id(page[i])) }
	next := web.Next(c, 0)
	if more && len(page) > 0 {
		next = place(len(page) - 1)
	}
	return web.OKPage(c, name, sequence.Map(page, shape), next, place)
}
