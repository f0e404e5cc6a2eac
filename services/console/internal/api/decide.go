package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// outcome is what came of one decision.
type outcome struct {
	Text   string // inbox.done.TEXT
	Thing  string
	Event  api.EventSummary
	By     string // who was first, where somebody was
	Reason string // of that
	Undo   string // a pick, "" where there is nothing to undo
	Was    string // the status before
	Takes  []int64
}

// dos are the actions of the inbox's buttons; all but the last two are the status of a commitment.
var dos = []string{"confirmed", "rejected", "noted", "requested", "allocate", "take-back"}

// inboxSent decides, takes back, or allocates.
func (h handlers) inboxSent(v *visit) error {
	b, code, do := inboxBody{Reason: v.typed.Get("reason")}, fiber.StatusOK, v.typed.Get("do")
	picks, err := readPicks(v.typed["pick"])
	things, errThings := readEach(v.typed["thing"], itemsAtMost)
	switch {
	case err != nil || errThings != nil || !slices.Contains(dos, do):
		err = errIDs
	case do == "allocate":
		err = v.allocate(&b, things)
	case do == "take-back":
		err = v.takeBack(&b, things)
	case len(picks) == 0:
		b.Fault, code = "inbox.none-chosen", fiber.StatusUnprocessableEntity
	case do == "rejected" && strings.TrimSpace(b.Reason) == "":
		b.Fault, code = "inbox.reason-missing", fiber.StatusUnprocessableEntity
	default:
		b.Outcomes, err = v.decideAll(picks, do)
	}
	if err != nil {
		return err
	}
	if b.Fault != "" && !v.typed.Has("show") {
		b.Picks = v.typed["pick"]
	}
	if b.Fault == "" && !slices.ContainsFunc(b.Outcomes, func(o outcome) bool { return o.Text == "faster" }) {
		b.Reason = "" // all is done
	}
	return v.showInbox(b, v.typed.Get("show"), code)
}

func (v *visit) decideAll(picks []pick, status string) (all []outcome, err error) {
	for _, p := range picks {
		o, err := v.decide(p, status)
		if err != nil && len(all) > 0 { // what is decided is said
			return append(all, outcome{Text: "rest"}), nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// decide sets the status of a commitment, unless that differs from what the visitor's page showed: then the outcome
// says who was faster. The interface takes no If-Match for a decision, so of two between the two calls the later one
// wins.
func (v *visit) decide(p pick, status string) (outcome, error) {
	o, err := v.current(p)
	if err != nil || o.Text != "" {
		return o, err
	}
	fields := map[string]any{"status": status}
	if reason := strings.TrimSpace(v.typed.Get("reason")); reason != "" && status != "requested" {
		fields["reason"] = reason
	}
	steps := []map[string]any{fields}
	if status == "requested" && v.typed.Get("was") == "noted" { // an undo, which ends where it began
		steps = append(steps, map[string]any{"status": "noted"})
	}
	for _, step := range steps {
		_, err = v.api.Change(v.ctx, fmt.Sprintf("/api/commitments/%d", p.id), "commitment", step)
		if refused(err, fiber.StatusConflict, fiber.StatusNotFound) != nil {
			p.seen = "" // it has changed since
			o, err = v.current(p)
			o.Text = "faster"
			return o, err
		}
		if err != nil {
			return o, err
		}
	}
	o.Text = status
	if status != "requested" {
		o.Undo = pick{p.id, p.event, status}.String()
	}
	return o, nil
}

// current reads a commitment. The outcome's text is "faster" if it has changed since it was seen.
func (v *visit) current(p pick) (o outcome, err error) {
	record, err := v.api.Get(v.ctx, fmt.Sprintf("/api/events/%d?include=decisions", p.event), "event")
	if client.Missing(err) {
		return outcome{Text: "gone"}, nil
	}
	if err != nil {
		return o, err
	}
	o.Event = client.As[api.EventSummary](record)
	for _, c := range client.As[api.Event](record).Commitments {
		if c.ID != p.id {
			continue
		}
		o.Thing, o.Was = c.Element.Name, string(c.Status)
		if o.Was != p.seen {
			o.Text, o.By, o.Reason = "faster", c.Decision.DecidedBy.Name, c.Decision.Reason
		}
		return o, nil
	}
	o.Text = "gone"
	return o, nil
}

// allocate allocates items of a resource group to a request. It reports those that were taken meanwhile.
func (v *visit) allocate(b *inboxBody, things []int64) error {
	request, err := readID(v.typed.Get("request"))
	if err != nil {
		return err
	}
	if len(things) == 0 {
		b.Fault = "inbox.none-chosen"
		return nil
	}
	answer, err := v.api.Allocate(v.ctx, request, things)
	if client.Missing(err) {
		b.Outcomes = append(b.Outcomes, outcome{Text: "gone"})
		return nil
	}
	if err != nil {
		return err
	}
	summary := client.As[api.EventSummary](answer.Event)
	refused := map[string]bool{}
	for _, f := range answer.Failures {
		refused[f.Text("element_id")] = true
		b.Outcomes = append(b.Outcomes, outcome{Text: "taken", Event: summary,
			Thing: f.Inner("item").Inner("element").Text("name")})
	}
	given := outcome{Text: "allocated", Event: summary}
	var names []string
	for _, c := range client.As[api.EventAnswer](answer.Event).Commitments {
		if slices.Contains(things, c.Element.ID) && !refused[strconv.FormatInt(c.Element.ID, 10)] {
			given.Takes = append(given.Takes, c.ID)
			names = append(names, c.Element.Name)
		}
	}
	if len(names) > 0 {
		given.Thing = strings.Join(names, ", ")
		b.Outcomes = append(b.Outcomes, given)
	}
	return nil
}

// readEach reads at most that many ids.
func readEach(texts []string, most int) (ids []int64, err error) {
	if len(texts) > most {
		return nil, errIDs
	}
	for _, text := range texts {
		id, err := readID(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// takeBack undoes an allocation, whose commitments are given.
func (v *visit) takeBack(b *inboxBody, given []int64) error {
	for _, id := range given {
		if err := v.remove(fmt.Sprintf("/api/commitments/%d", id)); err != nil {
			return err
		}
	}
	b.Outcomes = append(b.Outcomes, outcome{Text: "taken-back"})
	return nil
}
