package session

import "github.com/belfry-schools/belfry/pkg/principal"

// document is a session's field data, as JSON. The script of Refresh reads and writes it too.
type document struct {
	User     user  `json:"user"`
	Original *user `json:"original,omitempty"`
}

// user is a Subject in a document.
type user struct {
	UserID      int64          `json:"user"`
	Version     int64          `json:"version"`
	Kind        principal.Kind `json:"kind"`
	ElementID   int64          `json:"element"`
	Permissions permissions    `json:"permissions"`
	AdminOf     []int64        `json:"admin_of,omitempty"` // never empty: Lua's empty table would become an object
	Active      bool           `json:"active"`
	Since       int64          `json:"since"`
}

// permissions has the fields of principal.Permissions.
type permissions struct {
	CanAPI        bool `json:"can_api"`
	CanSU         bool `json:"can_su"`
	CanAddEvents  bool `json:"can_add_events"`
	CanAddNotes   bool `json:"can_add_notes"`
	EditAllEvents bool `json:"edit_all_events"`
	Privileged    bool `json:"privileged"`
	Admin         bool `json:"admin"`
}

func documentOf(r Record) document {
	d := document{User: userOf(r.User)}
	if r.Original != nil {
		original := userOf(*r.Original)
		d.Original = &original
	}
	return d
}

func userOf(s Subject) user {
	return user{
		UserID: s.UserID, Version: s.Version, Kind: s.Kind, ElementID: s.ElementID,
		Permissions: permissions(s.Permissions), AdminOf: s.AdminOf, Active: s.Active, Since: s.Since,
	}
}

func (d document) record() Record {
	r := Record{User: d.User.subject()}
	if d.Original != nil {
		original := d.Original.subject()
		r.Original = &original
	}
	return r
}

func (u user) subject() Subject {
	return Subject{
		UserID: u.UserID, Version: u.Version, Kind: u.Kind, ElementID: u.ElementID,
		Permissions: principal.Permissions(u.Permissions), AdminOf: u.AdminOf, Active: u.Active, Since: u.Since,
	}
}
