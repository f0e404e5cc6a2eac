package main

import (
	"context"
	"fmt"
)

// listedChange is one of GET /api/changes.
type listedChange struct {
	Kind    string
	ID      int64
	Version int64
	Change  string
}

// compareChanges compares the list of all changes with the ledger: what was acknowledged is listed once, and what did
// not happen is not.
func (c *check) compareChanges(ctx context.Context) error {
	var listed []listedChange
	for token := c.ledger.since; ; {
		page, next, err := c.ledger.client.Changes(ctx, token)
		if err != nil {
			return fmt.Errorf("follow the changes: %w", err)
		}
		for _, r := range page {
			listed = append(listed, listedChange{r.Text("kind"), r.ID("id"), r.ID("version"), r.Text("change")})
		}
		if next == token {
			break
		}
		token = next
	}
	c.listed = len(listed)
	c.compareListed(listed)
	return nil
}

func (c *check) compareListed(listed []listedChange) {
	versions := map[listedChange]int64{} // of each record
	times := map[listedChange]int{}
	for _, l := range listed {
		record := listedChange{Kind: l.Kind, ID: l.ID}
		if l.Version <= versions[record] {
			c.complaints.add("%s %d: its version %d is listed after %d", l.Kind, l.ID, l.Version, versions[record])
		}
		versions[record] = l.Version
		times[listedChange{Kind: l.Kind, ID: l.ID, Change: l.Change}]++
	}
	for _, id := range c.occurring {
		if n := times[listedChange{Kind: "Event", ID: id, Change: "created"}]; n != 1 {
			c.complaints.add("event %d of a series is listed as created %d times", id, n)
		}
	}
	for _, b := range c.ledger.bookings {
		if b.id == 0 {
			continue
		}
		deleted := 0
		if b.gone != never && c.standing[b.id] == nil {
			deleted = 1
		}
		for change, want := range map[string]int{"created": 1, "deleted": deleted} {
			if n := times[listedChange{Kind: "Event", ID: b.id, Change: change}]; n != want {
				c.complaints.add("event %d is listed as %s %d times, not %d", b.id, change, n, want)
			}
		}
	}
}
