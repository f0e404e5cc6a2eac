package user

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/principal"
)

// Why a person whom a provider has authenticated can't log in here.
var (
	ErrUnknown   = errors.New("user: no user has the address")
	ErrInactive  = errors.New("user: the user with the address is not active")
	ErrWithout   = errors.New("user: the user with the address has no can_api")
	ErrAmbiguous = errors.New("user: several users have the address")
)

// Visitor is a person as a login provider knows it. The provider answers for the address.
type Visitor struct {
	Email string
	Name  string         // empty: unknown
	Kind  principal.Kind // of the user that is created where none has the address; empty: none is created
}

// SignIn returns the user whose address is that of the visitor; letter case does not matter, beyond ASCII it does. Of
// several active ones it is the one without DuplicateEmail: an administrator of a school may give a user the address
// of anyone with it. Where there is none and the visitor has a kind, it creates one with can_api. ErrUnknown,
// ErrInactive, ErrWithout, ErrAmbiguous.
func (s *Service) SignIn(ctx context.Context, v Visitor) (User, error) {
	u, err := s.visited(ctx, v.Email)
	if !errors.Is(err, ErrUnknown) || v.Kind == "" {
		return u, err
	}
	fresh := newUser()
	fresh.Name, fresh.Email, fresh.Kind = strings.TrimSpace(v.Name), v.Email, v.Kind
	fresh.Permissions = principal.Permissions{CanAPI: true}
	fresh.UUIDHash = HashUUID(newUUID()) // which is never shown
	faults := (Edit{}).apply(&fresh)
	if len(faults["name"]) > 0 {
		fresh.Name = v.Email
		faults = (Edit{}).apply(&fresh)
	}
	if len(faults) > 0 {
		return User{}, ErrUnknown
	}
	refused, err := s.Store.Insert(ctx, []*User{&fresh})
	switch {
	case err != nil:
		return User{}, err
	case errors.Is(refused[0], ErrEmailTaken): // by another login of the same person
		return s.visited(ctx, v.Email)
	}
	return fresh, refused[0]
}

// visited is SignIn without creating a user.
func (s *Service) visited(ctx context.Context, email string) (User, error) {
	found, err := s.Store.FindByEmails(ctx, []string{FoldEmail(email)})
	if err != nil {
		return User{}, err
	}
	var active []User
	inactive := false
	for _, u := range found {
		switch {
		case !sameMailbox(u.Email, email):
		case u.Active:
			active = append(active, u)
		default:
			inactive = true
		}
	}
	if i := slices.IndexFunc(active, func(u User) bool { return u.ClaimedEmail() != "" }); i >= 0 {
		active = active[i : i+1]
	}
	switch {
	case len(active) > 1:
		return User{}, ErrAmbiguous
	case len(active) == 0 && inactive:
		return User{}, ErrInactive
	case len(active) == 0:
		return User{}, ErrUnknown
	case !active[0].MayLogIn():
		return User{}, ErrWithout
	}
	return active[0], nil
}

// sameMailbox says whether addresses differ in the case of ASCII letters at most. FoldEmail equates more, such as the
// Kelvin sign and k; a provider may give such an address to another person.
func sameMailbox(a, b string) bool {
	lower := func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	return strings.Map(lower, strings.TrimSpace(a)) == strings.Map(lower, strings.TrimSpace(b))
}
