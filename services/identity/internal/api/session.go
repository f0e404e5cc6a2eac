package api

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/service/release"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// sessionTries is how often making a session is tried while its users change.
const sessionTries = 5

// sessions are the sessions in Redis, as the use cases know them.
type sessions struct{ *session.Store }

func (s sessions) Refresh(ctx context.Context, u user.User) error {
	_, err := s.Store.Refresh(ctx, subject(u))
	return err
}

func (s sessions) Confirm(
	ctx context.Context, confirmed, upTo time.Time, users []user.User, ended []string,
) ([]int64, error) {
	r := session.Revocations{Versions: map[int64]int64{}, Ended: ended}
	for _, u := range users {
		r.Versions[u.ID] = u.Version
	}
	return s.Store.Confirm(ctx, confirmed, upTo, r)
}

// subject is the part of a user that sessions store.
func subject(u user.User) session.Subject {
	return session.Subject{
		UserID: u.ID, Version: u.Version, Kind: u.Kind, ElementID: u.ElementID,
		Permissions: u.Permissions, AdminOf: u.AdminOf, StandsFor: u.StandsFor, Active: u.Active,
		Since: u.SessionsSince,
	}
}

// recordOf is the content of a session in which these users act.
func recordOf(a user.Actors) session.Record {
	r := session.Record{User: subject(a.Effective)}
	if a.Original != nil {
		r.Original = new(subject(*a.Original))
	}
	return r
}

// login answers contract 5.1 and 5.2. No page of Belfry links to it, so a link that a browser follows is one that a
// user wrote, as in a note, and would log its reader in as another.
func (h handlers) login(c *fiber.Ctx) error {
	if c.Get("Sec-Fetch-Site") == "same-origin" && c.Get("Sec-Fetch-Mode") == "navigate" {
		return problem.New(problem.Forbidden, "")
	}
	return h.logIn(c, cmp.Or(c.Query("uuid"), c.Query("uid")))
}

// loginByBody is login with the uuid in the body, which no proxy logs. A uuid that is not a string counts as wrong.
func (h handlers) loginByBody(c *fiber.Ctx) error {
	body, err := web.Body(c)
	if err != nil {
		return err
	}
	return h.logIn(c, form.OrZero(body.Text("uuid", problem.Fields{})))
}

// logIn makes a session of the user with that uuid. It also ends the session that came with the request.
func (h handlers) logIn(c *fiber.Ctx, uuid string) error {
	address := web.ClientAddress(c, h.trusted)
	return web.OKUnless(c, h.renew(c, h.sessions.Create, func(ctx context.Context) (user.Actors, error) {
		u, err := h.users.Login(ctx, uuid, address)
		if problem.Is(err, problem.AccessDenied) || problem.Is(err, problem.TooManyRequests) {
			h.log.WarnContext(ctx, "a login failed", "from", address, "code", problem.As(err).Kind.Code(),
				"request", web.RequestID(c))
		}
		return user.Actors{Effective: u}, err
	}))
}

// logout answers contract 5.3. When it cannot make sure that the session has ended for good it answers 503, and the
// cookie stays.
func (h handlers) logout(c *fiber.Ctx) error {
	if _, err := h.end(c); err != nil {
		return err
	}
	return web.OK(c)
}

// end ends the session of the request, if there is one, and returns the provider at which it began, if any.
func (h handlers) end(c *fiber.Ctx) (provider string, err error) {
	if token, ok := h.cookies.Token(c); ok {
		held, err := h.sessions.Find(c.UserContext(), token)
		if err != nil {
			return "", problem.Wrap(problem.Unavailable, err, "")
		}
		if held.UserID != 0 {
			if err := h.endForGood(c.UserContext(), held); err != nil {
				return "", err
			}
		}
		provider = held.Provider
	}
	h.cookies.Clear(c)
	return provider, nil
}

// endForGood ends sessions. It marks them first: while they exist, what failed can be repeated.
func (h handlers) endForGood(ctx context.Context, all ...session.Held) error {
	var hashes []string
	for _, held := range all {
		if err := h.users.MarkEnded(ctx, held.UserID, held.Hash); err != nil {
			return err
		}
		hashes = append(hashes, held.Hash)
	}
	if err := h.sessions.End(ctx, hashes...); err != nil {
		return problem.Wrap(problem.Unavailable, err, "")
	}
	return nil
}

