package api

import (
	"net/netip"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/journal/audit/accesslog"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// handlers are the handlers of both listeners.
type handlers struct {
	elements *element.Service
	audit    *auditlog.Log
	changes  *changelog.Log
	accesses *accesslog.Log
	trusted  []netip.Prefix
	zone     wiretime.Zone
	now      func() time.Time
}

// search answers GET /api/elements (contract 4.1 rules 1 to 3). By a name alone it answers as the contract says; a list
// that is not by name, or has limit or after, has pages, except with school=first.
func (h handlers) search(c *fiber.Ctx) error {
	q, err := readSearch(c)
	if err != nil {
		return err
	}
	named := q.Name != "" || q.Part != ""
	if !named && q.EntityType == "" && q.School.ID == 0 && !q.School.Own {
		return web.OK(c, web.Field{Name: "elements", Value: []form.Element{}})
	}
	found, more, err := h.elements.Search(c.UserContext(), web.Principal(c), q)
	if err != nil {
		return err
	}
	elements := web.Field{Name: "elements", Value: listFormsOf(found)}
	if named && len(found) == 0 && q.After == 0 {
		return web.Answer(c, problem.NotFound.Code(), problem.NotFound.Status(), elements)
	}
	if q.School.First {
		if more { // all of it is the same search without that, which has pages (RFC 6573)
			web.Link(c, "collection", "school", "")
		}
		return web.OK(c, elements)
	}
	next := web.Next(c, 0)
	if more {
		next = web.Next(c, found[len(found)-1].ID)
	}
	web.LinkNext(c, next)
	if named && q.Limit == 0 && q.After == 0 {
		return web.OK(c, elements)
	}
	return web.OK(c, elements, next)
}

// readSearch reads a search from the query.
func readSearch(c *fiber.Ctx) (q element.Search, err error) {
	if q.Name, err = web.Query(c, "name"); err != nil {
		return q, err
	}
	if q.Part, err = web.Query(c, "namelike"); err != nil {
		return q, err
	}
	if q.School, err = readSchoolFilter(c); err != nil {
		return q, err
	}
	if q.EntityType, err = queryType(c); err != nil {
		return q, err
	}
	if c.Query("limit") != "" {
		if q.Limit, err = web.Limit(c); err != nil {
			return q, err
		}
	}
	_, err = web.ReadPlace(c, &q.After)
	return q, err
}

// readSchoolFilter reads the query's school: an id, "own" or "first".
func readSchoolFilter(c *fiber.Ctx) (element.SchoolFilter, error) {
	text := c.Query("school")
	id, isID := web.ParseID(text)
	switch {
	case text == "" || isID:
		return element.SchoolFilter{ID: id}, nil
	case text == "own":
		return element.SchoolFilter{Own: true}, nil
	case text == "first":
		return element.SchoolFilter{First: true}, nil
	}
	return element.SchoolFilter{}, problem.New(problem.Malformed, "school is not an id, own or first")
}

func (h handlers) detail(c *fiber.Ctx, id int64) error {
	e, members, err := h.elements.GetWithCount(c.UserContext(), web.Principal(c), id)
	return web.OKUnless(c, err, web.Field{Name: "element", Value: detailOf(e, members)})
}

// allowNothing sets the Allow header of an error that says that this element has none of the path's methods: present,
// as RFC 9110 requires, and empty, which means that no method is allowed.
func allowNothing(c *fiber.Ctx, err error) error {
	if problem.Is(err, problem.MethodNotAllowed) {
		c.Set(fiber.HeaderAllow, "")
	}
	return err
}
