package event

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Everything that is done with the texts of an event is done with each: a field that All leaves out fails here.
func TestTexts_EachIsReadComparedSharedErasedAndRedacted(t *testing.T) {
	names := TextNames()
	if n := reflect.TypeFor[Texts]().NumField(); n != len(names) {
		t.Fatalf("%d fields, but All has %q", n, names)
	}
	for field := range reflect.TypeFor[Texts]().Fields() {
		for _, tag := range []string{"json", "bson"} {
			if name, _, _ := strings.Cut(field.Tag.Get(tag), ","); !slices.Contains(names, name) {
				t.Errorf("%s is called %s in %s, which is none of %q", field.Name, name, tag, names)
			}
		}
	}
	given := map[string]string{}
	for _, name := range names {
		given[name] = "Anna's " + name
	}
	e := Event{SeriesID: 1}
	faults := problem.Fields{}
	if e.Texts.apply(given, faults, true); len(faults) > 0 {
		t.Fatal(faults)
	}
	written, err := json.Marshal(e.Texts)
	var back map[string]string
	if err != nil || json.Unmarshal(written, &back) != nil || !reflect.DeepEqual(back, given) {
		t.Errorf("written as %s: %v", written, err)
	}
	if parts := differences(&e, &Event{}); len(parts) != len(names) {
		t.Errorf("an event of a series has of its own %q", parts)
	}
	var other Event
	other.Take(Fields{Texts: given}.Common(e), other.Span, nil)
	if other.Texts != e.Texts {
		t.Errorf("the others of the series take %+v", other.Texts)
	}
	hidden, confidential := e, category.Category{Flags: category.Flags{Confidential: true}}
	lens{of: map[int64]category.Category{0: confidential}}.redact(&hidden)
	if hidden.Texts != (Texts{Body: RedactedBody}) {
		t.Errorf("redacted: %+v", hidden.Texts)
	}
	e.forget(erasure.NewTexts([]string{"Anna"}, "a person"))
	for _, text := range e.Texts.All() {
		if strings.Contains(*text.Value, "Anna") {
			t.Errorf("erased: %s is %q", text.Name, *text.Value)
		}
	}
}
