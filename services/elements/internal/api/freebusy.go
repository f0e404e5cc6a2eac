package api

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// The bounds of the minimum length of a free time, in minutes.
const (
	defaultMinutes  = 30
	maxMinutesOfDay = 24 * 60
	maxMinutes      = element.MaxDays * maxMinutesOfDay
)

func (h handlers) busy(c *fiber.Ctx, id int64) error {
	days, err := h.fewDays(c)
	if err != nil {
		return err
	}
	except, err := web.QueryID(c, "except")
	if err != nil {
		return err
	}
	all, _, err := h.elements.FreeBusy(c.UserContext(), web.Principal(c), []int64{id}, days, 0, except)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "busy", Value: h.intervalsOf(all[0].Busy)})
}

func (h handlers) freeBusy(c *fiber.Ctx) error {
	ids, err := web.ParseIDs("elements", c.Query("elements"), element.MaxFreeBusy)
	if err != nil {
		return err
	}
	days, err := h.fewDays(c)
	if err != nil {
		return err
	}
	least, err := readMinutes(c, maxMinutes)
	if err != nil {
		return err
	}
	except, err := web.QueryID(c, "except")
	if err != nil {
		return err
	}
	all, free, err := h.elements.FreeBusy(c.UserContext(), web.Principal(c), ids, days, least, except)
	forms := sequence.Map(all, func(f element.FreeBusy) freeBusy {
		return freeBusy{f.Element.ListForm(), h.intervalsOf(f.Busy)}
	})
	return web.OKUnless(c, err, web.Field{Name: "elements", Value: forms},
		web.Field{Name: "free", Value: h.intervalsOf(free)})
}

// readMinutes reads the minimum length of a free time.
func readMinutes(c *fiber.Ctx, most int) (time.Duration, error) {
	least := defaultMinutes
	if text := c.Query("minutes"); text != "" {
		var err error
		if least, err = strconv.Atoi(text); err != nil || least < 1 || least > most {
			return 0, problem.New(problem.Malformed, "minutes is not a number from 1 to %d", most)
		}
	}
	return time.Duration(least) * time.Minute, nil
}

// fewDays is queryDays for at most element.MaxDays.
func (h handlers) fewDays(c *fiber.Ctx) (wiretime.Days, error) {
	days, err := h.queryDays(c)
	if err == nil && int64(days.Last)-int64(days.First) >= element.MaxDays {
		err = problem.New(problem.Malformed, "the dates span more than %d days", element.MaxDays)
	}
	return days, err
}
