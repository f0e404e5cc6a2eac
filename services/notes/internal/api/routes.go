package api

import (
	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// handlers answer the requests.
type handlers struct {
	notes *note.Service
	audit *auditlog.Log
	log   *changelog.Log // of changes
	zone  wiretime.Zone
}

// public are the routes for clients. The contract shows notes under two paths; each serves all (decisions, part 6).
func (h handlers) public() []web.Route {
	routes := []web.Route{
		web.At("GET /api/admin/export/notes", web.Admin, h.exportNotes),
		web.At("GET /api/notes", web.SignedIn, h.eventsWithNotes),
		importer.Route("notes", web.Admin, h.audit, h.importNotes),
		h.audit.Route("notes", h.zone, nil),
	}
	for _, path := range []string{"/api/notes/:id", "/notes/:id"} {
		routes = append(routes,
			web.At("GET "+path, web.SignedIn, web.WithID(h.get)),
			web.At("PUT "+path, web.SignedIn, h.change),
			web.At("PATCH "+path, web.SignedIn, h.change),
			web.At("DELETE "+path, web.SignedIn, h.remove),
		)
	}
	return routes
}

// internal are the routes for the other services.
func (h handlers) internal() []web.Route {
	return []web.Route{
		web.Serve(neighbour.NotesOfEvent, h.list),
		web.Serve(neighbour.NewNote, h.create),
		web.Serve(neighbour.SystemNotes, h.notes.KeepSystemNotes),
		web.Serve(neighbour.Noted, h.notes.Noted),
		web.Serve(neighbour.EraseNotes, h.erase),
		web.Serve(neighbour.Changes, h.log.Answer),
	}
}
