package api

import (
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// sessionTries is how often a session is tried to be made while its users keep changing.
const sessionTries = 5

// sessions tells the sessions of users' changes.
type sessions struct{ store *session.Store }

// Refresh implements user.Sessions.
func (s sessions) Refresh(ctx context.Context, u user.User) error {
	_, err := s.store.Refresh(ctx, subject(u))
	return err
}

// subject is a user as sessions know it.
func subject(u user.User) session.Subject {
	return session.Subject{
		UserID: u.ID, Version: u.Version, Kind: u.Kind, ElementID: u.ElementID,
		Permissions: u.Permissions, Active: u.Active, Since: u.SessionsSince,
	}
}

func record(a user.Actors) session.Record {
	r := session.Record{User: subject(a.Effective)}
	if a.Original != nil {
		original := subject(*a.Original)
		r.Original = &original
	}
	return r
}

// login: contract 5.1 and 5.2. It also ends the session that came with the request. Five round trips, one document: count the
// attempt, find the user, take the attempt back, make the session, tell the audit; a failure has the first two only.
func (h *handlers) login(c *fiber.Ctx) error {
	uuid := c.Query("uuid")
	if uuid == "" {
		uuid = c.Query("uid")
	}
	address := web.ClientAddress(c, h.trusted)
	return h.begin(c, h.sessions.Create, func(ctx context.Context) (user.Actors, error) {
		u, err := h.users.Login(ctx, uuid, address)
		return user.Actors{Effective: u}, err
	})
}

// logout: contract 5.3. One round trip with a cookie, none without. It never claims to have ended a session that it could not end.
func (h *handlers) logout(c *fiber.Ctx) error {
	if token, ok := h.cookies.Token(c); ok {
		if err := h.sessions.End(c.UserContext(), token); err != nil {
			return problem.Wrap(problem.Unavailable, err, "")
		}
	}
	h.cookies.Clear(c)
	return web.OK(c)
}

// switchUser: contract 4.5 and 5.5 to 5.10. Four round trips, the session's and the audit's included, and two documents. Of several at once with one
// cookie, one succeeds.
func (h *handlers) switchUser(c *fiber.Ctx) error {
	if _, err := web.PathID(c, "session"); err != nil {
		return err
	}
	target := switchTarget(c)
	return h.begin(c, h.sessions.Rotate, func(ctx context.Context) (user.Actors, error) {
		return h.users.Switch(ctx, web.Principal(c), target)
	})
}

// switchTarget returns the id of the user to switch to, 0 when the body has none: that is judged after the caller's rights.
func switchTarget(c *fiber.Ctx) int64 {
	fields, err := web.Wrapped(c, "session")
	if err != nil {
		return 0
	}
	id, _ := web.ParseBodyID(fields["user_id"])
	return id
}

// revert: contract 4.5 and 5.5. Four round trips, the session's and the audit's included, and one document when switched; one round trip otherwise.
func (h *handlers) revert(c *fiber.Ctx) error {
	if _, err := web.PathID(c, "session"); err != nil {
		return err
	}
	if p := web.Principal(c); !p.Switched() {
		if err := h.users.MayRevert(p); err != nil {
			return err
		}
		return web.OK(c)
	}
	return h.begin(c, h.sessions.Rotate, func(ctx context.Context) (user.Actors, error) {
		return h.users.Revert(ctx, web.Principal(c))
	})
}

// begin makes a session of those whom decide names, in place of the one that came with the request, and sends its cookie. When one
// of them has changed since it was read, it is decided again.
func (h *handlers) begin(c *fiber.Ctx, store func(context.Context, session.Record, session.Token) (session.Token, error),
	decide func(context.Context) (user.Actors, error),
) error {
	ctx := c.UserContext()
	old, ok := h.cookies.Token(c)
	if !ok {
		old = session.Token{}
	}
	for range sessionTries {
		actors, err := decide(ctx)
		if err != nil {
			return err
		}
		token, err := store(ctx, record(actors), old)
		switch {
		case errors.Is(err, session.ErrStale):
			continue
		case errors.Is(err, session.ErrNone):
			return problem.New(problem.AccessDenied, "")
		case err != nil:
			return problem.Wrap(problem.Unavailable, err, "")
		}
		// The client has the cookie only when the audit knows of it.
		if err := h.audit.Record(ctx, h.sessionEntry(c, actors)); err != nil {
			return errors.Join(err, h.sessions.End(ctx, token))
		}
		h.cookies.Set(c, token)
		return web.OK(c)
	}
	return problem.Wrap(problem.Unavailable, session.ErrStale, "")
}

// sessionEntry tells the audit of a login, a switch or a revert: of the user that is effective from now on, by the one who was.
func (h *handlers) sessionEntry(c *fiber.Ctx, actors user.Actors) audit.Entry {
	action := audit.Switch
	switch {
	case web.Principal(c).UserID == 0:
		action = audit.Login
		web.Act(c, principal.Principal{UserID: actors.Effective.ID}, h.trusted)
	case actors.Original == nil:
		action = audit.Revert
	}
	return audit.Make(c.UserContext(), action, audit.RecordOf("User", actors.Effective.ID), nil)
}

// whoAmI: contract 4.5. One round trip, for the session.
func (h *handlers) whoAmI(c *fiber.Ctx) error {
	if _, err := web.PathID(c, "session"); err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "user_id", Value: web.Principal(c).UserID})
}

// lookUp: contract 4.5, 5.5 and 5.6. Two round trips, the session's included, and as many documents as users have the address.
func (h *handlers) lookUp(c *fiber.Ctx) error {
	email, err := web.Query(c, "email")
	if err != nil {
		return err
	}
	found, err := h.users.ByEmail(c.UserContext(), web.Principal(c), email)
	if err != nil {
		return err
	}
	list := make([]form.User, len(found))
	for i, u := range found {
		list[i] = u.ListForm()
	}
	if len(list) == 0 && email != "" {
		return web.Answer(c, problem.NotFound.Code(), problem.NotFound.Status(), web.Field{Name: "users", Value: list})
	}
	return web.OK(c, web.Field{Name: "users", Value: list})
}
