package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// patience is how long a notice may take.
const patience = time.Minute

func TestPart3_1_TheAdministratorIsToldByMail(t *testing.T) {
	proves(t, "3.1 notice: the element's administrator is told of a pending entry",
		"decisions 5 notice: pending entries notify the element's administrators")
	if received.mail == nil {
		t.Skip("-mail-listen is not set")
	}
	owner, keeper := school.User(t, "can_add_events"), school.User(t)
	c, k, calendar := school.Login(t, owner), school.Login(t, keeper), school.Property(t)
	school.Administrator(t, calendar, keeper)
	title := school.Unique("Tea <b>&") // to be escaped in HTML
	made := school.Event(t, c, object{"body": title, "starts_at_text": "2031-04-10 19:00",
		"ends_at_text": "2031-04-10 21:00"}, calendar)
	asked := fmt.Sprintf("To decide: %s: %s was requested by %s and awaits a decision.",
		title, calendar.Name, owner.Name)
	awaitMails(t, keeper, asked)
	first := mailsTo(keeper)[0]
	equal(t, "the subject", first.Subject, "To decide: "+title)
	valuetest.Has(t, first.HTML, strings.Replace(title, "<b>&", "&lt;b&gt;&amp;", 1))

	decideFor(t, k, made, "noted", "when the hall is free")
	decideFor(t, k, made, "confirmed", "the hall is free")
	decided := func(status, reason string) string {
		return fmt.Sprintf("Decided: %s: %s was %s by %s. Reason: %s", title, calendar.Name, status, keeper.Name,
			reason)
	}
	awaitMails(t, owner, decided("noted (seen, but not confirmed yet)", "when the hall is free"),
		decided("confirmed", "the hall is free"))
	c.Patch(t, pathIn(t, made), object{"event": object{"starts_at_text": "2031-04-10 19:30",
		"ends_at_text": "2031-04-10 21:30"}}).Must(t, http.StatusOK)
	awaitMails(t, keeper, asked, asked)
	decideFor(t, k, made, "confirmed", "after all")
	c.Delete(t, pathIn(t, made)).Must(t, http.StatusOK)
	awaitMails(t, keeper, asked, asked, fmt.Sprintf("Deleted: %s: %s, which was confirmed, is free again: "+
		"the event was deleted by %s. Reason: after all", title, calendar.Name, owner.Name))
}

// decideFor decides on the event's first commitment.
func decideFor(t *testing.T, c *servicetest.Client, made servicetest.Answer, status, reason string) {
	t.Helper()
	c.Patch(t, commitmentPath(made.Int(t, "event.commitments.0.id")),
		object{"commitment": object{"status": status, "reason": reason}}).Must(t, http.StatusOK)
}

// awaitMails fails the test unless the items of the mails to a user come to be these.
func awaitMails(t *testing.T, u User, items ...string) {
	t.Helper()
	timetest.Eventually(t, fmt.Sprintf("%s has mail: %q", u.Name, items), patience,
		func() bool { return slices.Equal(itemsTo(u), items) })
}

// mailsTo are the mails to a user, each once.
func mailsTo(u User) []receivers.Mail {
	return slices.DeleteFunc(received.mail.Taken(), func(m receivers.Mail) bool {
		return !slices.Contains(m.To, u.Email)
	})
}

// itemsTo are the items of the mails to a user: "Decided: Concert: Hall was confirmed by Kim. Reason: fine". Several
// notices may share a mail.
func itemsTo(u User) (items []string) {
	for _, m := range mailsTo(u) {
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

func TestPart3_1_WebhooksAreToldInOrderAndAgainAfterAnOutage(t *testing.T) {
	proves(t, "3.1 notice", "decisions 5 notice")
	hook := received.hook
	if hook == nil {
		t.Skip("-webhook-listen is not set")
	}
	calendar := school.Property(t)
	group := school.Element(t, object{"entity_type": "Group", "name": school.Unique("School"), "school": true})
	school.Member(t, group, calendar, "", "")
	keeper := school.User(t)
	c, k := school.Booker(t), school.Login(t, keeper)
	school.Administrator(t, calendar, keeper)
	const webhooks = "/api/admin/webhooks"
	registered := school.Admin().Post(t, webhooks,
		object{"webhook": object{"url": hook.URL, "school_id": group.ID}}).Must(t, http.StatusCreated)
	hook.Trust(registered.Text(t, "webhook.secret"))
	webhook := fmt.Sprintf("%s/%d", webhooks, registered.Int(t, "webhook.id"))
	t.Cleanup(func() { _ = school.Admin().Delete(t, webhook) })
	school.Admin().Post(t, webhook+"/test", nil).Must(t, http.StatusCreated)

	made := school.Event(t, c, nil, calendar)
	want := []string{"webhook.test", "commitment.requested requested"}
	await := func(more ...string) {
		t.Helper()
		want = append(want, more...)
		timetest.Eventually(t, fmt.Sprintf("the endpoint has %q", want), patience,
			func() bool { return slices.Equal(linesOf(t, hook.Taken()), want) })
	}
	await()
	decideFor(t, k, made, "noted", "wait")
	decideFor(t, k, made, "confirmed", "free")
	await("commitment.decided noted (wait)", "commitment.decided confirmed (free)")

	hook.Answer(http.StatusServiceUnavailable)
	decideFor(t, k, made, "rejected", "")
	decideFor(t, k, made, "confirmed", "after all")
	var refused []receivers.Request
	timetest.Eventually(t, "the endpoint was tried twice", patience, func() bool {
		refused = slices.DeleteFunc(hook.Got(), receivers.Request.Taken)
		return len(refused) > 1
	})
	equal(t, "the same body again", refused[1].Body, refused[0].Body)
	equal(t, "each with a signature of its own", refused[1].Header.Get("Webhook-Signature") ==
		refused[0].Header.Get("Webhook-Signature"), false)
	hook.Answer(http.StatusNoContent)
	c.Delete(t, pathIn(t, made)).Must(t, http.StatusOK)
	await("commitment.decided rejected", "commitment.decided confirmed (after all)",
		"event.deleted confirmed (after all)")
	for _, r := range hook.Got() {
		equal(t, "what is wrong with "+r.Kind(), r.Fault, "")
	}
	timetest.Eventually(t, "the log of deliveries has all as delivered", patience, func() bool {
		log := school.Admin().Get(t, webhook+"/deliveries?limit=1000").Must(t, http.StatusOK)
		return strings.Count(log.Body, `"state":"delivered"`) == len(want) && log.Len(t, "deliveries") == len(want)
	})
}

// linesOf are the notices as texts, each id once: "commitment.decided confirmed (fine)".
func linesOf(t *testing.T, requests []receivers.Request) (lines []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range requests {
		var notice struct {
			Data struct {
				Entries []struct{ Status, Reason string }
			}
		}
		errortest.None(t, json.Unmarshal([]byte(r.Body), &notice))
		line := r.Kind()
		for _, entry := range notice.Data.Entries {
			line += " " + entry.Status
			if entry.Reason != "" {
				line += " (" + entry.Reason + ")"
			}
		}
		if !seen[r.ID] {
			lines = append(lines, line)
		}
		seen[r.ID] = true
	}
	return lines
}
