package api

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// Sessions are the sessions in Redis, as the use cases know them.
func Sessions(store *session.Store) user.Sessions { return sessions{store} }

// RecordOf is the content of a session of a user's own.
func RecordOf(u user.User) session.Record { return recordOf(user.Actors{Effective: u}) }

// Expired says whether the file says that it has expired.
func (s SecurityTxt) Expired(at time.Time) bool { return s.expired(at) }
