package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

func (h handlers) timetables(c *fiber.Ctx) error {
	whose, err := readWhose(c)
	if err != nil {
		return err
	}
	days, err := h.fewDays(c)
	if err != nil {
		return err
	}
	if err := web.TakeRoom(c); err != nil {
		return err
	}
	all, err := h.elements.ListTimetables(c.UserContext(), web.Principal(c), whose, days, readInclude(c))
	if err != nil {
		return err
	}
	return web.OKEach(c, "timetables", func(yield func(timetable) bool) {
		for t := range all {
			if !yield(timetable{t}) {
				return
			}
		}
	})
}

// readWhose reads whose timetables are asked for: elements, group or type.
func readWhose(c *fiber.Ctx) (whose element.Whose, err error) {
	given := 0
	for _, spellings := range [][]string{{"elements"}, {"group"}, {"type", "entity_type"}} {
		if _, text, err := web.Spelled(c, spellings...); text != "" || err != nil {
			given++
		}
	}
	if given != 1 {
		return whose, problem.New(problem.Malformed, "exactly one of elements, group and type is needed")
	}
	if text := c.Query("elements"); text != "" {
		whose.IDs, err = web.ParseIDs("elements", text, element.MaxTimetables)
		return whose, err
	}
	if whose.Group, err = web.QueryID(c, "group"); err != nil {
		return whose, err
	}
	whose.EntityType, err = queryType(c)
	return whose, err
}
