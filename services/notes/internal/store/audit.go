package store

import (
	"cmp"
	"context"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// entry returns the audit's entry of a change, none when nothing changed. A note is created when before has no id,
// and deleted when after has none. The entry is found by the event too.
func entry(ctx context.Context, before, after note.Note) []audit.Entry {
	return audit.Between(ctx, audit.RecordOf(note.TypeName, max(before.ID, after.ID)), values(before), values(after),
		audit.RecordOf("Event", cmp.Or(after.EventID, before.EventID)))
}

// follow returns the change of a note for the clients that follow.
func follow(before, after note.Note) change.Item {
	item := change.Item{Kind: change.Note, EventID: cmp.Or(after.EventID, before.EventID)}
	if before.ID != 0 {
		item.Before = new(before.Audience())
	}
	if after.ID != 0 {
		item.After = new(after.Audience())
	}
	return item
}

// values are the fields of a note that the audit has. About the contents it only says that they changed.
func values(n note.Note) []audit.Value {
	if n.ID == 0 {
		return nil
	}
	return []audit.Value{
		audit.Text("key", n.Key), audit.ID("event_id", n.EventID), audit.ID("owner_id", n.OwnerID),
		audit.Secret("contents", n.Contents), audit.Bool("visible_guest", n.Guest),
		audit.Bool("visible_staff", n.Staff), audit.Bool("visible_pupil", n.Pupil),
	}
}
