package user

import "github.com/belfry-schools/belfry/pkg/principal"

// PermissionNames are the permissions by their names in the API, in its order.
func PermissionNames() []string {
	return []string{"can_api", "can_su", "can_add_events", "can_add_notes", "edit_all_events", "privileged", "admin"}
}

// Grants says whether p has the permission of that name, which must be one of PermissionNames, without implied ones.
func Grants(p principal.Permissions, name string) bool { return *permission(&p, name) }

// permission returns the field of p with that name, which must be one of PermissionNames.
func permission(p *principal.Permissions, name string) *bool {
	switch name {
	case "can_api":
		return &p.CanAPI
	case "can_su":
		return &p.CanSU
	case "can_add_events":
		return &p.CanAddEvents
	case "can_add_notes":
		return &p.CanAddNotes
	case "edit_all_events":
		return &p.EditAllEvents
	case "privileged":
		return &p.Privileged
	default:
		return &p.Admin
	}
}
