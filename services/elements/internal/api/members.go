package api

import (
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// members answers GET /api/admin/elements/ID/members: the group's own members with their days, with on only those of
// that day; with nested=true, the people and things in the group on that day, by default today.
func (h handlers) members(c *fiber.Ctx) error {
	id, after, limit, err := web.PathPage(c)
	if err != nil {
		return err
	}
	on, err := queryDay(c, "on")
	if err != nil {
		return err
	}
	nested, err := queryBool(c, "nested")
	if err != nil {
		return err
	}
	if form.OrZero(nested) {
		all, next, err := h.elements.ListPeopleAndThings(c.UserContext(), web.Principal(c), id, on, after, limit)
		return web.OKList(c, "members", all, next, allowNothing(c, err), nestedMemberOf, memberID)
	}
	found, next, err := h.elements.ListMembers(c.UserContext(), web.Principal(c), id, on, after, limit)
	return web.OKList(c, "members", found, next, allowNothing(c, err), membershipOf, memberID)
}

func (h handlers) addMembers(c *fiber.Ctx, id int64) error {
	members, err := readMembers(c)
	if err != nil {
		return err
	}
	members, err = h.elements.AddMembers(c.UserContext(), web.Principal(c), id, members)
	if invalid, ok := errors.AsType[*record.InvalidError[[]element.Member]](err); ok {
		return web.InvalidRecord(c, "members", sequence.Map(invalid.Record, membershipOf))
	}
	if err != nil {
		return allowNothing(c, err)
	}
	return web.Created(c, fmt.Sprintf("/api/admin/elements/%d/members", id),
		web.Field{Name: "members", Value: sequence.Map(members, membershipOf)})
}

func memberID(m element.Member) int64 { return m.ElementID }

func (h handlers) endMembership(c *fiber.Ctx, id, member int64) error {
	from, err := queryDay(c, "from")
	if err != nil {
		return err
	}
	err = h.elements.EndMembership(c.UserContext(), web.Principal(c), id, member, from)
	return web.OKUnless(c, allowNothing(c, err))
}

// queryDay reads a day from the query, nil when absent.
func queryDay(c *fiber.Ctx, name string) (*wiretime.Day, error) {
	text := c.Query(name)
	if text == "" {
		return nil, nil
	}
	day, err := wiretime.ParseDay(text)
	if err != nil {
		return nil, problem.New(problem.Malformed, "%s is not a date (YYYY-MM-DD)", name)
	}
	return &day, nil
}
