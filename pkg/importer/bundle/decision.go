package bundle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Commitments is the file of decisions on the elements of events. It is not a kind of record: its rows are sent with
// their events.
const Commitments Kind = "commitments"

// decided holds the rows of commitments.csv by the key of their event.
type decided map[string]*decisions

type decisions struct {
	line int // of the first
	list []Decision
}

// decisionRow is a row of commitments.csv.
type decisionRow struct {
	Event string `json:"event"`
	Decision
}

// status is the decision. An element may be uncontrolled only if it is allocated to a request or has asked_by.
func (r *row) status(column string) string {
	statuses := []string{"confirmed", "rejected", "noted", "requested"}
	if strings.TrimSpace(r.Raw("request")+r.Raw("asked_by")) != "" {
		statuses = append(statuses, "uncontrolled")
	}
	return r.OneOf(column, statuses...)
}

// checkDecision keeps the row for its event, which is read later.
func checkDecision(r *row, d *decisionRow) {
	r.Unique("element", d.Event+" "+d.Element, "this element of this event")
	if group, ok := strings.CutPrefix(d.Element, "Group:"); ok && r.pass.index.resources[group] && !d.onlyAsked() {
		r.Fault("element", "is a resource group, whose requests are not decided but allocated")
	}
	if group, ok := strings.CutPrefix(d.Request, "Group:"); d.Request != "" && !(ok && r.pass.index.resources[group]) {
		r.Fault("request", "%q is no resource group", csvfile.Brief(d.Request))
	}
	if d.Status == "uncontrolled" && d.Request == "" && d.Reason+d.DecidedBy+d.DecidedAt != "" {
		r.Fault("status", "uncontrolled says no more than asked_by, and nothing was decided")
	}
	of := r.pass.index.decided[d.Event]
	if of == nil {
		of = &decisions{line: r.Line()}
		r.pass.index.decided[d.Event] = of
	}
	of.list = append(of.list, d.Decision)
}

// onlyAsked reports whether the row only names who asked. A request for items may have such a row.
func (d Decision) onlyAsked() bool {
	return d == Decision{Element: d.Element, Status: "requested", AskedBy: d.AskedBy} && d.AskedBy != ""
}

// instant is an optional instant, as text.
func (r *row) instant(column string) string {
	text := r.Optional(column, csvfile.MaxText)
	if _, err := wiretime.Parse(text); text != "" && err != nil {
		r.Fault(column, problem.NotAnInstant)
	}
	return text
}

// decisionsOf returns the decisions on an event's elements.
func (r *row) decisionsOf(event string, elements []string) []Decision {
	of := r.pass.index.decided[event]
	if of == nil {
		return nil
	}
	for _, d := range of.list {
		named := cmp.Or(d.Request, d.Element)
		if named != "" && r.Has("elements") && !slices.Contains(elements, named) {
			r.Fault("elements", "%q is missing, though %s has a decision on it", csvfile.Brief(named),
				r.pass.index.file(Commitments))
		}
	}
	return of.list
}

// checkUsed reports decisions on events that do not exist.
func (d decided) checkUsed(x *index, faults *csvfile.FaultsError) {
	if x.unsure[Events] {
		return
	}
	for event, of := range d {
		if event != "" && !x.has(Events, event) {
			faults.Add(csvfile.Fault{File: x.file(Commitments), Line: of.line, Column: "event",
				Reason: "no row of " + x.file(Events) + " has the key of this row's event"})
		}
	}
}
