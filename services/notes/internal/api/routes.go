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
		{Method: fiber.MethodPost, Path: neighbour.NotesOfEventPath, Access: web.Neighbour, Handler: h.ofEvent},
		// JSON may write a character in six bytes or twelve, so contents that are too long need room to be told so.
		{Method: fiber.MethodPost, Path: neighbour.NewNotePath, Access: web.Neighbour, MaxBody: 4 << 20, Handler: h.create},
		{Method: fiber.MethodPost, Path: neighbour.SystemNotesPath, Access: web.Neighbour, MaxBody: 4 << 20, Handler: h.keepSystemNotes},
		{Method: fiber.MethodPost, Path: neighbour.NotedPath, Access: web.Neighbour, Handler: h.noted},
	}
}
