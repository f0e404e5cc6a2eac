package api

import (
	"cmp"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// The parameters of the two questions that GET /api/free answers; except is one of both.
var (
	wantedParameters = []string{"type", "group", "near", "event", "starts_at", "ends_at"}
	slotsParameters  = []string{"start_date", "end_date", "opens", "closes", "minutes"}
)

// free answers GET /api/free: which elements are free at a time or, with slots, at which times elements are.
func (h handlers) free(c *fiber.Ctx) error {
	others, message := slotsParameters, "%s is only for slots"
	if c.Query("slots") != "" {
		others, message = wantedParameters, "%s can't be given beside slots"
	}
	for _, name := range others {
		if c.Query(name) != "" {
			return problem.New(problem.Malformed, message, name)
		}
	}
	if c.Query("slots") != "" {
		return h.slots(c)
	}
	wanted, err := h.readWanted(c)
	if err != nil {
		return err
	}
	found, err := h.elements.ListFree(c.UserContext(), web.Principal(c), wanted)
	return web.OKUnless(c, err, web.Field{Name: "elements", Value: listFormsOf(found)})
}

// readWanted reads which elements must be free, and when: event, or starts_at and ends_at.
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
		return w, problem.New(problem.Malformed, "either event, or starts_at and ends_at, must be given")
	}
	if w.Event != 0 && w.Except != 0 {
		return w, problem.New(problem.Malformed, "except can't be given with event, which is left out already")
	}
	if w.Event != 0 {
		return w, nil
	}
	if w.Time.Starts, w.Time.Ends, err = h.zone.ParseTimes(starts, ends); err != nil {
		err = problem.New(problem.Malformed, "%v", err)
	}
	return w, err
}

func (h handlers) slots(c *fiber.Ctx) error {
	ids, err := web.ParseIDs("slots", c.Query("slots"), element.MaxFreeBusy)
	if err != nil {
		return err
	}
	days, err := h.queryDays(c)
	if err != nil {
		return err
	}
	if days.Last >= days.First.AddDays(element.MaxSlotDays) {
		return problem.New(problem.Malformed, "end_date is more than %d days after start_date", element.MaxSlotDays-1)
	}
	hours, err := readHours(c)
	if err != nil {
		return err
	}
	least, err := readMinutes(c, maxMinutesOfDay)
	if err != nil {
		return err
	}
	except, err := web.QueryID(c, "except")
	if err != nil {
		return err
	}
	found, err := h.elements.ListSlots(c.UserContext(), web.Principal(c), ids, days, hours, least, except)
	return web.OKUnless(c, err, web.Field{Name: "slots", Value: h.intervalsOf(found)})
}

// readHours reads opens and closes; 24:00 is the end of the day.
func readHours(c *fiber.Ctx) (hours element.Hours, err error) {
	closes := c.Query("closes")
	if closes == "24:00" {
		closes = ""
	}
	for _, given := range []struct {
		name, text string
		at         *wiretime.TimeOfDay
	}{{"opens", c.Query("opens"), &hours.From}, {"closes", closes, &hours.To}} {
		if given.at.UnmarshalText([]byte(given.text)) != nil {
			return hours, problem.New(problem.Malformed, "%s is not a time of day (HH:MM)", given.name)
		}
	}
	if hours.To.Given() && hours.To.String() <= cmp.Or(hours.From.String(), "00:00") {
		return hours, problem.New(problem.Malformed, "closes is not after opens")
	}
	return hours, nil
}
