package store

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// schema is the shape of the documents below.
const schema = 1

// document is a user as stored.
type document struct {
	mongostore.Head `bson:",inline"`

	Key        string `bson:"key,omitempty"` // absent, not empty, when made by hand: the index is unique
	ImportHash string `bson:"import_hash,omitempty"`

	Name      string `bson:"name"`
	Email     string `bson:"email"`
	EmailFold string `bson:"email_fold"` // see user.FoldEmail
	// ClaimedEmail is user.User.ClaimedEmail; absent where it claims none: the index is unique.
	ClaimedEmail   string `bson:"claimed_email,omitempty"`
	DuplicateEmail bool   `bson:"duplicate_email,omitempty"`

	Kind        principal.Kind        `bson:"kind"`
	ElementID   int64                 `bson:"element_id,omitempty"`
	Active      bool                  `bson:"active"`
	Permissions principal.Permissions `bson:"permissions"`
	AdminOf     []int64               `bson:"admin_of,omitempty"`

	UUIDHash      string `bson:"uuid_hash"`
	SessionsSince int64  `bson:"sessions_since,omitempty"`
	FeedsSince    int64  `bson:"feeds_since,omitempty"`
	// SessionsChanged is when a change was last made that sessions have to follow; absent when there was none.
	SessionsChanged time.Time `bson:"sessions_changed,omitempty"`

	journal.Tail `bson:",inline"`
}

// user returns what the document says.
func (d *document) user() user.User {
	return user.User{
		ID: d.ID, Version: d.Version, Key: d.Key, ImportHash: d.ImportHash,
		Name: d.Name, Email: d.Email, Kind: d.Kind, ElementID: d.ElementID, Active: d.Active,
		DuplicateEmail: d.DuplicateEmail, Permissions: d.Permissions, AdminOf: d.AdminOf,
		UUIDHash: d.UUIDHash, SessionsSince: d.SessionsSince, FeedsSince: d.FeedsSince,
	}
}

// set makes the document say u, but for the version.
func (d *document) set(u user.User) {
	if before := d.user(); before.ID != 0 && !before.SameInSessions(u) {
		d.SessionsChanged = now()
	}
	d.ID, d.Schema = u.ID, schema
	d.Key, d.ImportHash = u.Key, u.ImportHash
	d.Name, d.Email, d.EmailFold = u.Name, u.Email, user.FoldEmail(u.Email)
	d.ClaimedEmail, d.DuplicateEmail = u.ClaimedEmail(), u.DuplicateEmail
	d.Kind, d.ElementID, d.Active, d.Permissions = u.Kind, u.ElementID, u.Active, u.Permissions
	d.AdminOf = u.AdminOf
	d.UUIDHash, d.SessionsSince, d.FeedsSince = u.UUIDHash, u.SessionsSince, u.FeedsSince
}

// now is the time, as finely as it is stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
