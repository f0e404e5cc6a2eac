package principal

import (
	"reflect"
	"slices"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Permissions are the rights of a user (decisions, part 8), in the order in which the API shows them. This is their
// only list: a new permission is a line here, with its name and with what it allows. Sessions, stored users, requests,
// answers, the audit, imports, belfryctl and the documents take both from here.
type Permissions struct {
	CanAPI        bool `json:"can_api"         bson:"can_api"         may:"use the API"`
	CanSU         bool `json:"can_su"          bson:"can_su"          may:"become another user"`
	CanAddEvents  bool `json:"can_add_events"  bson:"can_add_events"  may:"add events"`
	CanAddNotes   bool `json:"can_add_notes"   bson:"can_add_notes"   may:"add notes"`
	EditAllEvents bool `json:"edit_all_events" bson:"edit_all_events" may:"edit all events"`
	Privileged    bool `json:"privileged"      bson:"privileged"      may:"use privileged categories"`
	Admin         bool `json:"admin"           bson:"admin"           may:"do everything"`
}

// Permission is a row of the table of permissions.
type Permission struct {
	Name string
	May  string // what it allows
}

// table has the fields of Permissions in their order.
var table = func() (rows []Permission) {
	for field := range reflect.TypeFor[Permissions]().Fields() {
		rows = append(rows, Permission{field.Tag.Get("json"), field.Tag.Get("may")})
	}
	return rows
}()

// Table lists every permission.
func Table() []Permission { return slices.Clone(table) }

// PermissionNames lists the name of every permission.
func PermissionNames() []string {
	return sequence.Map(table, func(row Permission) string { return row.Name })
}

// field is the permission of that name, which must be one of PermissionNames.
func (p *Permissions) field(name string) reflect.Value {
	i := slices.IndexFunc(table, func(row Permission) bool { return row.Name == name })
	return reflect.ValueOf(p).Elem().Field(i)
}

// Has says whether p has the permission of that name, which must be one of PermissionNames, without implied ones.
func (p Permissions) Has(name string) bool { return p.field(name).Bool() }

// Set gives the permission of that name, which must be one of PermissionNames, or takes it.
func (p *Permissions) Set(name string, granted bool) { p.field(name).SetBool(granted) }

// Names lists the permissions that p has, without implied ones.
func (p Permissions) Names() []string {
	return slices.DeleteFunc(PermissionNames(), func(name string) bool { return !p.Has(name) })
}

var all = func() (all Permissions) {
	for _, row := range table {
		all.Set(row.Name, true)
	}
	return all
}()

// All is every permission.
func All() Permissions { return all }

// Implied returns p with all that it implies: admin implies every other permission.
func (p Permissions) Implied() Permissions {
	if p.Admin {
		return all
	}
	return p
}

// Lacking lists the permissions of other that p does not have.
func (p Permissions) Lacking(other Permissions) []string {
	return slices.DeleteFunc(other.Names(), p.Has)
}
