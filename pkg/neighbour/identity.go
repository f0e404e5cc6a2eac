package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
)

// UserFacts is what identity answers.
var UserFacts = Question[fact.UsersQuestion, []fact.User]{
	Path: "/internal/users", Field: "users",
	Nothing: func(q fact.UsersQuestion) bool { return len(q.IDs)+len(q.Keys) == 0 },
}

// Identity asks the identity service.
type Identity struct{ peer peer }

// NewIdentity returns the client of the service whose internal listener is at base.
func NewIdentity(t *Transport, base string) *Identity { return &Identity{peer{t, base, "identity"}} }

// Users returns those of the users asked for that exist, active or not, in no order.
func (i *Identity) Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	return ask(ctx, i.peer, UserFacts, q)
}
