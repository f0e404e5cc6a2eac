package api

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// usualSlot is the least length of a free slot when the request does not say, and longestSlot what it may say at most, in minutes.
const (
	usualSlot   = 30
	longestSlot = element.MaxFreeBusyDays * 24 * 60
)

// interval is the form of a half-open span of time.
type interval struct {
	StartsAt string `json:"starts_at"`
	EndsAt   string `json:"ends_at"`
}

// freeBusy is the form of an element with the times at which it is busy.
type freeBusy struct {
	Element form.Element `json:"element"`
	Busy    []interval   `json:"busy"`
}

// busy answers GET /api/elements/ID/freebusy. One read of the element, one for each level of nesting of its groups, and one call to events.
func (h handlers) busy(c *fiber.Ctx) error {
	id, days, err := h.query(c)
	if err == nil {
		err = checkDays(days)
	}
	if err != nil {
		return err
	}
	all, _, err := h.elements.FreeBusy(c.UserContext(), []int64{id}, days, 0)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "busy", Value: h.intervals(all[0].Busy)})
}

// freeBusy answers GET /api/freebusy. Round trips as for one element: those for all of them are made together.
func (h handlers) freeBusy(c *fiber.Ctx) error {
	ids, err := readIDs(c.Query("elements"))
	if err != nil {
		return err
	}
	days, err := h.days(c)
	if err == nil {
		err = checkDays(days)
	}
	if err != nil {
		return err
	}
	least := usualSlot
	if text := c.Query("minutes"); text != "" {
		if least, err = strconv.Atoi(text); err != nil || least < 1 || least > longestSlot {
			return problem.New(problem.Malformed, "minutes is no number from 1 to %d", longestSlot)
		}
	}
	all, free, err := h.elements.FreeBusy(c.UserContext(), ids, days, time.Duration(least)*time.Minute)
	if err != nil {
		return err
	}
	shown := make([]freeBusy, len(all))
	for i, f := range all {
		shown[i] = freeBusy{f.Element.List(), h.intervals(f.Busy)}
	}
	return web.OK(c, web.Field{Name: "elements", Value: shown}, web.Field{Name: "free", Value: h.intervals(free)})
}

// readIDs reads a list of ids, separated by commas, and returns each once.
func readIDs(text string) ([]int64, error) {
	var ids []int64
	for word := range strings.SplitSeq(text, ",") {
		id, ok := web.ParseID(strings.TrimSpace(word))
		if !ok {
			return nil, problem.New(problem.Malformed, "elements is no list of ids")
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > element.MaxFreeBusy {
			return nil, problem.New(problem.Malformed, "elements has more than %d ids", element.MaxFreeBusy)
		}
	}
	return ids, nil
}

func checkDays(days wiretime.Days) error {
	if int64(days.Last)-int64(days.First) >= element.MaxFreeBusyDays {
		return problem.New(problem.Malformed, "the dates span more than %d days", element.MaxFreeBusyDays)
	}
	return nil
}

func (h handlers) intervals(intervals []element.Interval) []interval {
	shown := make([]interval, len(intervals))
	for i, v := range intervals {
		shown[i] = interval{h.zone.Format(v.Starts), h.zone.Format(v.Ends)}
	}
	return shown
}
