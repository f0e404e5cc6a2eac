package api

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// commitments answers GET /api/elements/ID/commitments (contract 4.1 rules 4 to 9).
func (h handlers) commitments(c *fiber.Ctx, id int64) error {
	days, err := h.queryDays(c)
	if err != nil {
		return err
	}
	commitments, err := h.elements.ListCommitments(c.UserContext(), web.Principal(c), id, days, readInclude(c))
	return web.OKUnless(c, err, web.Field{Name: "commitments", Value: listedOf(commitments)})
}

// readInclude reads include for a list of commitments or requests. Unknown words are ignored.
func readInclude(c *fiber.Ctx) (include element.Include) {
	known := map[string]*bool{
		"staff": &include.Staff, "locations": &include.Locations, "category": &include.Category,
		"busy": &include.Busy, "decisions": &include.Decisions,
	}
	for word := range strings.SplitSeq(c.Query("include"), ",") {
		if flag := known[strings.TrimSpace(word)]; flag != nil {
			*flag = true
		}
	}
	return include
}

// requests answers GET /api/elements/ID/requests (contract 4.1 rule 10).
func (h handlers) requests(c *fiber.Ctx, id int64) error {
	days, err := h.queryDays(c)
	if err != nil {
		return err
	}
	requests, err := h.elements.ListRequests(c.UserContext(), web.Principal(c), id, days, readInclude(c))
	return web.OKUnless(c, allowNothing(c, err), web.Field{Name: "requests", Value: requests})
}

// queryDays reads the days from the query.
func (h handlers) queryDays(c *fiber.Ctx) (wiretime.Days, error) {
	days, err := h.zone.ParseDays(c.Query("start_date"), c.Query("end_date"), h.now())
	if err != nil {
		return wiretime.Days{}, problem.New(problem.Malformed, "%v", err)
	}
	return days, nil
}