// switchUser answers contract 4.5 and 5.5 to 5.10. Of several requests at once with one cookie, one succeeds.
func (h handlers) switchUser(c *fiber.Ctx) error {
	if _, err := web.PathID(c, "session"); err != nil {
		return err
	}
	target, unreadable := switchTarget(c)
	return web.OKUnless(c, h.renew(c, h.sessions.Rotate, func(ctx context.Context) (user.Actors, error) {
		return h.users.Switch(ctx, web.Principal(c), target, unreadable)
	}))
}

// switchTarget returns the id of the user to switch to. It is 0 when the body has none, with the body's fault, which is
// answered later: the caller's permissions are checked first.
func switchTarget(c *fiber.Ctx) (int64, error) {
	fields, err := web.Wrapped(c, "session")
	if err != nil {
		return 0, err
	}
	id, ok := web.ParseBodyID(fields["user_id"])
	if !ok {
		return 0, problem.New(problem.Malformed, "user_id is missing or not an id")
	}
	return id, nil
}

// revert answers contract 4.5 and 5.5.
func (h handlers) revert(c *fiber.Ctx) error {
	if _, err := web.PathID(c, "session"); err != nil {
		return err
	}
	p := web.Principal(c)
	if !p.Switched() {
		return web.OKUnless(c, h.users.MayRevert(p))
	}
	return web.OKUnless(c, h.renew(c, h.sessions.Rotate, func(ctx context.Context) (user.Actors, error) {
		return h.users.Revert(ctx, p)
	}))
}

// storing is session.Store's Create or Rotate.
type storing func(context.Context, session.Record, session.Token) (session.Token, error)

// renew makes a session of the users that decide returns, in place of the one that came with the request, and sets its
// cookie. When one of them has changed since it was read, decide runs again.
func (h handlers) renew(c *fiber.Ctx, store storing, decide func(context.Context) (user.Actors, error)) error {
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
		token, err := store(ctx, recordOf(actors), old)
		switch {
		case errors.Is(err, session.ErrStale):
			continue
		case errors.Is(err, session.ErrNone):
			return problem.New(problem.AccessDenied, "")
		case err != nil:
			return problem.Wrap(problem.Unavailable, err, "")
		}
		// The client gets the cookie only when the old session is marked as ended, and the audit has the entry.
		if ok {
			err = h.users.MarkEnded(ctx, actors.Holder().ID, old.Hash())
		}
		if err == nil {
			err = h.audit.Record(ctx, h.sessionEntry(c, actors))
		}
		if err != nil {
			return errors.Join(err, h.sessions.End(ctx, token.Hash()))
		}
		h.cookies.Set(c, token)
		return nil
	}
	return problem.Wrap(problem.Unavailable, session.ErrStale, "")
}

// sessionEntry is the audit entry of a login, a switch or a revert: about the new effective user, by the previous one.
func (h handlers) sessionEntry(c *fiber.Ctx, actors user.Actors) audit.Entry {
	action := audit.Switch
	switch {
	case web.Principal(c).UserID == 0:
		action = audit.Login
		web.Act(c, principal.Principal{UserID: actors.Effective.ID}, h.trusted)
	case actors.Original == nil:
		action = audit.Revert
	}
	return audit.Make(c.UserContext(), action, audit.RecordOf(user.TypeName, actors.Effective.ID), nil)
}

// whoAmI answers contract 4.5.
func (h handlers) whoAmI(c *fiber.Ctx) error {
	if _, err := web.PathID(c, "session"); err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "user_id", Value: web.Principal(c).UserID})
}

func (h handlers) me(c *fiber.Ctx) error {
	p := web.Principal(c)
	self, err := h.users.GetSelf(c.UserContext(), p.UserID)
	if err != nil {
		return err
	}
	fields := []web.Field{
		{Name: "user", Value: listForm(self.User)},
		{Name: "kind", Value: p.Kind},
		{Name: "element", Value: self.Element},
		{Name: "permissions", Value: p.Permissions},
	}
	if len(self.Schools) > 0 {
		fields = append(fields, web.Field{Name: "schools", Value: self.Schools})
	}
	if len(p.AdminOf) > 0 {
		fields = append(fields, web.Field{Name: "admin_of", Value: p.AdminOf})
	}
	if len(self.Pupils) > 0 {
		fields = append(fields, web.Field{Name: "pupils", Value: self.Pupils})
	}
	return web.OK(c, fields...)
}

// showVersion answers GET /api/version with the release's version, which the interface's document has as well.
func (h handlers) showVersion(c *fiber.Ctx) error {
	return web.OK(c, web.Field{Name: "version", Value: release.Version()})
}
