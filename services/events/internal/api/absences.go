package api

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/absence"
)

// maxCheckDays bounds the days of one check that an administrator asks for.
const maxCheckDays = 366

// absenceHandlers are the calls below /api/admin/clashes.
type absenceHandlers struct {
	absences *absence.Service
	shape    shape
}

// shownAbsence is an event some of whose pupils are elsewhere.
type shownAbsence struct {
	Event     form.Event      `json:"event"` // event summary
	Pupils    int             `json:"pupils"`
	Elsewhere int             `json:"elsewhere"`
	Note      fact.NoteChange `json:"note"`
}

// check is POST /api/admin/clashes. The session; then for each day one question to notes, two reads and, where events start, what absence.Service.find
// and keep take; and one write for the audit.
func (h absenceHandlers) check(c *fiber.Ctx) error {
	days, dryRun, err := h.read(c)
	if err != nil {
		return err
	}
	report, next, err := h.absences.Check(c.UserContext(), days, dryRun)
	if err != nil {
		return err
	}
	shown := make([]shownAbsence, len(report.Absences))
	for i, a := range report.Absences {
		shown[i] = shownAbsence{h.shape.summary(a.Event), a.Pupils, a.Elsewhere, a.Note}
	}
	var nextDay any
	if next != nil {
		nextDay = next.String()
	}
	count := func(change fact.NoteChange) web.Field {
		return web.Field{Name: string(change), Value: report.Changes[change]}
	}
	return web.OK(c, web.Field{Name: "start_date", Value: days.First.String()}, web.Field{Name: "end_date", Value: days.Last.String()},
		web.Field{Name: "clashes", Value: shown}, web.Field{Name: "checked", Value: report.Checked},
		count(fact.NoteCreated), count(fact.NoteUpdated), count(fact.NoteUnchanged), count(fact.NoteRemoved),
		web.Field{Name: "next", Value: nextDay})
}

// read reads which days are to be checked: those of the nightly check when none is given.
func (h absenceHandlers) read(c *fiber.Ctx) (days wiretime.Days, dryRun bool, err error) {
	o, err := web.Body(c)
	if err != nil {
		return days, false, err
	}
	faults := problem.Fields{}
	start, end, dry := o.Text("start_date", faults), o.Text("end_date", faults), o.Bool("dry_run", faults)
	if len(faults) > 0 {
		return days, false, problem.New(problem.Malformed, "start_date and end_date are dates, dry_run is true or false")
	}
	dryRun = dry != nil && *dry
	if textOr(start)+textOr(end) == "" {
		return h.absences.Usual(), dryRun, nil
	}
	days, err = h.shape.zone.ParseDays(textOr(start), textOr(end), time.Now())
	if err != nil {
		return days, false, problem.New(problem.Malformed, "%v", err)
	}
	if days.Last-days.First >= maxCheckDays {
		return days, false, problem.New(problem.Malformed, "more than %d days", maxCheckDays)
	}
	return days, dryRun, nil
}
