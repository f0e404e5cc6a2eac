package api

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
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
		valuetest.MustHold(t, len(e.Permissions) <= len(principal.PermissionNames()), "%s: %v", raw, e.Permissions)
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

// FuzzReadRow holds that a row and an edit of the same fields are read as the same, and that faults are of fields that
// were given.
func FuzzReadRow(f *testing.F) {
	for _, text := range []string{
		`{"name":"A","email":"a@b.example","kind":"staff","active":"false","can_api":true,"admin":"false","element":"Staff:17"}`,
		`{"uuid":null,"element":5,"can_su":"maybe"}`, `{"uuid":"\ud800","permissions":{"admin":true}}`,
		`{"element":""}`, `{"admin_of":["north","south"]}`, `{"admin_of":null}`, `{"admin_of":[1,null]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := web.ParseObject(raw)
		if err != nil {
			return
		}
		row := readRow(importer.Record{Row: record.Row{Key: "k"}, Fields: o})
		for field := range row.Edit.Faults {
			valuetest.MustHold(t, o.Has(field), "%s: a fault of %s, which is not there", raw, field)
		}
		// what an edit has inside "permissions" stands beside the other fields in a row
		beside, err := json.Marshal(map[string]any{"name": o["name"], "email": o["email"], "kind": o["kind"],
			"active": o["active"], "permissions": o})
		if err != nil {
			return // a field that is not there
		}
		edit, err := web.ParseObject(beside)
		errortest.None(t, err)
		if got := readEdit(edit); len(row.Edit.Faults) == 0 && !reflect.DeepEqual(got, row.Edit) {
			t.Fatalf("%s: as an edit %+v, as a row %+v", raw, got, row.Edit)
		}
	})
}
