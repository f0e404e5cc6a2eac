package api

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// handlers of both listeners. What their comments say of round trips comes on top of the one to Redis for the session.
type handlers struct {
	elements *element.Service
	audit    *auditlog.Log
	zone     wiretime.Zone
	now      func() time.Time
}

// search answers GET /api/elements (contract 4.1 rules 1 to 3). One read, of the elements that it returns, and for a needle of more than
// three characters of those that have all its parts of three, but elsewhere.
func (h handlers) search(c *fiber.Ctx) error {
	by := h.elements.SearchByName
	text, err := web.Query(c, "name")
	if err == nil && text == "" {
		by = h.elements.SearchLike
		text, err = web.Query(c, "namelike")
	}
	if err != nil {
		return err
	}
	if text == "" {
		return web.OK(c, web.Field{Name: "elements", Value: []form.Element{}})
	}
	found, err := by(c.UserContext(), text)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return web.Answer(c, problem.NotFound.Code(), problem.NotFound.Status(), web.Field{Name: "elements", Value: found})
	}
	return web.OK(c, web.Field{Name: "elements", Value: found})
}

// detail answers GET /api/elements/ID. One read; for a group, one more for each level of nesting and a count.
func (h handlers) detail(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	e, members, err := h.elements.Detail(c.UserContext(), id)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "element", Value: detailOf(e, members)})
}

// commitments answers GET /api/elements/ID/commitments (contract 4.1 rules 4 to 9). The day of a pupil: one read of the element, one for
// each level of nesting of its groups (four in a big school), one call to events, and one read of the groups and the staff and locations
// that the answer names.
func (h handlers) commitments(c *fiber.Ctx) error {
	id, days, err := h.query(c)
	if err != nil {
		return err
	}
	var include element.Include
	for word := range strings.SplitSeq(c.Query("include"), ",") {
		switch strings.TrimSpace(word) {
		case "staff":
			include.Staff = true
		case "locations":
			include.Locations = true
		}
	}
	commitments, err := h.elements.Commitments(c.UserContext(), id, days, include)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "commitments", Value: commitments})
}

// requests answers GET /api/elements/ID/requests (contract 4.1 rule 10). One read and one call to events.
func (h handlers) requests(c *fiber.Ctx) error {
	id, days, err := h.query(c)
	if err != nil {
		return err
	}
	requests, err := h.elements.Requests(c.UserContext(), id, days)
	if err != nil {
		return allowing(c, err, "GET, HEAD")
	}
	if requests == nil {
		requests = []form.Request{}
	}
	return web.OK(c, web.Field{Name: "requests", Value: requests})
}

// query reads what the listings of one element have in common.
func (h handlers) query(c *fiber.Ctx) (id int64, days wiretime.Days, err error) {
	if id, err = web.PathID(c, "id"); err != nil {
		return 0, wiretime.Days{}, err
	}
	days, err = h.days(c)
	return id, days, err
}

// days reads the dates of a query.
func (h handlers) days(c *fiber.Ctx) (wiretime.Days, error) {
	days, err := h.zone.ParseDays(c.Query("start_date"), c.Query("end_date"), h.now())
	if err != nil {
		return wiretime.Days{}, problem.New(problem.Malformed, "%v", err)
	}
	return days, nil
}

// allowing names the methods that the path knows when the error is that this element has none of them.
func allowing(c *fiber.Ctx, err error, methods string) error {
	if problem.Is(err, problem.MethodNotAllowed) {
		c.Set(fiber.HeaderAllow, methods)
	}
	return err
}
