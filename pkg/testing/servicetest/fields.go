package servicetest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// ReadsBack fails the test unless fields, written as JSON and read again, are what was read before.
func ReadsBack[T any](t *testing.T, written map[string]any, read func(web.Object) T, before T) {
	t.Helper()
	text, err := json.Marshal(written)
	errortest.None(t, err)
	again, err := web.ParseObject(text)
	errortest.None(t, err)
	if got := read(again); !reflect.DeepEqual(got, before) {
		t.Fatalf("written as %s: %+v, before %+v", text, got, before)
	}
}

// With returns fields with others instead of them or beside them; pairs are names and values. A field of the value nil
// is left out.
func With(fields map[string]any, pairs ...any) map[string]any {
	for i := 0; i+1 < len(pairs); i += 2 {
		if name := pairs[i].(string); pairs[i+1] == nil {
			delete(fields, name)
		} else {
			fields[name] = pairs[i+1]
		}
	}
	return fields
}
