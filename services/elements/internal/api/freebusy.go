package api

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// The least length of a free slot, in minutes.
const (
	defaultSlot = 30
	maxSlot     = element.MaxDays * 24 * 60
)

// busy answers GET /api/elements/ID/freebusy.
func (h handlers) busy(c *fiber.Ctx) error {
	id, days, err := h.idAndDays(c)
	if err == nil {
		err = checkDays(days)
	}
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

// freeBusy answers GET /api/freebusy.
func (h handlers) freeBusy(c *fiber.Ctx) error {
	ids, err := readIDs(c.Query("elements"), element.MaxFreeBusy)
	if err != nil {
		return err
	}
	days, err := h.queryDays(c)
	if err == nil {
		err = checkDays(days)
	}
	if err != nil {
		return err
	}
	least := defaultSlot
	if text := c.Query("minutes"); text != "" {
		if least, err = strconv.Atoi(text); err != nil || least < 1 || least > maxSlot {
			return problem.New(problem.Malformed, "minutes is not a number from 1 to %d", maxSlot)
		}
	}
	except, err := web.QueryID(c, "except")
	if err != nil {
		return err
	}
	wanted := time.Duration(least) * time.Minute
	all, free, err := h.elements.FreeBusy(c.UserContext(), web.Principal(c), ids, days, wanted, except)
	if err != nil {
		return err
	}
	forms := make([]freeBusy, len(all))
	for i, f := range all {
		forms[i] = freeBusy{f.Element.ListForm(), h.intervalsOf(f.Busy)}
	}
	return web.OK(c, web.Field{Name: "elements", Value: forms}, web.Field{Name: "free", Value: h.intervalsOf(free)})
}

// readIDs reads at most so many ids, which are separated by commas, and returns each once.
func readIDs(text string, most int) ([]int64, error) {
	var ids []int64
	for word := range strings.SplitSeq(text, ",") {
		id, ok := web.ParseID(strings.TrimSpace(word))
		if !ok {
			return nil, problem.New(problem.Malformed, "elements is not a list of ids")
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > most {
			return nil, problem.New(problem.Malformed, "elements has more than %d ids", most)
		}
	}
	return ids, nil
}

func checkDays(days wiretime.Days) error {
	if int64(days.Last)-int64(days.First) >= element.MaxDays {
		return problem.New(problem.Malformed, "the dates span more than %d days", element.MaxDays)
	}
	return nil
}
