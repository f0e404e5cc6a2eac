package form_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// fill sets all of a value at random, whatever fields it has, down to a depth.
func fill(t *rapid.T, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		odd := []rune("a\"\\</>&\u2028\u2029\x00\b\f\n\x7f👩é")
		v.SetString(rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom(odd)),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.Int64(), rapid.Just(int64(0))).Draw(t, "number"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Pointer:
		if depth > 0 && rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			var event form.Event
			fill(t, reflect.ValueOf(&event).Elem(), depth-1)
			v.SetBytes(form.AppendEvent(nil, &event))
			return
		}
		n := rapid.IntRange(-1, 2).Draw(t, "length")
		if depth == 0 || n < 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i), depth-1)
		}
	case reflect.Map:
		if rapid.Bool().Draw(t, "faults") {
			v.Set(reflect.ValueOf(map[string][]string{"b": {"<"}, "a": nil}).Convert(v.Type()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), depth)
		}
	default:
		t.Fatalf("Append and this test know no %s", v.Type())
	}
}

func TestAppendEventWith_WritesWhatTheEventWouldBeWithStaffAndLocations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var event form.Event
		fill(t, reflect.ValueOf(&event).Elem(), 4)
		without := event
		without.Staff, without.Locations = nil, nil
		got := form.AppendEventWith([]byte("before "), form.AppendEvent(nil, &without), event.Staff, event.Locations)
		if want := form.AppendEvent([]byte("before "), &event); !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

// TestWhatIsAppendedIsWhatEncodingJSONWrites fails when a field was added to a shape and not to Append.
func TestWhatIsAppendedIsWhatEncodingJSONWrites(t *testing.T) {
	for _, shape := range []any{form.Element{}, form.Event{}, form.Commitment{}, form.Request{}, fact.Commitment{}} {
		is := reflect.TypeOf(shape)
		t.Run(is.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := reflect.New(is)
				fill(t, v.Elem(), 4)
				var want bytes.Buffer
				errortest.None(t, json.NewEncoder(&want).Encode(v.Interface()))
				got, known := fact.Append([]byte("before "), v.Interface())
				if !known || string(got)+"\n" != "before "+want.String() {
					t.Fatalf("got  %s\nwant %s", got, &want)
				}
				if is == reflect.TypeFor[fact.Commitment]() {
					return
				}
				itself, known := form.Append(nil, v.Elem().Interface())
				if !known || "before "+string(itself) != string(got) {
					t.Fatalf("got  %s\nwant %s", itself, got)
				}
			})
		})
	}
	for _, none := range []any{
		(*form.Element)(nil), (*form.Event)(nil), (*form.Commitment)(nil), (*form.Request)(nil),
	} {
		if got, known := form.Append(nil, none); !known || string(got) != "null" {
			t.Errorf("%T: %s, %v", none, got, known)
		}
	}
	// What embeds a shape has more fields.
	for _, other := range []any{
		fact.Event{}, &fact.Event{}, struct{ form.Element }{}, (*fact.Commitment)(nil), nil, 1,
	} {
		if got, known := fact.Append(nil, other); known || got != nil {
			t.Errorf("%T: %s", other, got)
		}
	}
}
