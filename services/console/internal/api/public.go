package api

import (
	"context"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/week"
)

// publicAtMost bounds the events of a month in the public calendar.
const publicAtMost = 500

// publicBody is the public calendar of a month.
type publicBody struct {
	Month wiretime.Day // its first day
	Days  []week.Want  // each with what begins on it; the first day also has what began before
	More  bool         // there are more events
}

// publicCalendar shows anyone the events of a month that guests see. It uses a token of its own, never the visitor's
// session, so the page is the same for all and caches may keep it.
func (h handlers) publicCalendar(v *visit) error {
	if h.guest == nil {
		return problem.New(problem.NotFound, "")
	}
	day, err := v.readDay(v.c.Query("date"))
	if err != nil {
		return v.refuse(fiber.StatusBadRequest, "date")
	}
	b := publicBody{Month: day.AddDays(1 - day.Date().Day())}
	err = h.readMonth(v.ctx, &b)
	if refused(err, fiber.StatusUnauthorized, fiber.StatusForbidden, fiber.StatusTooManyRequests) != nil {
		v.log.WarnContext(v.ctx, "BELFRY_PUBLIC_TOKEN cannot be used",
			"request", web.RequestID(v.c), "error", err.Error())
		return v.refuse(fiber.StatusServiceUnavailable, "public")
	}
	if err == nil {
		err = v.show("public", v.texts.T("public.title", v.texts.Month(b.Month)), b)
	}
	if err == nil {
		v.c.Set(fiber.HeaderCacheControl, "public, max-age=60")
		v.c.Set(fiber.HeaderVary, fiber.HeaderAcceptLanguage)
	}
	return err
}

// readMonth reads the events of the month. A token whose user sees more than public events is refused.
func (h handlers) readMonth(ctx context.Context, b *publicBody) error {
	me, err := h.guest.Get(ctx, "/api/me", "")
	if err != nil {
		return err
	}
	admin := me.Inner("permissions")["admin"] == true
	if h.sights.Of(principal.Kind(me.Text("kind")), admin) != principal.SeesPublic {
		return &client.Error{Method: fiber.MethodGet, Path: "/api/me", Code: fiber.StatusForbidden,
			Status: "the token's user sees more than what is public"}
	}
	var shown []api.ListedCommitment
	next := b.Month.AddDays(31) // a day of the next month
	for e, err := range client.All[api.EventSummary](h.guest.List(ctx, "/api/events", "events", url.Values{
		"start_date": {b.Month.String()}, "end_date": {next.AddDays(-next.Date().Day()).String()},
		"include": {"locations,category"}, "limit": {strconv.Itoa(publicAtMost + 1)},
	})) {
		if err != nil {
			return err
		}
		if e.Body == "Busy" && e.Category.ID == 0 { // it is confidential
			continue
		}
		if b.More = len(shown) == publicAtMost; b.More {
			break
		}
		shown = append(shown, api.ListedCommitment{Event: e})
	}
	items, err := itemsOf(shown)
	for _, item := range items {
		day := max(h.zone.DayOf(item.Starts), b.Month)
		if n := len(b.Days); n == 0 || b.Days[n-1].Day != day {
			b.Days = append(b.Days, week.Want{Day: day})
		}
		last := &b.Days[len(b.Days)-1]
		last.Items = append(last.Items, item)
	}
	return err
}
