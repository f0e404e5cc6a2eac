package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/form"
)

// Identity asks the identity service.
type Identity struct{ peer peer }

// NewIdentity returns the client for the service whose internal listener is at base.
func NewIdentity(t *Transport, base string) *Identity { return &Identity{peer{t, base, "identity"}} }

// UsersPath and the other Path constants are where the owners serve the internal calls.
const UsersPath = "/internal/users"

// UsersQuestion asks for users by id and by import key.
type UsersQuestion struct {
	IDs  []int64  `json:"ids,omitempty"`
	Keys []string `json:"keys,omitempty"`
}

// UserFact is what other services may know of a user.
type UserFact struct {
	form.User
	Key    string `json:"key,omitempty"` // of the import; empty when made by hand
	Active bool   `json:"active"`
	CanAPI bool   `json:"can_api"` // it may use the interface as long as it is active
}

// UsersReply holds the users that exist, active or not, in no order.
type UsersReply struct {
	Users []UserFact `json:"users"`
}

// Users returns those of the users asked for that exist.
func (i *Identity) Users(ctx context.Context, q UsersQuestion) ([]UserFact, error) {
	if len(q.IDs)+len(q.Keys) == 0 {
		return nil, nil
	}
	reply, err := read[UsersQuestion, UsersReply](ctx, i.peer, UsersPath, q)
	return reply.Users, err
}
