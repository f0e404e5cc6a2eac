package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/web"
)

// public are the routes for clients. The contract shows notes under two paths; each serves all (decisions, part 6).
func (h handlers) public() []web.Route {
	routes := []web.Route{importer.Route("notes", h.audit, h.importBatch), h.audit.Route("notes", h.zone)}
	for _, path := range []string{"/api/notes/:id", "/notes/:id"} {
		routes = append(routes,
			web.Route{Method: fiber.MethodGet, Path: path, Access: web.SignedIn, Handler: h.read},
			web.Route{Method: fiber.MethodPut, Path: path, Access: web.SignedIn, Handler: h.update},
			web.Route{Method: fiber.MethodPatch, Path: path, Access: web.SignedIn, Handler: h.update},
			web.Route{Method: fiber.MethodDelete, Path: path, Access: web.SignedIn, Handler: h.remove},
		)
	}
	return routes
}

// internal are the routes for the other services.
func (h handlers) internal() []web.Route {
	return []web.Route{
		web.Serve(neighbour.NotesOfEvent, h.notes.OfEvent),
		web.Serve(neighbour.NewNote, h.notes.Create),
		web.Serve(neighbour.SystemNotes, h.notes.KeepSystemNotes),
		web.Serve(neighbour.Noted, h.notes.Noted),
	}
}
