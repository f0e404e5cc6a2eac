package api

import (
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/absence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// pageOfCategories is GET /api/admin/eventcategories.
func (h handlers) pageOfCategories(c *fiber.Ctx) error {
	after, limit, err := web.PageFrom(c)
	if err != nil {
		return err
	}
	categories, next, err := h.categories.Page(c.UserContext(), web.Principal(c), after, limit)
	return web.OKList(c, "eventcategories", categories, next, err, administered,
		func(k category.Category) int64 { return k.ID })
}

// createCategory is POST /api/admin/eventcategories.
func (h handlers) createCategory(c *fiber.Ctx) error {
	o, err := web.Wrapped(c, "eventcategory")
	if err != nil {
		return err
	}
	category, err := h.categories.Create(c.UserContext(), web.Principal(c), readGivenCategory(o))
	if err != nil {
		return refuseCategory(c, err)
	}
	field := web.Field{Name: "eventcategory", Value: administered(category)}
	return web.Created(c, fmt.Sprintf("/api/eventcategories/%d", category.ID), field)
}

// changeCategory is PATCH /api/admin/eventcategories/<id>.
func (h handlers) changeCategory(c *fiber.Ctx) error {
	id, o, err := web.PathFields(c, "eventcategory")
	if err != nil {
		return err
	}
	category, err := h.categories.Change(c.UserContext(), web.Principal(c), id, readGivenCategory(o))
	if err != nil {
		return refuseCategory(c, err)
	}
	return web.OK(c, web.Field{Name: "eventcategory", Value: administered(category)})
}

// refuseCategory answers an invalid category with the category; other errors go on.
func refuseCategory(c *fiber.Ctx, err error) error {
	return web.RefuseInvalid(c, "eventcategory", err,
		func(k category.Category, faults problem.Fields) detailedCategory {
			shown := administered(k)
			shown.Valid, shown.Errors = new(false), faults
			return shown
		})
}

// maxCheckDays bounds the days of one check that an administrator asks for.
const maxCheckDays = 366

// checkAbsences is POST /api/admin/clashes.
func (h handlers) checkAbsences(c *fiber.Ctx) error {
	days, err := h.readCheck(c)
	if err != nil {
		return err
	}
	report, next, err := h.absences.Check(c.UserContext(), days, web.DryRun(c))
	if err != nil {
		return err
	}
	shown := sequence.Map(report.Absences, func(a absence.Absence) shownAbsence {
		return shownAbsence{h.shape.summary(a.Event), a.Pupils, a.Elsewhere, a.Note}
	})
	var nextDay any
	if next != nil {
		nextDay = next.String()
	}
	count := func(change fact.NoteChange) web.Field {
		return web.Field{Name: string(change), Value: report.Changes[change]}
	}
	return web.OK(
		c, web.Field{Name: "start_date", Value: days.First.String()},
		web.Field{Name: "end_date", Value: days.Last.String()}, web.Field{Name: "clashes", Value: shown},
		web.Field{Name: "checked", Value: report.Checked}, count(fact.NoteCreated), count(fact.NoteUpdated),
		count(fact.NoteUnchanged), count(fact.NoteRemoved), web.Field{Name: "next", Value: nextDay},
	)
}

// readCheck reads the days to be checked; by default those of the nightly check.
func (h handlers) readCheck(c *fiber.Ctx) (days wiretime.Days, err error) {
	o, err := web.Body(c)
	if err != nil {
		return days, err
	}
	faults := problem.Fields{}
	start, end := form.OrZero(o.Text("start_date", faults)), form.OrZero(o.Text("end_date", faults))
	if len(faults) > 0 {
		return days, problem.New(problem.Malformed, "start_date and end_date are dates")
	}
	if start+end == "" {
		return h.absences.Usual(), nil
	}
	days, err = h.shape.zone.ParseDays(start, end, time.Now())
	if err != nil {
		return days, problem.New(problem.Malformed, "%v", err)
	}
	if days.Last-days.First >= maxCheckDays {
		return days, problem.New(problem.Malformed, "more than %d days", maxCheckDays)
	}
	return days, nil
}

// listCategories is GET /api/eventcategories: all of them.
func (h handlers) listCategories(c *fiber.Ctx) error {
	purpose := c.Query("for")
	if purpose != "" && purpose != "not_during" {
		return problem.New(problem.Malformed, "for must be not_during")
	}
	categories, err := h.categories.List(c.UserContext(), web.Principal(c), purpose != "")
	if err != nil {
		return err
	}
	shown := sequence.Map(categories, func(k category.Category) *form.Category { return listed(&k) })
	return web.OK(c, web.Field{Name: "eventcategories", Value: shown})
}

// exportedEvent is an event as an export reads it: with ids for references, and times in the zone.
type exportedEvent struct {
	event.Event

	StartsAt    *string              `json:"starts_at"`
	EndsAt      *string              `json:"ends_at"`
	AllDay      bool                 `json:"all_day"`
	Commitments []exportedCommitment `json:"commitments"`
}

type exportedCommitment struct {
	event.Commitment

	DecidedAt *string `json:"decided_at,omitempty"`
}

// exportEvents is GET /api/admin/export/events.
func (h handlers) exportEvents(c *fiber.Ctx) error {
	after, limit, err := web.PageFrom(c)
	if err != nil {
		return err
	}
	events, next, err := h.events.Page(c.UserContext(), after, limit)
	return web.OKList(c, "events", events, next, err, h.shape.exported, func(e event.Event) int64 { return e.ID })
}

func (s shape) exported(e event.Event) exportedEvent {
	shown := exportedEvent{
		Event: e, StartsAt: s.moment(e.Span.Starts), EndsAt: s.moment(e.Span.Ends), AllDay: e.Span.AllDay,
		Commitments: sequence.Map(e.Commitments, func(c event.Commitment) exportedCommitment {
			return exportedCommitment{c, s.moment(c.DecidedAt)}
		}),
	}
	shown.Requests = append([]event.Request{}, e.Requests...) // never null
	return shown
}
