package api

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// FuzzReadEdit holds that an edit read without a fault, written again, is read as the same; that faults are of
// fields that were given; and that permissions are only those that there are.
func FuzzReadEdit(f *testing.F) {
	for _, text := range []string{
		`{"name":"A","email":"a@b.example","kind":"staff","element_id":"68","active":"false","permissions":{"can_api":true,"admin":"false","x":1}}`,
		`{"element_id":null}`, `{"element_id":""}`, `{"element_id":"01"}`, `{"permissions":[]}`, `{"permissions":{}}`,
		`{"permissions":{"can_su":2}}`, `{"name":7,"active":0}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := web.ParseObject(raw)
		if err != nil {
			return
		}
		e := readEdit(o)
		granted, _ := web.ParseObject(o["permissions"])
		for field := range e.Faults {
			if !o.Has(field) && !granted.Has(field) {
				t.Fatalf("%s: a fault of %s, which is not there", raw, field)
			}
		}
		if len(e.Permissions) > len(user.PermissionNames()) {
			t.Fatalf("%s: %v", raw, e.Permissions)
		}
		if len(e.Faults) > 0 {
			return
		}
		written := map[string]any{"name": e.Name, "email": e.Email, "kind": e.Kind, "active": e.Active}
		if e.ElementID != nil {
			written["element_id"] = *e.ElementID
			if *e.ElementID == 0 {
				written["element_id"] = nil
			}
		}
		if e.Permissions != nil {
			written["permissions"] = e.Permissions
		}
		servicetest.ReadsBack(t, written, readEdit, e)
	})
}
