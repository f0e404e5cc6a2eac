package store

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// entry returns the audit's entry of a change, none when nothing changed. A note is created when before has no id,
// and deleted when after has none. The entry is found by the event too.
func entry(ctx context.Context, before, after note.Note) []audit.Entry {
	action, n := audit.Update, after
	var was, is []audit.Value
	if before.ID == 0 {
		action = audit.Create
	} else {
		was = values(before)
	}
	if after.ID == 0 {
		action, n = audit.Delete, before
	} else {
		is = values(after)
	}
	changes := audit.Compare(was, is)
	if len(changes) == 0 {
		return nil
	}
	return audit.New(ctx, action, audit.RecordOf(note.TypeName, n.ID), changes, audit.RecordOf("Event", n.EventID))
}

// follow returns the change of a note for the clients that follow.
func follow(before, after note.Note) change.Item {
	item := change.Item{Kind: change.Note, EventID: max(before.EventID, after.EventID)}
	if before.ID != 0 {
		item.Before = new(before.Audience())
	}
	if after.ID != 0 {
		item.After = new(after.Audience())
	}
	return item
}

// values are the fields of a note that the audit has. Of the contents it has only that they changed.
func values(n note.Note) []audit.Value {
	return []audit.Value{
		audit.Text("key", n.Key), audit.ID("event_id", n.EventID), audit.ID("owner_id", n.OwnerID),
		audit.Secret("contents", n.Contents), audit.Bool("visible_guest", n.Guest),
		audit.Bool("visible_staff", n.Staff), audit.Bool("visible_pupil", n.Pupil),
	}
}
