package api

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/change/changelog"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// handlers are those of both listeners.
type handlers struct {
	elements *element.Service
	audit    *auditlog.Log
	changes  *changelog.Log
	zone     wiretime.Zone
	now      func() time.Time
}

// search answers GET /api/elements (contract 4.1 rules 1 to 3).
func (h handlers) search(c *fiber.Ctx) error {
	by := h.elements.SearchByName
	text, err := web.Query(c, "name")
	if err == nil && text == "" {
		by = h.elements.SearchByPart
		text, err = web.Query(c, "namelike")
	}
	if err != nil {
		return err
	}
	if text == "" {
		return web.OK(c, web.Field{Name: "elements", Value: []form.Element{}})
	}
	found, err := by(c.UserContext(), web.Principal(c), text)
	if err != nil {
		return err
	}
	elements := web.Field{Name: "elements", Value: listFormsOf(found)}
	if len(found) == 0 {
		return web.Answer(c, problem.NotFound.Code(), problem.NotFound.Status(), elements)
	}
	return web.OK(c, elements)
}

// detail answers GET /api/elements/ID.
func (h handlers) detail(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	e, members, err := h.elements.GetWithCount(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "element", Value: detailOf(e, members)})
}

// allowNothing sets the Allow header of an error that says that this element has none of the path's methods: it is
// there, as RFC 9110 asks, and empty, which says that no method is allowed.
func allowNothing(c *fiber.Ctx, err error) error {
	if problem.Is(err, problem.MethodNotAllowed) {
		c.Set(fiber.HeaderAllow, "")
	}
	return err
}
