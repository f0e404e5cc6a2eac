package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// elementEntry returns the audit entry of a change of an element, none when no field changed; before has no id when the
// element is created. For an import it has only rights: who decides on the element, books it, sees it, and administers
// what belongs to it.
func elementEntry(ctx context.Context, before, after element.Element) []audit.Entry {
	action, changes := audit.Of(before.ID, after.ID), audit.Compare(elementValues(before), elementValues(after))
	switch {
	case audit.InBatch(ctx):
		rights := audit.Only(changes, "administrators", "school", "make_public", "open_to")
		changes = slices.DeleteFunc(rights, givesNothing)
	case before.Current && !after.Current && len(changes) == 1:
		action = audit.Retire
	}
	if len(changes) == 0 {
		return nil
	}
	record := audit.RecordOf("Element", after.ID)
	return []audit.Entry{audit.Make(ctx, action, record, changes, users(before, after)...)}
}

// givesNothing says whether a change makes a flag that was absent false.
func givesNothing(c audit.Change) bool { return c.From == nil && c.To != nil && *c.To == "false" }

// users returns those who became or ceased to be administrators, by whom the audit also finds the change.
func users(before, after element.Element) (records []audit.Record) {
	for _, id := range slices.Concat(before.Administrators, after.Administrators) {
		if slices.Contains(before.Administrators, id) != slices.Contains(after.Administrators, id) {
			records = append(records, audit.RecordOf("User", id))
		}
	}
	return records
}

// elementValues returns the fields of an element in the order of the API; none of an element that is not stored. Its
// uuid is part of the detail form and not a secret.
func elementValues(e element.Element) []audit.Value {
	if e.ID == 0 {
		return nil
	}
	values := []audit.Value{
		audit.Text("key", e.Key), audit.Text("name", e.Name),
		audit.Text("entity_type", e.EntityType), audit.ID("entity_id", e.EntityID),
		audit.Bool("current", e.Current), audit.Text("uuid", e.UUID),
	}
	for name, at := range e.Details.All() {
		switch at := at.(type) {
		case *string:
			values = append(values, audit.Text(name, *at))
		case *bool:
			if *at || name == "resource" && e.IsGroup() {
				values = append(values, audit.Bool(name, *at))
			}
		case **bool:
			if *at != nil {
				values = append(values, audit.Bool(name, **at))
			}
		}
	}
	return append(values, audit.IDs("administrators", e.Administrators))
}

// membershipEntry returns the audit's entry of a change of a membership's days; before has no id when the membership is
// created. The audit finds it by the group and by the member as well.
func membershipEntry(ctx context.Context, before, after element.Membership) []audit.Entry {
	return audit.New(ctx, audit.Of(before.ID, after.ID), audit.RecordOf("Membership", after.ID),
		audit.Compare(membershipValues(before), membershipValues(after)),
		audit.RecordOf("Element", after.Group), audit.RecordOf("Element", after.Member))
}

func membershipValues(m element.Membership) []audit.Value {
	return []audit.Value{audit.ID("group", m.Group), audit.ID("member", m.Member), audit.Text("days", daysText(m.Days))}
}

// feedEntry returns the audit's entry of a change of a feed; before has no id when the feed is made, after when it
// ends. It says only that the address changed, and nothing about the name, which is for the user alone.
func feedEntry(ctx context.Context, before, after element.Feed) []audit.Entry {
	feed := cmp.Or(after, before)
	return audit.Between(ctx, audit.RecordOf("Feed", feed.ID), feedValues(before), feedValues(after),
		audit.RecordOf("Element", feed.ElementID), audit.RecordOf("User", feed.UserID))
}

func feedValues(f element.Feed) []audit.Value {
	if f.ID == 0 {
		return nil
	}
	return []audit.Value{
		audit.ID("user", f.UserID), audit.ID("element", f.ElementID), audit.Secret("address", f.TokenHash),
	}
}

// daysText returns days as 2026-09-01/2027-07-31, with .. for an open end, separated by commas.
func daysText(days []wiretime.Days) string {
	texts := make([]string, len(days))
	for i, s := range days {
		first, last := "..", ".."
		if s.First != wiretime.FirstDay {
			first = s.First.String()
		}
		if s.Last != wiretime.LastDay {
			last = s.Last.String()
		}
		texts[i] = first + "/" + last
	}
	return strings.Join(texts, ",")
}
