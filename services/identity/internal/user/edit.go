package user

import (
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Edit is what a request says about a user; fields that are nil keep their values.
type Edit struct {
	Name, Email, Kind *string
	ElementID         *int64 // 0: none
	Active            *bool
	DuplicateEmail    *bool
	Permissions       map[string]bool // by principal.PermissionNames
	AdminOf           *[]int64        // all of them
	StandsFor         *[]int64        // all of them
	Faults            problem.Fields  // of fields that could not be read
}

// apply changes u and returns the faults of the result.
func (e Edit) apply(u *User) problem.Fields {
	if e.Name != nil {
		u.Name = strings.TrimSpace(*e.Name)
	}
	if e.Email != nil {
		u.Email = strings.TrimSpace(*e.Email)
	}
	if e.Kind != nil {
		u.Kind = principal.Kind(*e.Kind)
	}
	form.Set(&u.ElementID, e.ElementID)
	form.Set(&u.Active, e.Active)
	form.Set(&u.DuplicateEmail, e.DuplicateEmail)
	for name, granted := range e.Permissions {
		u.Permissions.Set(name, granted)
	}
	if e.AdminOf != nil {
		u.AdminOf = inOrder(*e.AdminOf)
	}
	if e.StandsFor != nil {
		u.StandsFor = inOrder(*e.StandsFor)
	}
	faults := e.Faults.Clone()
	u.check(faults)
	return faults
}

// reaches says whether the edit gives u another address or element, by which one can act as u.
func (e Edit) reaches(u User) bool {
	return e.Email != nil && strings.TrimSpace(*e.Email) != u.Email || e.ElementID != nil && *e.ElementID != u.ElementID
}

// inOrder returns each of the ids once; nil for none.
func inOrder(ids []int64) []int64 { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// newUser returns a user with the defaults (administration).
func newUser() User { return User{Kind: principal.Staff, Active: true} }
