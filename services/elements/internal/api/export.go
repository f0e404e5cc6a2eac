package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// exportedMembership is a membership as an export reads it.
type exportedMembership struct {
	ID     int64          `json:"id"`
	Group  int64          `json:"group_id"`
	Member int64          `json:"member_id"`
	Spans  []exportedDays `json:"spans"`
}

type exportedDays struct {
	FirstDay *string `json:"first_day"` // null: an open end
	LastDay  *string `json:"last_day"`
}

func (h handlers) exportMemberships(c *fiber.Ctx) error {
	after, limit, err := web.PageFrom(c)
	if err != nil {
		return err
	}
	found, next, err := h.elements.ListMemberships(c.UserContext(), web.Principal(c), after, limit)
	shape := func(m element.Membership) exportedMembership {
		return exportedMembership{m.ID, m.Group, m.Member, sequence.Map(m.Days, func(d wiretime.Days) exportedDays {
			return exportedDays{dayText(d.First), dayText(d.Last)}
		})}
	}
	return web.OKList(c, "memberships", found, next, err, shape, func(m element.Membership) int64 { return m.ID })
}
