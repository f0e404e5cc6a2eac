package user

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// uuidByToken is the fault of a uuid that is set by a token for programs: logins by it would outlive the token.
const uuidByToken = "can't be given by a token"

// Create stores a new user and returns it with its uuid: the one given, or a random one for nil. The uuid cannot be
// read later; with a token it is neither set nor returned. A record.InvalidError of the user when it is invalid;
// Forbidden when p may not make it; Conflict when another active user has its address and the edit does not say that
// this is intended.
func (s *Service) Create(ctx context.Context, p principal.Principal, e Edit, uuid *string) (User, string, error) {
	if err := s.mayAsk(ctx, p, User{}, e); err != nil {
		return User{}, "", err
	}
	u := newUser()
	faults := e.apply(&u)
	if uuid == nil {
		uuid = new(newUUID())
	} else if p.Token.ID != 0 {
		faults.Add("uuid", uuidByToken)
	} else if err := CheckUUID(*uuid); err != nil {
		faults.Add("uuid", err.Error())
	}
	if err := s.checkReferences(ctx, e, faults); err != nil {
		return User{}, "", err
	}
	if !p.Permissions.Admin {
		if u.ElementID == 0 {
			faults.Add("element_id", problem.Blank)
		}
		if !hasNoMore(u, p) {
			return User{}, "", forbidden()
		}
	}
	if err := record.Invalid(u, faults); err != nil {
		return User{}, "", err
	}
	if err := s.checkEmail(ctx, u); err != nil {
		return User{}, "", err
	}
	u.UUIDHash = HashUUID(*uuid)
	refused, err := s.Store.Insert(ctx, []*User{&u})
	if err != nil {
		return User{}, "", err
	}
	if errors.Is(refused[0], ErrEmailTaken) {
		return User{}, "", emailTaken()
	}
	if refused[0] != nil { // by the uuid: the key is empty
		u.ID = 0
		return User{}, "", record.Invalid(u, problem.Fields{"uuid": {problem.Taken}})
	}
	if p.Token.ID != 0 {
		return u, "", nil
	}
	return u, *uuid, nil
}

// checkEmail returns a Conflict when another active user has the address of u, which claims it. Of two that are made at
// once, the store refuses one.
func (s *Service) checkEmail(ctx context.Context, u User) error {
	claimed := u.ClaimedEmail()
	if claimed == "" {
		return nil
	}
	others, err := s.Store.FindByEmails(ctx, []string{claimed})
	if slices.ContainsFunc(others, func(other User) bool { return other.Active && other.ID != u.ID }) {
		return emailTaken()
	}
	return err
}

func emailTaken() error {
	return problem.Wrap(problem.Conflict, ErrEmailTaken,
		"another active user has this e-mail address; \"duplicate_email\": true allows it")
}

// checkReferences adds a fault for an element that does not exist, for schools that are not schools, and for pupils
// that are not pupils.
func (s *Service) checkReferences(ctx context.Context, e Edit, faults problem.Fields) error {
	schools, pupils, element := form.OrZero(e.AdminOf), form.OrZero(e.StandsFor), form.OrZero(e.ElementID)
	ids := slices.Concat(schools, pupils)
	if element != 0 {
		ids = append(ids, element)
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := s.Elements.Facts(ctx, fact.ElementsQuestion{IDs: ids})
	if err != nil {
		return err
	}
	isSchool, isPupil, exists := map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	for _, f := range found {
		exists[f.ID], isSchool[f.ID], isPupil[f.ID] = true, f.School, f.EntityType == form.Pupil
	}
	if element != 0 && !exists[element] {
		faults.Add("element_id", problem.MustExist)
	}
	if slices.ContainsFunc(schools, func(id int64) bool { return !isSchool[id] }) {
		faults.Add("admin_of", NotSchools)
	}
	if slices.ContainsFunc(pupils, func(id int64) bool { return !isPupil[id] }) {
		faults.Add("stands_for", NotPupils)
	}
	return nil
}

// EnsureFirst creates the first administrator, with all permissions and that uuid, when there is no user at all, and
// says whether it did. Replicas that start at once with the same uuid create one between them: the others find the
// uuid taken.
func EnsureFirst(ctx context.Context, store Store, uuid string) (bool, error) {
	present, err := store.List(ctx, Filter{Limit: 1})
	if err != nil || len(present) > 0 {
		return false, err
	}
	first := newUser()
	first.Name = "First administrator"
	first.Email = "administrator@belfry.invalid" // a name that no mail can reach (RFC 2606)
	first.DuplicateEmail = true                  // an export of another Belfry has the same
	first.Permissions = principal.All()
	first.UUIDHash = HashUUID(uuid)
	refused, err := store.Insert(ctx, []*User{&first})
	return err == nil && refused[0] == nil, err
}
