package user

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Create stores a new user and returns it with its uuid: the one given, or a random one for nil. The uuid cannot be
// read later. A record.InvalidError of the user when something is wrong with it.
func (s *Service) Create(ctx context.Context, e Edit, uuid *string) (User, string, error) {
	u := newUser()
	faults := e.apply(&u)
	if uuid == nil {
		random := newUUID()
		uuid = &random
	} else if err := CheckUUID(*uuid); err != nil {
		faults.Add("uuid", err.Error())
	}
	if err := s.checkElement(ctx, e, faults); err != nil {
		return User{}, "", err
	}
	if err := record.Invalid(u, faults); err != nil {
		return User{}, "", err
	}
	u.UUIDHash = HashUUID(*uuid)
	refused, err := s.store.Insert(ctx, []*User{&u})
	if err != nil {
		return User{}, "", err
	}
	if refused[0] != nil { // by the uuid: the key is empty
		u.ID = 0
		return User{}, "", record.Invalid(u, problem.Fields{"uuid": {problem.Taken}})
	}
	return u, *uuid, nil
}

// checkElement adds a fault when the edit names an element that does not exist.
func (s *Service) checkElement(ctx context.Context, e Edit, faults problem.Fields) error {
	if e.ElementID == nil || *e.ElementID == 0 {
		return nil
	}
	found, err := s.elements.Facts(ctx, fact.ElementsQuestion{IDs: []int64{*e.ElementID}})
	if err == nil && len(found) == 0 {
		faults.Add("element_id", problem.MustExist)
	}
	return err
}

// EnsureFirst creates the first administrator, with all permissions and that uuid, when there is no user at all, and
// says whether it did. Replicas that start at once with the same uuid create one between them: the others find the
// uuid taken.
func EnsureFirst(ctx context.Context, store Store, uuid string) (bool, error) {
	present, err := store.List(ctx, 0, 1)
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
