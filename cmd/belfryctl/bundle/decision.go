package bundle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/cmd/belfryctl/csvfile"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Commitments names the file of what was decided of events' elements. It is no kind of record: its rows are sent with
// their events.
const Commitments Kind = "commitments"

var commitmentSheet = newSheet(Commitments, readDecision)

// maxReason bounds a reason in characters, as the API does.
const maxReason = 4096

// decided is what commitments.csv says, by the key of the event.
type decided map[string]*decisions

type decisions struct {
	line int // of the first
	list []Decision
	used bool // there is such an event
}

// readDecision keeps the row for its event, which is read later.
func readDecision(r *row) (string, any) {
	event := r.Required("event", csvfile.MaxKey)
	statuses, request := []string{"confirmed", "rejected", "noted", "requested"}, strings.Clone(r.element("request"))
	asked := strings.Clone(r.reference("asked_by", Users))
	if request != "" || asked != "" {
		statuses = append(statuses, "uncontrolled")
	}
	d := Decision{Element: strings.Clone(r.requiredElement("element")), Status: r.OneOf("status", statuses...),
		Reason:    strings.Clone(r.Lines("reason", r.Optional("reason", maxReason))),
		DecidedBy: strings.Clone(r.reference("decided_by", Users)), DecidedAt: r.decidedAt(), Request: request,
		AskedBy: asked}
	r.Required("status", csvfile.MaxName)
	r.Unique("element", event+" "+d.Element, "this element of this event")
	if group, ok := strings.CutPrefix(d.Element, "Group:"); ok && r.pass.index.resources[group] && !d.onlyAsked() {
		r.Fault("element", "is a resource group, whose requests are not decided but allocated")
	}
	if group, ok := strings.CutPrefix(request, "Group:"); request != "" && !(ok && r.pass.index.resources[group]) {
		r.Fault("request", "%q is no resource group", csvfile.Brief(request))
	}
	if d.Status == "uncontrolled" && request == "" && d.Reason+d.DecidedBy+d.DecidedAt != "" {
		r.Fault("status", "uncontrolled says no more than asked_by, and nothing was decided")
	}
	of := r.pass.index.decided[event]
	if of == nil {
		of = &decisions{line: r.Line()}
		r.pass.index.decided[strings.Clone(event)] = of
	}
	of.list = append(of.list, d)
	return "", nil
}

// onlyAsked says whether the row says only who asked, which a request for items may have, too.
func (d Decision) onlyAsked() bool {
	return d == Decision{Element: d.Element, Status: "requested", AskedBy: d.AskedBy} && d.AskedBy != ""
}

// decidedAt is when it was decided, "" when unknown.
func (r *row) decidedAt() string {
	text := r.Optional("decided_at", csvfile.MaxText)
	if text == "" {
		return ""
	}
	if _, err := wiretime.Parse(text); err != nil {
		r.Fault("decided_at", problem.NotAnInstant)
	}
	return strings.Clone(text)
}

// decisionsOf returns what was decided of an event's elements.
func (r *row) decisionsOf(event string, elements []string) []Decision {
	of := r.pass.index.decided[event]
	if of == nil {
		return nil
	}
	of.used = true
	for _, d := range of.list {
		named := cmp.Or(d.Request, d.Element)
		if named != "" && r.Has("elements") && !slices.Contains(elements, named) {
			r.Fault("elements", "%q is not there, though %s says what was decided of it", csvfile.Brief(named),
				r.pass.index.file(Commitments))
		}
	}
	return of.list
}

// checkUsed reports decisions of events that are not there.
func (d decided) checkUsed(x *index, faults *csvfile.FaultsError) {
	if x.unsure[Events] {
		return
	}
	for event, of := range d {
		if !of.used && event != "" {
			faults.Add(csvfile.Fault{File: x.file(Commitments), Line: of.line, Column: "event",
				Reason: "no row of " + x.file(Events) + " has the key of this row's event"})
		}
	}
}
