package api

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
)

// changes is GET /api/changes.
func (h handlers) changes(c *fiber.Ctx) error {
	limit, err := web.Limit(c)
	if err != nil {
		return err
	}
	token, given := afterOf(c)
	if !given {
		place, err := h.follow.Now(c.UserContext(), web.Principal(c))
		if err != nil {
			return err
		}
		return h.answerChanges(c, nil, h.follow.Token(place))
	}
	after, err := h.follow.Parse(token)
	if err != nil {
		return err
	}
	found, next, err := h.follow.List(c.UserContext(), web.Principal(c), after, limit)
	if err != nil {
		return err
	}
	if next != after { // at the end of the list the token stays
		token = h.follow.Token(next)
	}
	return h.answerChanges(c, found, token)
}

// afterOf returns the token of a request. Several are none of any deployment.
func afterOf(c *fiber.Ctx) (token string, given bool) {
	after := c.Request().URI().QueryArgs().PeekMulti("after")
	if len(after) == 1 {
		token = string(after[0])
	}
	return token, len(after) > 0
}

func (h handlers) answerChanges(c *fiber.Ctx, found []change.Item, next string) error {
	web.Link(c, "next", "after", next)
	shown := sequence.Map(found, h.shape.change)
	return web.OK(c, web.Field{Name: "changes", Value: shown}, web.Field{Name: "next", Value: next})
}

// changeForm is a change as clients see it.
type changeForm struct {
	Kind      change.Kind `json:"kind"`
	ID        int64       `json:"id"`
	Version   int64       `json:"version"`
	ChangedAt *string     `json:"changed_at"`
	Change    change.What `json:"change"`
	EventID   int64       `json:"event_id,omitempty"`
	GroupID   int64       `json:"group_id,omitempty"`
	MemberID  int64       `json:"member_id,omitempty"`
}

func (s shape) change(i change.Item) changeForm {
	return changeForm{
		Kind: i.Kind, ID: i.Record, Version: i.Version, ChangedAt: s.moment(i.At.Truncate(time.Second)), Change: i.What,
		EventID: i.EventID, GroupID: i.GroupID, MemberID: i.MemberID,
	}
}
