package walkthrough

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/testing/receivers"
)

// notice is the part of a delivery about an event.
type notice struct {
	ActorID *int64 `json:"actor_id"`
	Entries []struct {
		CommitmentID int64 `json:"commitment_id"`
		Status       string
		Reason       string
		DecidedBy    *int64 `json:"decided_by"`
		Element      struct{ ID int64 }
	}
}

// noticeOf parses a delivery. The endpoint has recorded what is wrong with it.
func noticeOf(r receivers.Request) notice {
	var event struct{ Data notice }
	_ = json.Unmarshal([]byte(r.Body), &event) // an invalid body is in Request.Fault
	return event.Data
}

// notices returns the deliveries that the endpoint accepted, each id once, without tests.
func notices(hook *receivers.Endpoint) []receivers.Request {
	var once []receivers.Request
	for _, r := range hook.Taken() {
		same := func(other receivers.Request) bool { return other.ID == r.ID }
		if r.Kind() != "webhook.test" && !slices.ContainsFunc(once, same) {
			once = append(once, r)
		}
	}
	return once
}

// noticesOf returns the notices of an event as texts: "commitment.decided confirmed (fine)".
func noticesOf(hook *receivers.Endpoint, event int64) []string {
	lines := []string{}
	for _, r := range notices(hook) {
		if r.Subject != strconv.FormatInt(event, 10) {
			continue
		}
		line := r.Kind()
		for _, entry := range noticeOf(r).Entries {
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
