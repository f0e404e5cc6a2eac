package api

import (
	"net/netip"
	"net/url"
	"strconv"
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

// handlers are those of both listeners.
type handlers struct {
	elements *element.Service
	audit    *auditlog.Log
	changes  *changelog.Log
	accesses *accesslog.Log
	trusted  []netip.Prefix
	zone     wiretime.Zone
	now      func() time.Time
}

// search answers GET /api/elements (contract 4.1 rules 1 to 3).
func (h handlers) search(c *fiber.Ctx) error {
	q, err := readSearch(c)
	if err != nil {
		return err
	}
	if q.Name == "" && q.Part == "" && q.EntityType == "" {
		return web.OK(c, web.Field{Name: "elements", Value: []form.Element{}})
	}
	found, more, err := h.elements.Search(c.UserContext(), web.Principal(c), q)
	if err != nil {
		return err
	}
	elements := web.Field{Name: "elements", Value: listFormsOf(found)}
	if len(found) == 0 && q.After == 0 {
		return web.Answer(c, problem.NotFound.Code(), problem.NotFound.Status(), elements)
	}
	var next int64
	if more {
		next = found[len(found)-1].ID
		c.Set(fiber.HeaderLink, linkFrom(c, q, next))
	}
	if q.Limit == 0 && q.After == 0 {
		return web.OK(c, elements) // the answer as it is without pages
	}
	return web.OK(c, elements, web.Next(next))
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
	if q.EntityType, err = queryType(c, "entity_type"); err != nil {
		return q, err
	}
	if c.Query("limit") != "" {
		if q.Limit, err = web.Limit(c); err != nil {
			return q, err
		}
	}
	q.After, err = web.QueryID(c, "after")
	return q, err
}

// linkFrom is the Link header (RFC 8288) of a list that was cut: the same search, after the last that is listed. One
// with school=first has no next page: all that it is of is the same search without that, which has pages (RFC 6573).
func linkFrom(c *fiber.Ctx, q element.Search, last int64) string {
	query, relation := url.Values{}, "collection"
	names := []string{"name", "namelike", "entity_type"}
	if !q.School.First {
		query.Set("after", strconv.FormatInt(last, 10))
		names, relation = append(names, "school", "limit"), "next"
	}
	for _, name := range names {
		if text := c.Query(name); text != "" {
			query.Set(name, text)
		}
	}
	return "</api/elements?" + query.Encode() + `>; rel="` + relation + `"`
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
