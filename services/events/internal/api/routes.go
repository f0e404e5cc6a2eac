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
	notices    *notice.Service
	absences   *absence.Service
	audit      *auditlog.Log
	eraseRest  func(erasure.Person) []erasure.Part // of what no use case has
}

// public are the routes for clients.
func (h handlers) public() []web.Route {
	return append(h.webhookRoutes(), []web.Route{
		web.At("GET /api/events", web.SignedIn, h.search),
		web.At("POST /api/events", web.SignedIn, h.create, web.Route{Repeatable: h.mayHaveAgain}),
		web.At("GET /api/events/:id", web.SignedIn, web.WithID(h.read)),
		web.At("PATCH /api/events/:id", web.SignedIn, h.change,
			web.Route{Repeatable: h.mayHaveAgain, RepeatableWhen: changesSeveral}),
		web.At("PUT /api/events/:id", web.SignedIn, h.change,
			web.Route{Repeatable: h.mayHaveAgain, RepeatableWhen: changesSeveral}),
		web.At("DELETE /api/events/:id", web.SignedIn, h.remove),
		web.At("POST /api/events/:id/add", web.SignedIn, h.add, web.Route{Repeatable: h.mayHaveAgain}),
		web.At("POST /api/events/:id/replace", web.SignedIn, h.replace, web.Route{Repeatable: h.mayHaveAgain}),
		web.At("DELETE /api/events/:id/elements/:element", web.SignedIn, h.removeElement),
		web.At("GET /api/events/:id/notes", web.SignedIn, shows("notes", h.events.Notes, asTheyAre)),
		web.At("POST /api/events/:id/notes", web.SignedIn, h.addNote, web.Route{Repeatable: h.mayHaveNoteAgain}),

		web.At("GET /api/series/:id", web.SignedIn, web.WithID(h.getSeries)),

		web.At("GET /api/changes", web.SignedIn, h.changes),
		web.At("GET /api/changes/stream", web.SignedIn, h.streamChanges, web.Route{Streams: h.streams}),

		web.At("GET /api/commitments", web.SignedIn, h.decidable),
		web.At("PATCH /api/commitments/:id", web.SignedIn, h.decide, web.Route{ByToken: web.Administers}),
		web.At("DELETE /api/commitments/:id", web.SignedIn, removes(h.events.DeleteCommitment)),
		web.At("GET /api/requests", web.SignedIn, h.outstanding),
		web.At("PATCH /api/requests/:id", web.SignedIn, h.changeQuantity),
		web.At("DELETE /api/requests/:id", web.SignedIn, removes(h.events.DeleteRequest)),
		web.At("POST /api/requests/:id/allocations", web.SignedIn, h.allocate,
			web.Route{ByToken: web.Administers, Repeatable: h.mayHaveAgain}),

		web.At("GET /api/eventcategories", web.SignedIn, h.listCategories),
		web.At("GET /api/eventcategories/:id", web.SignedIn, shows("eventcategory", h.categories.Get, detail)),

		web.At("GET /api/admin/eventcategories", web.SchoolAdmin, h.pageOfCategories),
		web.At("POST /api/admin/eventcategories", web.SchoolAdmin, h.createCategory,
			web.Route{Repeatable: mayGetAgain(h.categories.Get)}),
		web.At("PATCH /api/admin/eventcategories/:id", web.SchoolAdmin, h.changeCategory),
		web.At("POST /api/admin/clashes", web.Admin, h.checkAbsences),
		web.At("GET /api/admin/export/events", web.Admin, h.exportEvents),
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
		web.Serve(neighbour.Living, h.events.Living),
		web.Serve(neighbour.Busy, h.busy),
		web.Serve(neighbour.Calendar, h.events.Calendar),
		web.Serve(neighbour.EraseEvents, h.erase),
	}
}

// administers is for auditlog.Own: p reads the audit of the categories and the webhooks of its schools.
func (h handlers) administers(ctx context.Context, p principal.Principal) (map[string][]int64, error) {
	categories, err := h.categories.Administers(ctx, p)
	if err != nil {
		return nil, err
	}
	webhooks, err := h.notices.ListWebhooks(ctx, p)
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
