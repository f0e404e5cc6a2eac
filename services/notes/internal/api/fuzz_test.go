package api

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
)

// slow is the model of a request's object: any JSON, decoded as a whole.
type slow map[string]any

// parse returns an object as it is read, and its model: nil where there is none.
func parse(raw []byte) (web.Object, slow) {
	o, err := web.ParseObject(raw)
	model := slow{}
	if err != nil || json.Unmarshal(raw, &model) != nil { // or a number out of range
		return nil, nil
	}
	return o, model
}

func (o slow) text(name string, faults problem.Fields) *string {
	text, ok := o[name].(string)
	switch {
	case ok:
		return &text
	case o[name] != nil:
		faults.Add(name, "is not a string")
	}
	return nil
}

func (o slow) bool(name string, faults problem.Fields) *bool {
	value := o[name] == true || o[name] == "true"
	switch {
	case value || o[name] == false || o[name] == "false":
		return &value
	case o[name] != nil:
		faults.Add(name, "is not true or false")
	}
	return nil
}

func (o slow) edit() note.Edit {
	e := note.Edit{Faults: problem.Fields{}}
	e.Contents = o.text("contents", e.Faults)
	e.VisibleGuest = o.bool("visible_guest", e.Faults)
	e.VisibleStaff = o.bool("visible_staff", e.Faults)
	e.VisiblePupil = o.bool("visible_pupil", e.Faults)
	return e
}

// FuzzReadRow compares what is read with a slow model.
func FuzzReadRow(f *testing.F) {
	for _, text := range []string{
		`{"contents":"a\nb","visible_guest":true,"visible_staff":"false","visible_pupil":null}`,
		`{"contents":[],"visible_guest":"yes"}`, `{"contents":"\ud800","visible_staff":1}`,
		`{"contents":"a","contents":null}`, `{"Contents":"a"}`, `{"visible_guest":"tru\u0065"}`,
		`{"contents":null,"other":1,"id":99}`, `{"contents":5,"visible_staff":"yes","visible_pupil":[]}`,
		`{"event":"e1","owner":"u1","contents":"A"}`, `{"event":null,"owner":5}`,
		`{"event":"\ud800","visible_guest":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, model := parse(raw)
		if model == nil {
			return
		}
		want := note.Row{Row: record.Row{Key: "k", Hash: "h"}, Edit: model.edit()}
		if event := model.text("event", want.Edit.Faults); event != nil {
			want.Event = *event
		}
		if owner := model.text("owner", want.Edit.Faults); owner != nil {
			want.Owner = *owner
		}
		if got := readRow(importer.Record{Row: want.Row, Fields: o}); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v; by the book %+v", raw, got, want)
		}
	})
}
