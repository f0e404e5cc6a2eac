package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// public returns the routes for clients. All are in the service's rows of the route table.
func (h handlers) public() []web.Route {
	routes := []web.Route{
		{Method: fiber.MethodGet, Path: "/api/elements", Access: web.SignedIn, Handler: h.search},
		{Method: fiber.MethodGet, Path: "/api/elements/:id", Access: web.SignedIn, Handler: web.WithID(h.detail)},
		{
			Method: fiber.MethodGet, Path: "/api/elements/:id/commitments",
			Access: web.SignedIn, ByToken: web.OneElement, Handler: web.WithID(h.commitments),
		},
		{
			Method: fiber.MethodGet, Path: "/api/elements/:id/requests",
			Access: web.SignedIn, Handler: web.WithID(h.requests),
		},
		{
			Method: fiber.MethodGet, Path: "/api/elements/:id/freebusy",
			Access: web.SignedIn, ByToken: web.OneElement, Handler: web.WithID(h.busy),
		},
		{
			Method: fiber.MethodGet, Path: "/api/elements/:id/calendar.ics",
			Access: web.SignedIn, Handler: web.WithID(h.calendar),
		},
		{
			Method: fiber.MethodGet, Path: "/api/elements/:id/feeds",
			Access: web.SignedIn, Handler: web.WithID(h.listFeeds),
		},
		{
			Method: fiber.MethodPost, Path: "/api/elements/:id/feeds", Access: web.SignedIn, Secret: true,
			ByToken: web.SessionOnly, Handler: web.WithID(h.createFeed),
		},
		{
			Method: fiber.MethodPost, Path: "/api/elements/:id/feeds/:feed/address", Access: web.SignedIn, Secret: true,
			ByToken: web.SessionOnly, Handler: withIDs("feed", h.renewFeed),
		},
		{
			Method: fiber.MethodDelete, Path: "/api/elements/:id/feeds/:feed",
			Access: web.SignedIn, Handler: withIDs("feed", h.deleteFeed),
		},
		{Method: fiber.MethodGet, Path: "/ical/:file", Access: web.Anyone, Handler: h.calendarByToken},
		{Method: fiber.MethodGet, Path: "/api/freebusy", Access: web.SignedIn, Handler: h.freeBusy},
		{Method: fiber.MethodGet, Path: "/api/free", Access: web.SignedIn, Handler: h.free},
		{Method: fiber.MethodGet, Path: "/api/timetables", Access: web.SignedIn, Handler: h.timetables},

		{Method: fiber.MethodGet, Path: "/api/admin/elements", Access: web.SchoolAdmin, Handler: h.list},
		{
			Method: fiber.MethodPost, Path: "/api/admin/elements",
			Access: web.SchoolAdmin, Repeatable: h.mayHaveAgain, Handler: h.create,
		},
		{Method: fiber.MethodGet, Path: "/api/admin/elements/:id", Access: web.SchoolAdmin, Handler: web.WithID(h.get)},
		{Method: fiber.MethodPatch, Path: "/api/admin/elements/:id", Access: web.SchoolAdmin, Handler: h.patch},
		{Method: fiber.MethodDelete, Path: "/api/admin/elements/:id", Access: web.SchoolAdmin, Handler: h.retire},
		{Method: fiber.MethodGet, Path: "/api/admin/elements/:id/members", Access: web.SchoolAdmin, Handler: h.members},
		{
			Method: fiber.MethodPost, Path: "/api/admin/elements/:id/members",
			Access: web.SchoolAdmin, Repeatable: h.mayHaveAgain, Handler: web.WithID(h.addMembers),
		},
		{
			Method: fiber.MethodDelete, Path: "/api/admin/elements/:id/members/:member",
			Access: web.SchoolAdmin, Handler: withIDs("member", h.endMembership),
		},
		{
			Method: fiber.MethodGet, Path: "/api/admin/elements/:id/administrators",
			Access: web.SchoolAdmin, Handler: h.administrators,
		},
		{
			Method: fiber.MethodPut, Path: "/api/admin/elements/:id/administrators/:user",
			Access: web.SchoolAdmin, Handler: withIDs("user", h.addAdministrator),
		},
		{
			Method: fiber.MethodDelete, Path: "/api/admin/elements/:id/administrators/:user",
			Access: web.SchoolAdmin, Handler: withIDs("user", h.removeAdministrator),
		},
		{
			Method: fiber.MethodGet, Path: "/api/admin/export/memberships",
			Access: web.SchoolAdmin, Handler: h.exportMemberships,
		},

		{Method: fiber.MethodPost, Path: "/api/admin/erasures", Access: web.Admin, Handler: h.erase},
		{Method: fiber.MethodGet, Path: "/api/admin/erasures", Access: web.Admin, Handler: h.listErasures},
		{
			Method: fiber.MethodGet, Path: "/api/admin/erasures/:id",
			Access: web.Admin, Handler: web.WithID(h.getErasure),
		},

		importer.Route("memberships", web.SchoolAdmin, h.audit, h.importMemberships),
		importer.Route("administrators", web.SchoolAdmin, h.audit, h.importAdministrators),
		h.audit.Route("elements", h.zone, &auditlog.Own{Records: h.elements.Administers}),
		h.accesses.Route("elements", h.zone),
	}
	for _, t := range element.Types() {
		route := importer.Route(t.ImportKind, web.SchoolAdmin, h.audit, h.importElements(t))
		routes = append(routes, route)
	}
	return routes
}

// internal returns the routes for other services.
func (h handlers) internal() []web.Route {
	return []web.Route{
		web.Serve(neighbour.ElementFacts, h.elements.Facts),
		web.Serve(neighbour.Administered, h.elements.Administered),
		web.Serve(neighbour.Reaches, h.elements.Reaches),
		web.Serve(neighbour.Surroundings, h.elements.Surroundings),
		web.Serve(neighbour.Belonging, h.elements.Belonging),
		web.Serve(neighbour.Control, h.elements.Control),
		web.Serve(neighbour.Beyond, h.elements.Beyond),
		web.Serve(neighbour.Pupils, h.elements.Pupils),
		web.Serve(neighbour.Changes, h.changes.Answer),
	}
}
