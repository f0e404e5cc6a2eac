package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/principal"
)

// eachPermission stands in the files for every permission, as an item of a list or a key of a mapping. The key's value
// is that of the permissions that the mapping does not name; {may} in its texts is what a permission allows.
const eachPermission = "each permission"

// withPermissions puts the table of permissions into a tree.
func withPermissions(value any) any {
	switch v := value.(type) {
	case object:
		return permitted(v)
	case []any:
		all := []any{}
		for _, item := range v {
			if item != any(eachPermission) {
				all = append(all, withPermissions(item))
				continue
			}
			for _, name := range principal.PermissionNames() {
				all = append(all, name)
			}
		}
		return all
	default:
		return value
	}
}

func permitted(o object) (all object) {
	names := principal.PermissionNames()
	for _, m := range o {
		switch {
		case m.key != eachPermission && o.has(eachPermission) && slices.Contains(names, m.key):
		case m.key != eachPermission:
			all.set(m.key, withPermissions(m.value))
		default:
			for _, p := range principal.Table() {
				all.set(p.Name, cmp.Or(o.get(p.Name), allowing(m.value, p.May)))
			}
		}
	}
	return all
}

// allowing returns a value with what a permission allows in its texts.
func allowing(value any, may string) any {
	o, _ := value.(object)
	if o == nil {
		return value
	}
	all := slices.Clone(o)
	for i, m := range all {
		if text, ok := m.value.(string); ok {
			all[i].value = strings.ReplaceAll(text, "{may}", may)
		}
	}
	return all
}
