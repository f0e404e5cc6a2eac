package store

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// giveTexts gives each element a text of its own in every field by whose text a filter chooses, but the type.
func giveTexts(elements []element.Element) {
	for field := range reflect.TypeFor[element.Filter]().Fields() {
		if field.Type.Kind() != reflect.String || field.Name == "EntityType" {
			continue
		}
		for i := range elements {
			if text := reflect.ValueOf(&elements[i]).Elem().FieldByName(field.Name); text.IsValid() {
				text.SetString(fmt.Sprint(field.Name, " ", i))
			}
		}
	}
}

// filters returns a filter by each field alone: by what e has in the field of that name, or by a sample of its type.
// Each must match e, and not all of the elements.
func filters(t *testing.T, e element.Element, elements []element.Element) (all []element.Filter) {
	t.Helper()
	for field := range reflect.TypeFor[element.Filter]().Fields() {
		var f element.Filter
		sample, own := reflect.ValueOf(&f).Elem().FieldByIndex(field.Index), reflect.ValueOf(e).FieldByName(field.Name)
		switch sample.Interface().(type) {
		case bool:
			sample.SetBool(true)
		case []int64:
			sample.Set(reflect.ValueOf([]int64{e.ID}))
		case *element.Seen:
			sample.Set(reflect.ValueOf(&element.Seen{IDs: []int64{e.ID}}))
		default:
			valuetest.MustHold(t, own.IsValid(), "%s is no field of an element: give a sample of it here", field.Name)
			if field.Type.Kind() == reflect.Pointer {
				sample.Set(reflect.New(field.Type.Elem()))
				sample = sample.Elem()
			}
			sample.Set(own)
		}
		matches := func(e element.Element) bool { return f.Matches(&e) }
		if !matches(e) || !slices.ContainsFunc(elements, func(e element.Element) bool { return !matches(e) }) {
			t.Errorf("a filter by %s does not match %+v, or matches all", field.Name, e)
		}
		all = append(all, f)
	}
	return all
}

// TestElements_TheStoreListsWhatAFilterMatches compares the store's query with Filter.Matches, which chooses among
// elements in memory, by each of its fields, over each combination of type and currency.
func TestElements_TheStoreListsWhatAFilterMatches(t *testing.T) {
	s, _ := open(t)
	types := []string{form.Pupil, form.Subject, form.Property}
	var stored []element.Element
	for i := range 60 {
		e := elementNamed(types[rand.IntN(len(types))], "E")
		e.Current = i == 0 || rand.IntN(2) == 0
		e.MakePublic = []*bool{nil, new(false), new(true)}[rand.IntN(3)]
		if i == 0 || rand.IntN(2) == 0 {
			e.Administrators = []int64{7}
		}
		stored = append(stored, e)
	}
	giveTexts(stored)
	stored = add(t, s, stored...)
	some := idsOf(stored[10:40])
	for _, f := range append(filters(t, stored[0], stored),
		element.Filter{}, element.Filter{IDs: some}, element.Filter{IDs: []int64{}},
		element.Filter{Seen: &element.Seen{}},
		element.Filter{Seen: &element.Seen{IDs: some, Types: []string{form.Subject}}},
	) {
		for _, f.EntityType = range append(types, "") {
			for _, f.Current = range []*bool{nil, new(true), new(false)} {
				var want []int64
				for _, e := range stored {
					if f.Matches(&e) {
						want = append(want, e.ID)
					}
				}
				found, err := s.Elements.List(t.Context(), f, 0, len(stored))
				if got := idsOf(found); err != nil || !slices.Equal(got, want) {
					t.Errorf("%+v: the store lists %v, the filter matches %v (%v)", f, got, want, err)
				}
			}
		}
	}
}
