package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// token is a token for programs as its user and administrators see it.
type token struct {
	ID        *int64               `json:"id"` // null: never stored
	Name      string               `json:"name"`
	Scope     principal.TokenScope `json:"scope"`
	ElementID *int64               `json:"element_id"` // null: of no single element
	CreatedAt string               `json:"created_at"`
	EndsAt    string               `json:"ends_at"`
	UsedAt    *string              `json:"used_at"` // null: never
	Token     string               `json:"token,omitempty"`
	Valid     bool                 `json:"valid"`
	Errors    problem.Fields       `json:"errors,omitempty"`
}

func tokenOf(t user.Token, zone wiretime.Zone) token {
	shown := token{
		ID: form.OrNull(t.ID), Name: t.Name, Scope: t.Scope, ElementID: form.OrNull(t.ElementID),
		CreatedAt: zone.Format(t.Created), EndsAt: zone.Format(t.Ends), Valid: true,
	}
	if !t.Used.IsZero() {
		shown.UsedAt = new(zone.Format(t.Used))
	}
	return shown
}

// ofPath gives the routes of tokens below a user their user, and those of one's own tokens the caller.
func ofPath(c *fiber.Ctx) (int64, error) {
	if c.Params("id") == "" {
		return web.Principal(c).UserID, nil
	}
	return web.PathID(c, "id")
}

// listTokens answers GET of a user's tokens.
func (h handlers) listTokens(c *fiber.Ctx) error {
	id, err := ofPath(c)
	if err != nil {
		return err
	}
	found, err := h.users.ListTokens(c.UserContext(), web.Principal(c), id)
	tokens := sequence.Map(found, func(t user.Token) token { return tokenOf(t, h.zone) })
	return web.OKUnless(c, err, web.Field{Name: "tokens", Value: tokens})
}

// createToken answers POST to a user's tokens, the only answer with a token's text.
func (h handlers) createToken(c *fiber.Ctx) error {
	id, err := ofPath(c)
	if err != nil {
		return err
	}
	fields, err := web.Wrapped(c, "token")
	if err != nil {
		return err
	}
	e := user.TokenEdit{Faults: problem.Fields{}}
	e.Name = fields.Text("name", e.Faults)
	e.Scope = fields.Text("scope", e.Faults)
	e.ElementID = fields.ID("element_id", e.Faults)
	e.EndDate = fields.Text("end_date", e.Faults)
	t, text, err := h.users.CreateToken(c.UserContext(), web.Principal(c), id, e)
	if err != nil {
		return web.RefuseInvalid(c, "token", err, func(t user.Token, faults problem.Fields) token {
			shown := tokenOf(t, h.zone)
			shown.Valid, shown.Errors = false, faults
			return shown
		})
	}
	shown := tokenOf(t, h.zone)
	shown.Token = text
	return web.Created(c, c.Path(), web.Field{Name: "token", Value: shown})
}

// endToken answers DELETE of a user's token.
func (h handlers) endToken(c *fiber.Ctx) error {
	id, err := ofPath(c)
	if err != nil {
		return err
	}
	tokenID, err := web.PathID(c, "token")
	if err != nil {
		return err
	}
	return web.OKUnless(c, h.users.EndToken(c.UserContext(), web.Principal(c), id, tokenID))
}

// mayHaveTokenAgain says whether a caller who got a token may get it again: while it has not ended.
func (h handlers) mayHaveTokenAgain(c *fiber.Ctx, answer []byte) error {
	var made struct{ Token struct{ ID int64 } }
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	id, err := ofPath(c)
	if err != nil {
		return err
	}
	if err := h.users.MayHaveTokens(c.UserContext(), web.Principal(c), id); err != nil {
		return err
	}
	tokens, err := h.users.ListTokens(c.UserContext(), web.Principal(c), id)
	if err == nil && !slices.ContainsFunc(tokens, func(t user.Token) bool { return t.ID == made.Token.ID }) {
		err = problem.Missing(user.TokenType, made.Token.ID)
	}
	return err
}

// openToken is a session.OpenToken, the answer to neighbour.OpenToken.
func (h handlers) openToken(ctx context.Context, hash, from string) (session.Opened, error) {
	for range sessionTries {
		u, t, err := h.users.OpenToken(ctx, hash, from)
		switch {
		case problem.Is(err, problem.AccessDenied), problem.Is(err, problem.TooManyRequests):
			h.log.WarnContext(ctx, "a token was refused", "from", from, "code", problem.As(err).Kind.Code())
			return session.Opened{Wait: problem.As(err).RetryAfter}, nil
		case err != nil:
			return session.Opened{}, err
		}
		r := session.Record{User: subject(u), Token: t.Principal()}
		if err = h.sessions.KeepBearer(ctx, hash, r, t.Ends); errors.Is(err, session.ErrStale) {
			continue
		}
		if err != nil {
			return session.Opened{}, problem.Wrap(problem.Unavailable, err, "")
		}
		if err := h.users.Store.MarkUsed(ctx, u.ID, t.ID); err != nil {
			return session.Opened{}, err
		}
		return session.Opened{Record: &r}, nil
	}
	return session.Opened{}, problem.Wrap(problem.Unavailable, session.ErrStale, "")
}

func (h handlers) answerToken(ctx context.Context, q fact.TokenQuestion) (session.Opened, error) {
	return h.openToken(ctx, q.Hash, q.From)
}
