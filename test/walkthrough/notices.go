package walkthrough

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
)

// notices returns the deliveries that the endpoint accepted, each id once, without tests.
func (w *walk) notices() []receivers.Request {
	var once []receivers.Request
	for _, r := range w.hook.Taken() {
		same := func(other receivers.Request) bool { return other.ID == r.ID }
		if r.Kind() != "webhook.test" && !slices.ContainsFunc(once, same) {
			once = append(once, r)
		}
	}
	return once
}

// noticesOf returns the notices of an event as texts: "commitment.decided confirmed (fine)".
func (w *walk) noticesOf(event int64) []string {
	lines := []string{}
	for _, r := range w.notices() {
		if r.Subject != strconv.FormatInt(event, 10) {
			continue
		}
		var notice struct {
			Data struct {
				Entries []struct{ Status, Reason string }
			}
		}
		_ = json.Unmarshal([]byte(r.Body), &notice) // an invalid body is in Request.Fault
		line := r.Kind()
		for _, entry := range notice.Data.Entries {
			line += " " + entry.Status
			if entry.Reason != "" {
				line += " (" + entry.Reason + ")"
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// mailTo returns the mails to a person, each once.
func mailTo(server *receivers.MailServer, address string) []receivers.Mail {
	return slices.DeleteFunc(server.Taken(), func(m receivers.Mail) bool { return !slices.Contains(m.To, address) })
}

// items returns the items of the mails to a person, one text for each: "Decided: Concert: Hall was confirmed by
// Kim. Reason: fine". Several notices may share a mail.
func items(server *receivers.MailServer, address string) []string {
	items := []string{}
	for _, m := range mailTo(server, address) {
		said, _, _ := strings.Cut(m.Text, "\n-- \n") // the rest is the signature
		for block := range strings.SplitSeq(strings.TrimSpace(said), "\n\n") {
			lines := strings.Split(block, "\n")
			for i, line := range lines {
				if entry, ok := strings.CutPrefix(line, "- "); ok {
					if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  Reason: ") {
						entry += " " + strings.TrimSpace(lines[i+1])
					}
					items = append(items, lines[0]+": "+entry)
				}
			}
		}
	}
	return items
}

// states returns the states in the delivery log, each once, and prints nothing: the deployment logs a delivery a
// little after the endpoint has it.
func (w *walk) states() any {
	a := answer{walk: w}
	log := path("/api/admin/webhooks/%d/deliveries?limit=1000", w.webhook)
	if err := w.send(w.admin, "GET", log, nil, nil, &a); err != nil {
		w.fail(err)
	}
	found, _ := a.find("deliveries.*.state")
	list, _ := found.([]any)
	states := sequence.Map(list, func(state any) string { return fmt.Sprint(state) })
	slices.Sort(states)
	return slices.Compact(states)
}

// allDelivered checks that every notice received was correct, that the deployment has logged its delivery, and that
// only the owner and the keeper got mail.
func (w *walk) allDelivered() {
	faults := []string{}
	for _, d := range w.hook.Got() {
		if d.Fault != "" {
			faults = append(faults, d.Kind()+": "+d.Fault)
		}
	}
	w.check("faults of the CloudEvents and their signatures", []string{}, faults)
	w.await("states in the delivery log", []string{"delivered"}, w.states)
	if w.mail == nil {
		return
	}
	readers := []string{}
	for _, m := range w.mail.Taken() {
		readers = append(readers, m.To...)
	}
	slices.Sort(readers)
	w.check("readers of mail", []string{w.keeper.email, w.owner.email}, slices.Compact(readers))
}
