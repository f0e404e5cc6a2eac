package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
)

// Identity asks the identity service.
type Identity struct{ peer peer }

// NewIdentity returns the client for the service whose internal listener is at base.
func NewIdentity(t *Transport, base string) *Identity { return &Identity{peer{t, base, "identity"}} }

// UsersPath and the other Path constants are where the owners serve the internal calls.
const UsersPath = "/internal/users"

// UsersReply holds the users that exist, active or not, in no order.
type UsersReply struct {
	Users []fact.User `json:"users"`
}

// Users returns those of the users asked for that exist.
func (i *Identity) Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	if len(q.IDs)+len(q.Keys) == 0 {
		return nil, nil
	}
	reply, err := read[fact.UsersQuestion, UsersReply](ctx, i.peer, UsersPath, q)
	return reply.Users, err
}
