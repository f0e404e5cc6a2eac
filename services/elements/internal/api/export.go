package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
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

// exportMemberships answers GET /api/admin/export/memberships.
func (h handlers) exportMemberships(c *fiber.Ctx) error {
	after, limit, err := web.PageFrom(c)
	if err != nil {
		return err
	}
	found, next, err := h.elements.ListMemberships(c.UserContext(), web.Principal(c), after, limit)
	if err != nil {
		return err
	}
	shown := make([]exportedMembership, len(found))
	for i, m := range found {
		shown[i] = exportedMembership{m.ID, m.Group, m.Member, make([]exportedDays, len(m.Days))}
		for n, days := range m.Days {
			shown[i].Spans[n] = exportedDays{dayText(days.First), dayText(days.Last)}
		}
	}
	return web.OKPage(c, "memberships", shown, web.Next(c, next),
		func(i int) web.Field { return web.Next(c, found[i].ID) })
}
