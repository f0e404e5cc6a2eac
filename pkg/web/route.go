package web

import (
	"crypto/subtle"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
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
	Method  string // empty for the last route of a table: any method, on paths that no other route has
	Path    string // in fiber's notation; its template names the route in logs, spans and metrics
	Access  Access
	Handler fiber.Handler
	// Admit decides, for a route for Anyone, who may send a body before it is read: it calls c.Next, or answers. With
	// it MaxBody works as for other routes.
	Admit fiber.Handler
	// Body is the media type that the request's body is declared as; JSON when empty.
	Body string
	// Reads is what the route reads of a request; the zero value means what the interface's document says.
	Reads Reads
	// MaxBody bounds the body in bytes; 1 MiB when zero, never above 4 MiB, and 64 KiB where Anyone may call
	// and there is no Admit.
	MaxBody int
	// Repeatable marks a route that takes an Idempotency-Key, see IdempotencyKey, and says whether the caller may still
	// be given an answer that it got before. Errors that are not the caller's fault, such as Unavailable, are answered;
	// after any other the request is a Conflict. It is not called for admins, who see everything.
	Repeatable func(c *fiber.Ctx, answer []byte) error
	// RepeatableWhen says which calls of a route take a key. Nil: all.
	RepeatableWhen func(c *fiber.Ctx) bool
	// Large marks a route for neighbours whose answers may have megabytes. Its handler takes room for it from room.Of.
	// An answer of more than 16 MiB is 400. Every public GET has room, and is 400 above 8 MiB, unless it shows a
	// secret.
	Large bool
	// Streams bounds the streams of a route that answers with one; see Stream.
	Streams StreamBounds
	// Secret marks a route whose answer shows a secret: it is never compressed, since its length could reveal it, and
	// not repeated after a switch, or to another token.
	Secret bool
	// ByToken says by which tokens for programs the route may be called.
	ByToken TokenUse
	// ActsOnGet marks a GET that changes something (login, logout): pages from elsewhere may not make a browser send it
	// either.
	ActsOnGet bool
}

// At returns the route of a method and a path, such as "GET /api/events/:id". More has its other fields, if any.
func At(pattern string, access Access, handler fiber.Handler, more ...Route) Route {
	var r Route
	if len(more) > 0 {
		r = more[0]
	}
	r.Method, r.Path, _ = strings.Cut(pattern, " ")
	r.Access, r.Handler = access, handler
	return r
}

// Healthz is a route of every service's public listener, for load balancers that can't ask at another port. It says
// that the process serves, and nothing about the stores.
func Healthz() Route {
	return At("GET /healthz", Anyone, func(c *fiber.Ctx) error { return OK(c) })
}

// Reads is what a route reads of a request. The rest is reported as unknown, or refused: see checkWords.
type Reads struct {
	// Query names the parameters of the query, and Fields the fields of a JSON body by their paths ("event.body");
	// spaces separate them.
	Query, Fields string
	// Values has a regular expression of the whole value for some of these, by the same names.
	Values map[string]string
	// IfMatch says that the route takes If-Match.
	IfMatch bool
}

// register adds r to the app. A GET route serves HEAD too.
func register(app *fiber.App, o Options, in *intake, r Route) {
	if r.Method == "" {
		app.Use(func(c *fiber.Ctx) error {
			if err := c.Next(); classify(o, err).Kind != problem.NotFound { // else the path is known
				return err
			}
			return r.Handler(c)
		})
		return
	}
	if r.Reads.Query+r.Reads.Fields == "" && !r.Reads.IfMatch {
		r.Reads = documented[r.Method+" "+r.Path]
	}
	if r.Body == "" {
		r.Body = JSON
	}
	if r.MaxBody == 0 {
		r.MaxBody = maxBody
	}
	handlers := []fiber.Handler{func(c *fiber.Ctx) error {
		c.Locals(routeKey, r.Path)
		c.Locals(versionsKey, o.versions)
		// Where Anyone may call, a token is ignored: the call is checked like one without.
		if (r.ActsOnGet || r.Access == Anyone && c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead) &&
			o.fromElsewhere(c) {
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
		if r.Admit != nil {
			handlers = append(handlers, r.Admit)
		}
	case SignedIn, SchoolAdmin, Admin:
		handlers = append(handlers, signIn(o, r))
	case Neighbour:
		handlers = append(handlers, admitNeighbour(o))
	}
	switch r.Method {
	case fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete:
		handlers = append(handlers, in.receive(o, r))
	default:
		handlers = append(handlers, ignoreBody)
	}
	if r.Access != Neighbour {
		handlers = append(handlers, readWords(r))
		if r.Method != fiber.MethodGet && r.Body == JSON && r.Reads.Fields == "" {
			handlers = append(handlers, readNothing)
		}
	}
	compressible := r.Access != Neighbour && !r.Secret
	if compressible {
		handlers = append(handlers, chooseEncoding(o))
	}
	switch { // around the idempotency, which keeps answers before they are compressed
	case r.Large, compressible && r.Method == fiber.MethodGet && r.Streams.All == 0:
		handlers = append(handlers, makeRoom(o, r)) // it compresses too, while it holds the room
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
	if r.Access == Neighbour {
		app.Add(neighbour.DryRunMethod, r.Path, handlers...)
	}
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
		if c.Method() == neighbour.DryRunMethod {
			c.SetUserContext(record.DryRun(c.UserContext()))
		}
		return c.Next()
	}
}

// isNeighbour says whether the request has the shared token.
func (o Options) isNeighbour(c *fiber.Ctx) bool {
	want := []byte("Bearer " + o.Token.Reveal())
	return o.Token.Set() && subtle.ConstantTimeCompare(c.Request().Header.Peek(fiber.HeaderAuthorization), want) == 1
}

// suffix may follow a path, for clients of Xronos Scheduler.
const suffix = ".json"

// WithoutSuffix returns a path without the .json that a client may write after it. It keeps the paths of
// administration, of the interface's description, of feeds and of services, and paths whose last segment has another
// dot.
func WithoutSuffix(path string) string {
	bare, found := strings.CutSuffix(path, suffix)
	if !found || bare == "/api/openapi" || bare == "/api/docs" || strings.HasPrefix(bare, "/api/admin/") {
		return path
	}
	if !strings.HasPrefix(bare, "/api/") && !strings.HasPrefix(bare, "/sessions/") &&
		!strings.HasPrefix(bare, "/notes/") {
		return path
	}
	if last := bare[strings.LastIndexByte(bare, '/')+1:]; last == "" || strings.Contains(last, ".") {
		return path
	}
	return bare
}
