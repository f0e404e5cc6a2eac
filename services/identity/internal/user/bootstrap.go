package user

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/principal"
)

// EnsureFirst creates the first administrator, with all permissions and that uuid, when there is no user at all, and says whether it
// did. Replicas that start at once with the same uuid create one between them: the others find the uuid taken.
func EnsureFirst(ctx context.Context, store Store, uuid string) (bool, error) {
	present, err := store.After(ctx, 0, 1)
	if err != nil || len(present) > 0 {
		return false, err
	}
	first := newUser()
	first.Name = "First administrator"
	first.Email = "administrator@belfry.invalid" // a name that no mail can reach (RFC 2606)
	first.Permissions = principal.All()
	first.UUIDHash = HashUUID(uuid)
	refused, err := store.Insert(ctx, []*User{&first})
	return err == nil && refused[0] == nil, err
}
