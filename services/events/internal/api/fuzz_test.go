package api

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// elementsByTheBook is the slow model of elements: any JSON, looked at as a whole.
func elementsByTheBook(t *testing.T, raw []byte) (submitted []event.Submitted, readable bool) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	values, isArray := value.([]any)
	switch value.(type) {
	case nil:
		return nil, true
	case bool, map[string]any:
		return nil, false
	case string, json.Number:
		values = []any{value}
	}
	if isArray {
		submitted = []event.Submitted{}
	}
	for _, v := range values {
		var s event.Submitted
		switch v := v.(type) {
		case string:
			s.Text = v
		case json.Number:
			s.Text = v.String()
		default:
			submitted = append(submitted, s) // its text is its JSON, however it is spaced
			continue
		}
		s.ID, _ = web.ParseID(s.Text)
		submitted = append(submitted, s)
	}
	return submitted, true
}

func FuzzReadElements(f *testing.F) {
	for _, text := range []string{`["68","90",90,68,"nobody"]`, `68`, `"68"`, `[]`, `null`, `{}`, `true`,
		`[[1],{"a":1},null,true,"\u0036"]`, `[9223372036854775808, 1e3, "01"]`, `""`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := web.ParseObject([]byte(`{"elements":` + string(raw) + `}`))
		if err != nil || len(o) != 1 {
			return
		}
		want, readable := elementsByTheBook(t, o["elements"])
		faults := problem.Fields{}
		got, err := readElements(o, faults)
		if len(want) > event.MaxSubmitted {
			if err != nil || got != nil || len(faults["elements"]) != 1 {
				t.Fatalf("%d elements: %d, %v, %v", len(want), len(got), faults, err)
			}
			return
		}
		if (err == nil) != readable || len(got) != len(want) || len(faults) > 0 {
			t.Fatalf("%s: %+v, %v, %v; by the book %+v", raw, got, faults, err, want)
		}
		for i, s := range got {
			if s.ID != want[i].ID || (want[i].Text != "" && s.Text != want[i].Text) {
				t.Fatalf("%s: entry %d is %+v; by the book %+v", raw, i, s, want[i])
			}
		}
	})
}

// FuzzReadFields holds that fields that were read without a fault, written again, are read as the same; and that
// faults are of fields that were given.
func FuzzReadFields(f *testing.F) {
	for _, text := range []string{
		`{"body":"Maths","event_category_id":"2","starts_at_text":"2019-04-10 09:00","all_day_field":"true"}`,
		`{"eventcategory_id":2,"event_category_id":"2"}`,
		`{"eventcategory_id":2,"event_category_id":"3"}`, `{"organiser_id":null}`, `{"organiser_id":""}`,
		`{"organiser_id":"x","starts_at":5,"ends_at":[],"all_day":1}`,
		`{"event_category_id":""}`, `{"body":null,"starts_at":"\ud800"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := web.ParseObject(raw)
		if err != nil {
			return
		}
		fields := readFields(o)
		for field := range fields.Faults {
			others := map[string]string{categoryField: categoryOther, "all_day": "all_day_field"}
			if !o.Has(field) && !o.Has(others[field]) {
				t.Fatalf("%s: a fault of %s, which is not there", raw, field)
			}
		}
		if len(fields.Faults) > 0 {
			return
		}
		written := map[string]any{"body": fields.Body, "eventcategory_id": fields.CategoryID}
		if fields.OrganiserID != nil {
			written["organiser_id"] = *fields.OrganiserID
			if *fields.OrganiserID == 0 {
				written["organiser_id"] = nil
			}
		}
		span, err := json.Marshal(fields.Span)
		if err == nil {
			err = json.Unmarshal(span, &written)
		}
		if err != nil {
			t.Fatal(err)
		}
		servicetest.ReadsBack(t, written, readFields, fields)
	})
}
