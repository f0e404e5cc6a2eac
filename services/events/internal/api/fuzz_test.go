package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/importer"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// elementsByTheBook is the slow model of elements: it reads any JSON as a whole.
func elementsByTheBook(t *testing.T, raw []byte) (submitted []event.Submitted, readable bool) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	errortest.None(t, decoder.Decode(&value))
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
	for _, text := range []string{`["68","90",90,68,"stranger"]`, `68`, `"68"`, `[]`, `null`, `{}`, `true`,
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
		`{"event_category_id":""}`, `{"body":"\u0000\u200b"}`, `{"body":null,"starts_at":"\ud800"}`,
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
		written := map[string]any{"eventcategory_id": fields.CategoryID}
		for name, text := range fields.Texts {
			written[name] = text
		}
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
		errortest.None(t, err)
		servicetest.ReadsBack(t, written, readFields, fields)
	})
}

// FuzzReadRecords holds of an imported event, a category and a webhook that faults are of fields that were given, that
// an event's row is read as its fields are by PATCH, and that a list of texts is read as any JSON is.
func FuzzReadRecords(f *testing.F) {
	for _, text := range []string{
		`{"body":"Maths","category":"1","starts_at":"2026-09-07 09:00","ends_at":"x","elements":["Staff:17"],"owner":null}`,
		`{"name":"Fixture","pecking_order":"20","publish":"true","busy":1}`, `{"pecking_order":9007199254740993}`,
		`{"url":"https://hooks.school.example/","kinds":["commitment.requested"],"active":"false"}`, `{"kinds":[null]}`,
		`{"kinds":{},"elements":[1]}`, `{"kinds":"x","elements":"x","all_day":"maybe"}`,
		`{"elements":[null,"a"],"kinds":null}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := web.ParseObject(raw)
		if err != nil {
			return
		}
		row, kind, webhook := readRow(importer.Record{Fields: o}), readCategoryFields(o), readWebhook(o)
		for _, faults := range []problem.Fields{row.Fields.Faults, kind.Faults, webhook.Faults} {
			for field := range faults {
				if !o.Has(field) {
					t.Fatalf("%s: a fault of %s, which is not there", raw, field)
				}
			}
		}
		fields := readFields(o)
		if got, want := row.Fields.Span.StartsAt, fields.Span.StartsAt; !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: a row starts at %v, an event at %v", raw, got, want)
		}
		if got, want := row.Fields.Texts, fields.Texts; !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: the texts of a row are %v, of an event %v", raw, got, want)
		}
		for flag := range kind.Flags {
			if !slices.Contains(category.FlagNames(), flag) {
				t.Fatalf("%s: a flag %q", raw, flag)
			}
		}
		if webhook.Kinds != nil && !isListOfTexts(o["kinds"], len(*webhook.Kinds)) {
			t.Fatalf("%s: the kinds %q", raw, *webhook.Kinds)
		}
		if len(row.Fields.Faults["elements"]) == 0 && len(row.Elements) > 0 && !isListOfTexts(o["elements"],
			len(row.Elements)) {
			t.Fatalf("%s: the elements %q", raw, row.Elements)
		}
	})
}

// isListOfTexts says whether JSON is a list of n texts; null stands for an empty one.
func isListOfTexts(raw json.RawMessage, n int) bool {
	var list []any
	if json.Unmarshal(raw, &list) != nil || len(list) != n {
		return false
	}
	for _, v := range list {
		if _, ok := v.(string); !ok && v != nil {
			return false
		}
	}
	return true
}

// Each repetition was asked for again, of each element that the caller decides on.
func TestDecisionsPart5_AStatusThatIsRepeatedIsAskedForOnce(t *testing.T) {
	app := fiber.New()
	c := app.AcquireCtx(&fasthttp.RequestCtx{})
	defer app.ReleaseCtx(c)
	c.Request().URI().SetQueryString("status=noted,requested,noted,%20noted")
	want := []event.Status{event.Noted, event.Requested}
	if got, err := readStatuses(c); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzReadQueries holds that the lists' queries are read as statuses, or refused with Bad request.
func FuzzReadQueries(f *testing.F) {
	for _, query := range []string{
		"status=requested,%20noted", "status=", "status=,", "status=x", "status=requested%00",
	} {
		f.Add(query)
	}
	app := fiber.New(fiber.Config{Immutable: true})
	f.Fuzz(func(t *testing.T, query string) {
		c := app.AcquireCtx(&fasthttp.RequestCtx{})
		defer app.ReleaseCtx(c)
		c.Request().URI().SetQueryString(query)
		statuses, err := readStatuses(c)
		for _, status := range statuses {
			if !status.Valid() {
				t.Fatalf("%q: %q", query, statuses)
			}
		}
		if err != nil && problem.As(err).Kind != problem.Malformed {
			t.Fatalf("%q: %v", query, err)
		}
	})
}
