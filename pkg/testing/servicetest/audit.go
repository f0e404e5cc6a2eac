package servicetest

import (
	"net/http"
	"strings"
	"testing"
)

// AuditLine is an entry of the audit.
type AuditLine struct {
	ID, At, Action, Record, From, Request string
	Related                               []string
	UserID                                *int64 `json:"user_id"`
	OriginalID                            *int64 `json:"original_id"`
	Token                                 *struct {
		ID   int64
		Name string
	}
	Changes []struct {
		Field    string
		From, To *string
	}
}

// String is "action record: field from → to, …".
func (l AuditLine) String() string {
	var changes []string
	for _, c := range l.Changes {
		text := c.Field
		if c.From != nil {
			text += " " + *c.From
		}
		text += " →"
		if c.To != nil {
			text += " " + *c.To
		}
		changes = append(changes, text)
	}
	return strings.TrimSuffix(l.Action+" "+l.Record+": "+strings.Join(changes, ", "), ": ")
}

// Audit returns the first page of a service's audit for a query such as record=Event:12, the newest entry first.
// The client must be an administrator's.
func (c *Client) Audit(t testing.TB, service, query string) []AuditLine {
	t.Helper()
	a := c.Get(t, "/api/admin/audit/"+service+"?"+query)
	var reply struct{ Entries []AuditLine }
	a.Decode(t, &reply)
	if a.Code != http.StatusOK {
		t.Fatalf("audit of %s: %d %s", service, a.Code, a.Body)
	}
	return reply.Entries
}

// AuditTexts returns the lines of Audit as texts.
func (c *Client) AuditTexts(t testing.TB, service, query string) []string {
	t.Helper()
	var texts []string
	for _, l := range c.Audit(t, service, query) {
		texts = append(texts, l.String())
	}
	return texts
}
