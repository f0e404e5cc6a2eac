package api

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// free answers GET /api/free.
func (h handlers) free(c *fiber.Ctx) error {
	wanted, err := h.readWanted(c)
	if err != nil {
		return err
	}
	found, err := h.elements.ListFree(c.UserContext(), web.Principal(c), wanted)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "elements", Value: listFormsOf(found)})
}

// readWanted reads what is to be free, and when: event, or starts_at and ends_at.
func (h handlers) readWanted(c *fiber.Ctx) (w element.Wanted, err error) {
	name, text, err := web.Spelled(c, "type", "entity_type")
	if err == nil && !slices.Contains([]string{form.Location, form.Staff, form.Property}, text) {
		err = problem.New(problem.Malformed, "%s is not Location, Staff or Property", name)
	}
	if w.EntityType = text; err != nil {
		return w, err
	}
	for _, given := range []struct {
		name string
		id   *int64
	}{{"group", &w.Group}, {"near", &w.Near}, {"event", &w.Event}, {"except", &w.Except}} {
		if *given.id, err = web.QueryID(c, given.name); err != nil {
			return w, err
		}
	}
	starts, ends := c.Query("starts_at"), c.Query("ends_at")
	if timed := starts != "" || ends != ""; timed == (w.Event != 0) {
		return w, problem.New(problem.Malformed, "either event, or starts_at and ends_at are needed")
	}
	if w.Event != 0 && w.Except != 0 {
		return w, problem.New(problem.Malformed, "event is left out already: except is not beside it")
	}
	if w.Event != 0 {
		return w, nil
	}
	w.Time.Starts, w.Time.Ends, err = h.zone.ParseTimes(starts, ends)
	if err != nil {
		return w, problem.New(problem.Malformed, "%v", err)
	}
	return w, nil
}
