package web

import (
	"crypto/subtle"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Access says who may call a route.
type Access int

// The kinds of access, from the widest to the narrowest.
const (
	Anyone      Access = iota // no session needed
	SignedIn                  // a session whose user may use the API
	SchoolAdmin               // a session of an administrator, perhaps of a school only, which the use case checks
	Admin                     // a session of an effective user with the admin permission
	Neighbour                 // another service, by the shared token
)

// JSON and NDJSON are the media types of request bodies.
const (
	JSON   = "application/json"
	NDJSON = "application/x-ndjson"
)

// Route is one line of a service's route table.
type Route struct {
	Method  string
	Path    string // in fiber's notation; its template names the route in logs, spans and metrics
	Access  Access
	Handler fiber.Handler
	// Body is the media type that the request's body is declared as; JSON when empty.
	Body string
	// Query names the parameters that the route reads of the query, and Fields what it reads of a JSON body, each field
	// by its path ("event.body"); spaces separate them. Others in a request are reported as unknown. Where both are
	// empty, they are those of the interface's document.
	Query, Fields string
	// MaxBody bounds the body in bytes; 1 MiB when zero, never above 4 MiB, and 64 KiB where Anyone may call.
	MaxBody int
	// Repeatable marks a route that takes an Idempotency-Key, see IdempotencyKey, and says whether the caller may still
	// be given an answer that it got before. Errors that are not the caller's fault, such as Unavailable, are answered;
	// after any other the request is a Conflict. It is not called for admins, who see everything.
	Repeatable func(c *fiber.Ctx, answer []byte) error
	// RepeatableWhen says which calls of a route take a key. Nil: all.
	RepeatableWhen func(c *fiber.Ctx) bool
	// Large marks a route whose answers may have megabytes. Its handler takes room for it from room.Of. An answer
	// of more than 8 MiB is 400.
	Large bool
	// Streams bounds the streams of a route that answers with one; see Stream.
	Streams StreamBounds
	// Secret marks a route whose answer shows a secret: it is never compressed, since its length could reveal it.
	Secret bool
	// ActsOnGet marks a GET that changes something (login, logout): pages from elsewhere may not make a browser send it
	// either.
	ActsOnGet bool
}

// Healthz is a route of every service's public listener, for load balancers that can't ask at another port. It says
// that the process serves, and nothing of the stores.
func Healthz() Route {
	return Route{Method: fiber.MethodGet, Path: "/healthz", Access: Anyone, Handler: func(c *fiber.Ctx) error {
		return OK(c)
	}}
}

// reads is what the interface's document says that a route reads, as Query and Fields of Route.
type reads struct{ query, fields string }

// register adds r to the app. A GET route serves HEAD too.
func register(app *fiber.App, o Options, in *intake, r Route) {
	if r.Query+r.Fields == "" {
		d := documented[r.Method+" "+r.Path]
		r.Query, r.Fields = d.query, d.fields
	}
	if r.Body == "" {
		r.Body = JSON
	}
	if r.MaxBody == 0 {
		r.MaxBody = maxBody
	}
	handlers := []fiber.Handler{func(c *fiber.Ctx) error {
		c.Locals(routeKey, r.Path)
		if r.ActsOnGet && o.fromElsewhere(c) {
			return problem.New(problem.Forbidden, "")
		}
		return c.Next()
	}}
	if k := cursorsOf(o.places, r); k.paged {
		handlers = append(handlers, func(c *fiber.Ctx) error {
			c.Locals(cursorsKey, k)
			return c.Next()
		})
	}
	switch r.Access {
	case Anyone:
	case SignedIn, SchoolAdmin, Admin:
		handlers = append(handlers, signIn(o, r.Access))
	case Neighbour:
		handlers = append(handlers, admitNeighbour(o))
	}
	switch r.Method {
	case fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch:
		handlers = append(handlers, in.receive(o, r))
	default:
		handlers = append(handlers, ignoreBody)
	}
	if r.Access != Neighbour {
		handlers = append(handlers, tellUnknown(r))
	}
	compressible := r.Access != Neighbour && !r.Secret
	if compressible {
		handlers = append(handlers, chooseEncoding(o))
	}
	switch { // around the idempotency, which keeps answers before they are compressed
	case r.Large: // it compresses too, while it holds the room
		handlers = append(handlers, makeRoom(o, r))
	case compressible:
		handlers = append(handlers, compressed(o))
	}
	if r.Repeatable != nil {
		handlers = append(handlers, repeatable(o, r))
	}
	if r.Streams.All > 0 {
		handlers = append(handlers, func(c *fiber.Ctx) error {
			c.Locals(streamKey, streamer{o, r.Streams})
			return c.Next()
		})
	}
	handlers = append(handlers, r.Handler)
	if r.Method == fiber.MethodGet {
		app.Get(r.Path, handlers...) // and HEAD
		return
	}
	app.Add(r.Method, r.Path, handlers...)
}

// admitNeighbour lets requests with the shared token pass. A wrong token and a missing one get the same answer.
func admitNeighbour(o Options) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if !o.isNeighbour(c) {
			return problem.New(problem.AccessDenied, "")
		}
		c.Locals(neighbourKey, true)
		actForNeighbour(c)
		c.SetUserContext(directory.BeginPart(c.UserContext(), c.Get(directory.Header)))
		return c.Next()
	}
}

// isNeighbour says whether the request has the shared token.
func (o Options) isNeighbour(c *fiber.Ctx) bool {
	want := []byte("Bearer " + o.Token.Reveal())
	return o.Token.Set() && subtle.ConstantTimeCompare(c.Request().Header.Peek(fiber.HeaderAuthorization), want) == 1
}
