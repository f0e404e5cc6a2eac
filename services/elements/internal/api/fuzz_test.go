package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// FuzzReadDays compares the days of a membership with what the time package makes of them, and holds that days that
// are shown are read as the same.
func FuzzReadDays(f *testing.F) {
	for _, days := range [][2]string{{`"2026-09-01"`, `null`}, {`""`, `"2026-02-29"`}, {`"0001-01-01"`, `"9999-12-31"`},
		{`20260901`, `"open"`}, {`"2026-09-01 "`, `"\u0032026-09-01"`}} {
		f.Add([]byte(days[0]), []byte(days[1]))
	}
	f.Fuzz(func(t *testing.T, first, last []byte) {
		o, err := web.ParseObject([]byte(`{"first_day":` + string(first) + `,"last_day":` + string(last) + `}`))
		if err != nil || len(o) != 2 {
			return
		}
		faults := problem.Fields{}
		days := readDays(o, faults)
		for name, open := range map[string]wiretime.Day{"first_day": wiretime.FirstDay, "last_day": wiretime.LastDay} {
			want, ok := dayByTheBook(t, o[name], open)
			got := map[string]wiretime.Day{"first_day": days.First, "last_day": days.Last}[name]
			if (len(faults[name]) == 0) != ok || got != want {
				t.Fatalf("%s of %s: %v, %v; by the book %v, %v", name, o[name], got, faults, want, ok)
			}
		}
		shown, err := json.Marshal(membershipOf(element.Member{Days: days}))
		errortest.None(t, err)
		again, err := web.ParseObject(shown)
		errortest.None(t, err)
		valuetest.MustSame(t, readDays(again, problem.Fields{}), days, "%v is shown as %s and read as", days, shown)
	})
}

func dayByTheBook(t *testing.T, raw json.RawMessage, open wiretime.Day) (wiretime.Day, bool) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return open, false // a number beyond all bounds
	}
	text, isText := value.(string)
	if value == nil || (isText && text == "") {
		return open, true
	}
	at, err := time.Parse(time.DateOnly, text)
	if !isText || err != nil || at.Year() < 1 || at.Format(time.DateOnly) != text {
		return open, false
	}
	day := timetest.Day(t, at.Format(time.DateOnly))
	return day, true
}

// FuzzReadDraft holds that a draft read without a fault, written again, is read as the same: null and empty texts
// both empty a field.
func FuzzReadDraft(f *testing.F) {
	for _, text := range []string{
		`{"entity_type":"Staff","forename":"A","email":null}`, `{"resource":"true","make_public":null,"uuid":"x"}`,
		`{"name":5}`, `{"current":"yes"}`, `{"surname":"\ud800","name":""}`, `{"name":"\u0000\u200b"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := web.ParseObject(raw)
		if err != nil {
			return
		}
		d := readDraft(o)
		for field := range d.Faults {
			valuetest.MustHold(t, o.Has(field), "%s: a fault of %s, which is not there", raw, field)
		}
		if len(d.Faults) > 0 {
			return
		}
		written := map[string]any{"entity_type": d.EntityType, "uuid": d.UUID}
		for name, text := range d.Texts {
			written[name] = text
		}
		for name, flag := range d.Flags {
			written[name] = flag
		}
		servicetest.ReadsBack(t, written, readDraft, d)
	})
}

// FuzzReadMembership holds that the days and changes of a row, written again, are read as the same, and that a fault is
// of a field that was given.
func FuzzReadMembership(f *testing.F) {
	for _, text := range []string{
		`{"spans":[{"first_day":"2026-09-01","last_day":null,"source":"e1"},{}]}`, `{"spans":[1,{"first_day":5}]}`,
		`{"changes":[{"source":"e1","ends_before":"2026-09-01"},{"first_day":"2026-02-29"}]}`,
		`{"spans":{},"changes":"x"}`,
		`{"spans":null,"changes":[]}`, `{"changes":[null]}`, `{"changes":[{"ends_before":""}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := web.ParseObject(raw)
		if err != nil {
			return
		}
		m := readRowDays(o)
		for field := range m.faults {
			if (field != "spans" && field != "changes") || !o.Has(field) {
				t.Fatalf("%s: a fault of %s", raw, field)
			}
		}
		if len(m.faults) > 0 {
			return
		}
		written := map[string]any{}
		if m.days != nil {
			spans := sequence.Map(m.days, func(d element.Sourced) any { return sourced(d) })
			written["spans"] = spans
		}
		if m.changes != nil {
			list := make([]any, len(m.changes))
			for i, c := range m.changes {
				fields := sourced(c.Sourced)
				if c.Before != nil {
					fields["ends_before"] = c.Before.String()
				}
				list[i] = fields
			}
			written["changes"] = list
		}
		servicetest.ReadsBack(t, written, readRowDays, m)
	})
}

// rowDays are what a row of an import has of a membership's days.
type rowDays struct {
	days    []element.Sourced
	changes []element.MembershipChange
	faults  problem.Fields
}

func readRowDays(o web.Object) rowDays {
	m := rowDays{faults: problem.Fields{}}
	m.days, m.changes = readSourcedDays(o, m.faults), readChanges(o, m.faults)
	return m
}

// sourced writes days as a row has them.
func sourced(s element.Sourced) map[string]any {
	fields := map[string]any{"source": s.Source}
	if s.Days.First != wiretime.FirstDay {
		fields["first_day"] = s.Days.First.String()
	}
	if s.Days.Last != wiretime.LastDay {
		fields["last_day"] = s.Days.Last.String()
	}
	return fields
}

// FuzzReadIDs compares a list of ids with its words looked at one by one.
func FuzzReadIDs(f *testing.F) {
	for _, text := range []string{"1,2,3", "1, 1 ,2", "", ",", "1,,2", "01", "9223372036854775808", "1,x",
		"\t7\u00a0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := web.ParseIDs("elements", text, element.MaxFreeBusy)
		want, ok := []int64{}, true
		for _, word := range strings.Split(text, ",") {
			id, is := web.ParseID(strings.TrimSpace(word))
			if ok = ok && is; is && !slices.Contains(want, id) {
				want = append(want, id)
			}
		}
		ok = ok && len(want) <= element.MaxFreeBusy
		valuetest.MustSame(t, ok, err == nil, "%q: %v, %v", text, got, err)
		if ok && !slices.Equal(got, want) {
			t.Fatalf("%q: %v; by the book %v", text, got, want)
		}
	})
}
