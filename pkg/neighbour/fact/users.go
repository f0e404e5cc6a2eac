package fact

import (
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// User is the part of a user that other services may read.
type User struct {
	form.User
	Key    string `json:"key,omitempty"` // of the import; empty when the user was made by hand
	Active bool   `json:"active"`
	CanAPI bool   `json:"can_api"` // it may use the API as long as it is active

	Kind       principal.Kind `json:"kind"`
	Admin      bool           `json:"admin,omitempty"`
	ElementID  int64          `json:"element_id,omitempty"`  // the element that it is; 0: none
	StandsFor  []int64        `json:"stands_for,omitempty"`  // the pupils that it stands for
	FeedsSince int64          `json:"feeds_since,omitempty"` // feeds that it made at an older version have ended
	AdminOf    []int64        `json:"admin_of,omitempty"`    // the schools that it administers
}

// MayLogIn says whether the user can use the API by itself.
func (u User) MayLogIn() bool { return u.Active && u.CanAPI }

// UsersQuestion asks for users by id, by import key, by the element that they are, and by the schools that they
// administer.
type UsersQuestion struct {
	IDs      []int64  `json:"ids,omitempty"`
	Keys     []string `json:"keys,omitempty"`
	Elements []int64  `json:"elements,omitempty"`
	AdminOf  []int64  `json:"admin_of,omitempty"`
}

// TokenQuestion asks about a token for programs by its hash, which was sent from an address.
type TokenQuestion struct {
	Hash string `json:"hash"`
	From string `json:"from"`
}

// Viewer is the user who reads notes; it decides which notes are visible (decisions part 6).
type Viewer struct {
	UserID int64          `json:"user_id"`
	Kind   principal.Kind `json:"kind"`
	Admin  bool           `json:"admin"`

	ElementID int64   `json:"element_id,omitempty"` // the element that the user is; 0: none
	StandsFor []int64 `json:"stands_for,omitempty"` // the pupils that the user stands for
	AdminOf   []int64 `json:"admin_of,omitempty"`   // the schools that it administers
}

// Sight is that of the viewer, without its surroundings.
func (v Viewer) Sight(sights principal.Sights) *Sight {
	return &Sight{
		UserID: v.UserID, ElementID: v.ElementID, StandsFor: v.StandsFor, Admin: v.Admin,
		AdminOf: v.AdminOf, Scope: sights.Of(v.Kind, v.Admin),
	}
}

// ViewerOf returns the effective user of p as a viewer.
func ViewerOf(p principal.Principal) Viewer {
	return Viewer{
		UserID: p.UserID, Kind: p.Kind, Admin: p.Permissions.Admin, ElementID: p.ElementID, StandsFor: p.StandsFor,
		AdminOf: p.AdminOf,
	}
}
