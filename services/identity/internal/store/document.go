package store

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// schema is the shape of the documents below.
const schema = 1

// document is a user as stored, with what its indexes need.
type document struct {
	mongostore.Head `bson:",inline"`

	User user.User `bson:",inline"`

	EmailFold string `bson:"email_fold"` // see user.FoldEmail
	// ClaimedEmail is user.User.ClaimedEmail; absent where it claims none: the index is unique.
	ClaimedEmail string `bson:"claimed_email,omitempty"`
	// SessionsChanged is when a change was last made that sessions have to follow; absent when there was none.
	SessionsChanged time.Time `bson:"sessions_changed,omitempty"`

	journal.Tail `bson:",inline"`
}

// user returns the user of the document.
func (d *document) user() user.User {
	u := d.User
	u.ID, u.Version = d.ID, d.Version
	return u
}

// set stores u in the document, except the version.
func (d *document) set(u user.User) {
	if before := d.user(); before.ID != 0 && !before.SameInSessions(u) {
		d.SessionsChanged = now()
	}
	d.ID, d.Schema, d.User = u.ID, schema, u
	d.EmailFold, d.ClaimedEmail = user.FoldEmail(u.Email), u.ClaimedEmail()
}

// now is the time at the precision that is stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
