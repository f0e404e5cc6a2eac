package neighbour

import (
	"context"
	"maps"
	"slices"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/session"
)

// UserFacts is what identity answers.
var UserFacts = Question[fact.UsersQuestion, []fact.User]{
	Path: "/internal/users", Field: "users",
	Nothing: func(q fact.UsersQuestion) bool {
		return len(q.IDs)+len(q.Keys)+len(q.Elements)+len(q.AdminOf) == 0
	},
}

// OpenToken asks identity for the user of a token for programs. Identity counts wrong tokens.
var OpenToken = Question[fact.TokenQuestion, session.Opened]{Path: "/internal/tokens", Field: "opened"}

// EraseUsers is what identity does to erase a person.
var EraseUsers = erasureQuestion("/internal/erase/users")

// Identity asks the identity service.
type Identity struct {
	peer *peer
	near *directory.Shelf[fact.User]
}

// NewIdentity returns the client of the service whose internal listener is at base.
func NewIdentity(t *Transport, base string) *Identity {
	return &Identity{t.peer("identity", base), directory.NewShelf(t.memory, "users", directory.User, bytesOfUser)}
}

// bytesOfUser is roughly the size of a user's facts in memory.
func bytesOfUser(u fact.User) int {
	const fixed, perID = 100, 8
	return fixed + len(u.Name) + len(u.Email) + len(u.Key) + perID*(len(u.AdminOf)+len(u.StandsFor))
}

// Users returns the users asked for that exist, active or not, in no order.
func (i *Identity) Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	if len(q.IDs) == 0 || len(q.Keys)+len(q.Elements)+len(q.AdminOf) > 0 {
		return ask(ctx, i.peer, UserFacts, q)
	}
	return find(ctx, i.near, q.IDs, func(u fact.User) int64 { return u.ID },
		func(ctx context.Context, ids []int64) ([]fact.User, error) {
			return ask(ctx, i.peer, UserFacts, fact.UsersQuestion{IDs: ids})
		})
}

// OpenToken is a session.OpenToken.
func (i *Identity) OpenToken(ctx context.Context, hash, from string) (session.Opened, error) {
	return ask(ctx, i.peer, OpenToken, fact.TokenQuestion{Hash: hash, From: from})
}

// Erase does the next step of an erasure. It may be repeated.
func (i *Identity) Erase(ctx context.Context, q fact.ErasureQuestion) (fact.ErasureStep, error) {
	return ask(ctx, i.peer, EraseUsers, q)
}

// find returns the records that exist, in no order. It asks for those that memory lacks.
func find[R any](ctx context.Context, near *directory.Shelf[R], ids []int64, id func(R) int64,
	ask func(context.Context, []int64) ([]R, error)) ([]R, error) {
	found, err := near.Find(ctx, ids, func(ctx context.Context, ids []int64) (map[int64]R, error) {
		answer, err := ask(ctx, ids)
		return sequence.By(answer, id), err
	})
	return slices.Collect(maps.Values(found)), err
}
