package event

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Everything that is done with the texts of an event is done with each: a field that All leaves out fails here.
func TestTexts_EachIsReadComparedSharedErasedAndRedacted(t *testing.T) {
	names := TextNames()
	valuetest.MustSame(t, reflect.TypeFor[Texts]().NumField(), len(names), "fields, but All has %q", names)
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
	valuetest.Len(t, differences(&e, &Event{}), len(names), "an event of a series has of its own")
	var other Event
	other.Take(Fields{Texts: given}.Common(e), other.Span, nil)
	valuetest.Same(t, other.Texts, e.Texts, "the others of the series take")
	hidden, confidential := e, category.Category{Flags: category.Flags{Confidential: true}}
	lens{of: map[int64]category.Category{0: confidential}}.redact(&hidden)
	valuetest.Same(t, hidden.Texts, Texts{Body: RedactedBody}, "redacted")
	e.forget(erasure.NewTexts([]string{"Anna"}, "a person"))
	for _, text := range e.Texts.All() {
		valuetest.Lacks(t, *text.Value, "Anna", "erased: %s is", text.Name)
	}
}
