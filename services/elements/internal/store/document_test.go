package store

import (
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// A record that is stored and read again is the same, whichever fields it has, and each field has a name of its own in
// the store, which stays when the field is renamed in Go.
func TestDocuments_KeepEachFieldOfTheirRecords(t *testing.T) {
	var e element.Element
	fill(t, reflect.ValueOf(&e).Elem())
	keeps(t, e, (*elementDocument).set, (*elementDocument).element)
	keeps(t, element.Element{ID: 1}, (*elementDocument).set, (*elementDocument).element)

	var m element.Membership
	fill(t, reflect.ValueOf(&m).Elem())
	keeps(t, m, (*membershipDocument).set, (*membershipDocument).membership)
	keeps(t, element.Membership{ID: 1}, (*membershipDocument).set, (*membershipDocument).membership)

	var r element.Erasure
	fill(t, reflect.ValueOf(&r).Elem())
	keeps(t, r, (*erasureDocument).set, (*erasureDocument).erasure)

	var f element.Feed
	fill(t, reflect.ValueOf(&f).Elem())
	keeps(t, f, (*feedDocument).set, (*feedDocument).feed)

	for _, of := range []any{e, e.Details, m, m.Sources[0], r, f} {
		for field := range reflect.TypeOf(of).Fields() {
			valuetest.Holds(t, field.Tag.Get("bson") != "", "%s of %T has no name in the store", field.Name, of)
		}
	}
}

// keeps stores a record in a document and reads it again.
func keeps[D, R any](t *testing.T, r R, set func(*D, R), record func(*D) R) {
	t.Helper()
	var d, again D
	set(&d, r)
	if version := reflect.ValueOf(r).FieldByName("Version"); version.IsValid() { // mongostore sets it
		reflect.ValueOf(&d).Elem().FieldByName("Version").SetInt(version.Int())
	}
	stored, err := bson.Marshal(d)
	errortest.None(t, err)
	errortest.None(t, bson.Unmarshal(stored, &again))
	if got := record(&again); !reflect.DeepEqual(got, r) {
		t.Errorf("stored as %s\n%+v, read %+v", bson.Raw(stored), r, got)
	}
}

// fill gives each field a value that is not zero, and each list an item.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Struct:
		if at, isTime := v.Addr().Interface().(*time.Time); isTime {
			*at = time.Unix(1788768000, 0).UTC()
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		t.Fatalf("a field of the kind %s", v.Kind())
	}
}
