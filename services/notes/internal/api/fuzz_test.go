package api

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// slow is the model of a request's object: any JSON, looked at as a whole.
type slow map[string]any

func (o slow) Text(name string, faults problem.Fields) *string {
	text, ok := o[name].(string)
	switch {
	case ok:
		return &text
	case o[name] != nil:
		faults.Add(name, "is not a string")
	}
	return nil
}

func (o slow) Bool(name string, faults problem.Fields) *bool {
	value := o[name] == true || o[name] == "true"
	switch {
	case value || o[name] == false || o[name] == "false":
		return &value
	case o[name] != nil:
		faults.Add(name, "is not true or false")
	}
	return nil
}

func FuzzReadEdit(f *testing.F) {
	for _, text := range []string{
		`{"contents":"a\nb","visible_guest":true,"visible_staff":"false","visible_pupil":null}`, `{"contents":[],"visible_guest":"yes"}`, `{"contents":"\ud800","visible_staff":1}`,
		`{"contents":"a","contents":null}`, `{"Contents":"a"}`, `{"visible_guest":"tru\u0065"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := web.ParseObject(raw)
		if err != nil {
			return
		}
		var model slow
		if json.Unmarshal(raw, &model) != nil {
			return // a number beyond all bounds, which nobody reads
		}
		if got, want := note.ReadEdit(o), note.ReadEdit(model); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v; by the book %+v", raw, got, want)
		}
	})
}
