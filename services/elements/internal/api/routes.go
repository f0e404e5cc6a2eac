package api

import (
	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// public returns the routes for clients. All are in the service's rows of the route table.
func (h handlers) public() []web.Route {
	routes := []web.Route{
		web.At("GET /api/elements", web.SignedIn, h.search),
		web.At("GET /api/elements/:id", web.SignedIn, web.WithID(h.detail)),
		web.At("GET /api/elements/:id/commitments", web.SignedIn, web.WithID(h.commitments),
			web.Route{ByToken: web.OneElement}),
		web.At("GET /api/elements/:id/requests", web.SignedIn, web.WithID(h.requests)),
		web.At("GET /api/elements/:id/freebusy", web.SignedIn, web.WithID(h.busy), web.Route{ByToken: web.OneElement}),
		web.At("GET /api/elements/:id/calendar.ics", web.SignedIn, web.WithID(h.calendar)),
		web.At("GET /api/elements/:id/feeds", web.SignedIn, web.WithID(h.listFeeds)),
		web.At("POST /api/elements/:id/feeds", web.SignedIn, web.WithID(h.createFeed),
			web.Route{Secret: true, ByToken: web.SessionOnly}),
		web.At("POST /api/elements/:id/feeds/:feed/address", web.SignedIn, withIDs("feed", h.renewFeed),
			web.Route{Secret: true, ByToken: web.SessionOnly}),
		web.At("DELETE /api/elements/:id/feeds/:feed", web.SignedIn, withIDs("feed", h.deleteFeed)),
		web.At("GET /ical/:file", web.Anyone, h.calendarByToken),
		web.At("GET /api/freebusy", web.SignedIn, h.freeBusy),
		web.At("GET /api/free", web.SignedIn, h.free),
		web.At("GET /api/timetables", web.SignedIn, h.timetables),

		web.At("GET /api/admin/elements", web.SchoolAdmin, h.list),
		web.At("POST /api/admin/elements", web.SchoolAdmin, h.create, web.Route{Repeatable: h.mayHaveAgain}),
		web.At("GET /api/admin/elements/:id", web.SchoolAdmin, web.WithID(h.get)),
		web.At("PATCH /api/admin/elements/:id", web.SchoolAdmin, h.patch),
		web.At("DELETE /api/admin/elements/:id", web.SchoolAdmin, h.retire),
		web.At("GET /api/admin/elements/:id/members", web.SchoolAdmin, h.members),
		web.At("POST /api/admin/elements/:id/members", web.SchoolAdmin, web.WithID(h.addMembers),
			web.Route{Repeatable: h.mayHaveAgain}),
		web.At("DELETE /api/admin/elements/:id/members/:member", web.SchoolAdmin, withIDs("member", h.endMembership)),
		web.At("GET /api/admin/elements/:id/administrators", web.SchoolAdmin, h.administrators),
		web.At("PUT /api/admin/elements/:id/administrators/:user", web.SchoolAdmin,
			withIDs("user", h.addAdministrator)),
		web.At("DELETE /api/admin/elements/:id/administrators/:user", web.SchoolAdmin,
			withIDs("user", h.removeAdministrator)),
		web.At("GET /api/admin/export/memberships", web.SchoolAdmin, h.exportMemberships),

		web.At("POST /api/admin/erasures", web.Admin, h.erase),
		web.At("GET /api/admin/erasures", web.Admin, h.listErasures),
		web.At("GET /api/admin/erasures/:id", web.Admin, web.WithID(h.getErasure)),

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
