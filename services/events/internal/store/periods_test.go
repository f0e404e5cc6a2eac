package store

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

func TestPeriods(t *testing.T) {
	const september, october = monthBase + 680, monthBase + 681 // of 2026
	const y2026, y2027 = yearBase + 56, yearBase + 57
	const twenties = decadeBase + 5
	for name, c := range map[string]struct {
		days             wiretime.Days
		carried, covered []int64
	}{
		"a day": {timetest.Days(t, "2026-09-07", "2026-09-07"), []int64{twenties, 20703, september},
			[]int64{y2026, 20703}},
		"over a month": {timetest.Days(t, "2026-09-30", "2026-10-01"),
			[]int64{twenties, 20726, 20727, september, october},
			[]int64{y2026, 20726, 20727}},
		"two months": {timetest.Days(t, "2026-09-01", "2026-10-31"), []int64{twenties, y2026},
			[]int64{y2026, september, october}},
		"most of a month": {timetest.Days(t, "2026-09-16", "2026-10-02"), nil, []int64{y2026, september, 20727, 20728}},
		"over New Year": {timetest.Days(t, "2026-11-01", "2027-01-31"), []int64{twenties, y2026, y2027},
			[]int64{y2026, y2027, monthBase + 682, monthBase + 683, monthBase + 684}},
		"the last day": {timetest.Days(t, "2199-12-31", "2199-12-31"),
			[]int64{decadeBase + 22, 84005, monthBase + 2759},
			[]int64{yearBase + 229, 84005}},
		"a decade": {timetest.Days(t, "2020-01-01", "2029-12-31"), nil, []int64{twenties}},
		"over decades": {timetest.Days(t, "2019-12-31", "2030-01-01"), nil,
			[]int64{yearBase + 49, 18261, twenties, yearBase + 60, 21915}},
		"beyond all days": {timetest.Days(t, "2200-01-01", "9999-12-31"), nil, nil},
		"before all days": {timetest.Days(t, "0001-01-01", "1969-12-31"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := periodsOf(c.days, mostPeriods(4, 4)); c.carried != nil && !slices.Equal(got, c.carried) {
				t.Errorf("an event carries %v, want %v", got, c.carried)
			}
			if c.covered != nil {
				c.covered = append([]int64{allTime}, c.covered...)
			}
			valuetest.List(t, covering(c.days), c.covered, "a range is covered by")
		})
	}
}

// An event is found by exactly the ranges that it touches, or by ranges so near that reading it is cheap.
func TestPeriodsFindWhatARangeTouchesAndLittleBesides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		event := drawDays(t, "event")
		asked := drawDays(t, "range")
		elements := rapid.OneOf(rapid.IntRange(1, 97), rapid.IntRange(1, 1500)).Draw(t, "elements")
		most := mostPeriods(elements, rapid.IntRange(0, elements).Draw(t, "waiting"))
		found := slices.ContainsFunc(periodsOf(event, most),
			func(p int64) bool { return slices.Contains(covering(asked), p) })
		touches := event.First <= asked.Last && event.Last >= asked.First
		if touches && !found {
			t.Fatalf("an event of %v to %v is not found by %v to %v", event.First, event.Last, asked.First, asked.Last)
		}
		gap := max(event.First-asked.Last, asked.First-event.Last)
		few := elements <= 97 // enough periods for each day of a short event
		if found && few && event.Last-event.First < maxDays && gap > 31-mostOfMonth {
			t.Fatalf("an event of %v to %v is read for %v to %v", event.First, event.Last, asked.First, asked.Last)
		}
	})
}

func TestAnEventOfAnyLengthCarriesFewPeriods(t *testing.T) {
	for first := wiretime.FirstEventDay; first <= wiretime.LastEventDay; first += 997 {
		for last := first; last <= wiretime.LastEventDay; last += 13 {
			if n := len(periodsOf(wiretime.Days{First: first, Last: last}, mostPeriods(1, 1))); n > 253 {
				t.Fatalf("%v to %v: %d periods", first, last, n)
			}
		}
	}
}

func TestARangeOfAnyLengthHasFewPeriods(t *testing.T) {
	for first := wiretime.FirstEventDay; first < 60; first++ {
		for last := wiretime.LastEventDay - 60; last <= wiretime.LastEventDay; last++ {
			if n := len(covering(wiretime.Days{First: first, Last: last})); n > 308 {
				t.Fatalf("%v to %v: %d periods", first, last, n)
			}
		}
	}
}

// keysOfIndex counts the keys that a document has in an index: those of one array at most.
func keysOfIndex(t *testing.T, document bson.Raw, index mongostore.Index) int {
	t.Helper()
	keys := 1
	for _, key := range index.Keys {
		if n := countValues(t, document, strings.Split(key.Key, ".")); n > keys {
			keys = n
		}
	}
	return keys
}

// countValues counts the different values of a path.
func countValues(t *testing.T, document bson.Raw, path []string) int {
	t.Helper()
	v, err := document.LookupErr(path[0])
	if err != nil || v.Type != bson.TypeArray {
		return 1
	}
	list, err := v.Array().Values()
	errortest.None(t, err)
	distinct := map[string]bool{}
	for _, item := range list {
		if len(path) > 1 {
			item = item.Document().Lookup(path[1:]...)
		}
		distinct[item.String()] = true
	}
	return len(distinct)
}

func TestCommitmentsComeBackFromWhatIsStoredInBrief(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Custom(func(t *rapid.T) event.Commitment {
			return event.Commitment{
				ID: rapid.Int64().Draw(t, "id"), ElementID: rapid.Int64().Draw(t, "element"),
				Status: rapid.SampledFrom(event.Statuses()).Draw(t, "status"),
			}
		})).Draw(t, "commitments")
		brief := briefOf(want)
		if got := commitmentsOf(brief); !slices.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
		if n := len(brief); n > 0 { // cut off, or of a later release
			brief[n-1] = 99
			if got := commitmentsOf(brief); got != nil {
				t.Fatalf("got %v", got)
			}
			if got := commitmentsOf(brief[:n-1]); got != nil {
				t.Fatalf("got %v", got)
			}
		}
	})
}

// TestAnEventReadInBriefIsWhatItsDocumentSays compares with the decoder of the driver, also of numbers of other types
// and of fields that no release knows.
func TestAnEventReadInBriefIsWhatItsDocumentSays(t *testing.T) {
	moments := rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMilli(rapid.Int64Range(-1<<45, 1<<45).Draw(t, "ms")).UTC()
	})
	rapid.Check(t, func(t *rapid.T) {
		var number any = rapid.Int64().Draw(t, "category")
		if rapid.Bool().Draw(t, "small") {
			number = rapid.Int32().Draw(t, "category")
		}
		stored := bson.D{
			{Key: "_id", Value: rapid.Int64().Draw(t, "id")}, {Key: "version", Value: rapid.Int64().Draw(t, "version")},
			{Key: "body", Value: rapid.String().Draw(t, "body")}, {Key: "category_id", Value: number},
			{Key: "starts", Value: moments.Draw(t, "starts")}, {Key: "ends", Value: moments.Draw(t, "ends")},
			{Key: "all_day", Value: rapid.Bool().Draw(t, "all_day")},
			{Key: "owner_id", Value: rapid.Int64().Draw(t, "owner")},
			{Key: "organiser_id", Value: rapid.Int64().Draw(t, "organiser")},
			{Key: "later", Value: bson.D{{Key: "brief", Value: bson.A{1, nil}}}},
		}
		if rapid.Bool().Draw(t, "is modified") {
			stored = append(stored, bson.E{Key: "modified", Value: moments.Draw(t, "modified")})
		}
		switch rapid.IntRange(0, 2).Draw(t, "brief") {
		case 0:
			stored = append(stored, bson.E{Key: "brief", Value: nil})
		case 1:
			stored = append(stored, bson.E{Key: "brief", Value: rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")})
		}
		raw, err := bson.Marshal(rapid.Permutation(stored).Draw(t, "fields"))
		errortest.None(t, err)
		var d eventDocument
		errortest.None(t, bson.Unmarshal(raw, &d))
		var e briefEvent
		errortest.None(t, e.UnmarshalBSON(raw))
		clear(raw[4:]) // the cursor's next document
		got, want := e.event(), d.event()
		want.Commitments = commitmentsOf(d.Brief)
		if len(got.Commitments) == 0 && len(want.Commitments) == 0 { // no list and an empty one are the same
			got.Commitments, want.Commitments = nil, nil
		}
		valuetest.MustHold(t, reflect.DeepEqual(got, want), "got  %+v\nwant %+v", got, want)
		for _, length := range []int{0, 3, 4, len(raw) - 1} {
			if err := new(briefEvent).UnmarshalBSON(raw[:length]); err == nil {
				t.Fatalf("%d of %d bytes are read", length, len(raw))
			}
		}
	})
	// Each field that is read of an event in brief is known: as a document it is of the wrong type.
	wrong := map[string]any{"_id": "1"}
	for _, field := range inBrief {
		wrong[field.Key] = bson.D{}
	}
	for field, value := range wrong {
		raw, err := bson.Marshal(bson.D{{Key: field, Value: value}})
		errortest.None(t, err)
		errortest.Says(t, new(briefEvent).UnmarshalBSON(raw), field, "%s %v", field, value)
	}
}

func TestHardToBreak_Row04_AnEventOfAnySizeAndLengthHasAtMost5000IndexKeys(t *testing.T) {
	z := timetest.London(t)
	indexes := eventIndexes()
	lengths := []int{0, 1, 2, 7, 30, 41, 42, 43, 365, 366, 3652, 3653, 36524, 84005}
	most, worst := 0, ""
	for _, elements := range []int{0, 1, 4, 17, 94, 95, 120, 200, 500, 800, 960, 1000, 1200, 1499, 1500} {
		for _, waiting := range []bool{false, true} {
			for _, days := range lengths {
				e := sizable(elements, waiting, days)
				var d eventDocument
				d.set(e, z, &titles{now: time.Now})
				d.Outbox, d.Audit = make([]outbox.Message, 8), make([]audit.Entry, 8)
				data, err := bson.Marshal(&d)
				errortest.None(t, err)
				keys := 1 // its id
				for _, index := range indexes {
					keys += keysOfIndex(t, data, index)
				}
				if keys > most {
					most, worst = keys, fmt.Sprintf("%d elements, waiting %v, %d days", elements, waiting, days)
				}
			}
		}
	}
	t.Logf("at most %d keys: %s", most, worst)
	valuetest.Holds(t, most <= 5000, "%d index keys, want at most 5000: %s", most, worst)
}

// sizable is an event with that many elements, half of them requested from groups, that touches so many days and one.
// All that can wait for an administrator does when it is asked for.
func sizable(elements int, waiting bool, days int) event.Event {
	starts := time.Date(2199, 12, 31, 9, 0, 0, 0, time.UTC).AddDate(0, 0, -days)
	e := event.Event{ID: 1, Key: "k", Span: wiretime.Span{Starts: starts, Ends: starts.AddDate(0, 0, days)}}
	for i := range elements {
		id := int64(i + 1)
		c := event.Commitment{ID: id, ElementID: id, Status: event.Uncontrolled}
		r := event.Request{ID: id, ElementID: id, Quantity: 0}
		if waiting {
			c.Status, r.Quantity = event.Requested, 2
		}
		if i%2 == 0 {
			e.Commitments = append(e.Commitments, c)
		} else {
			e.Requests = append(e.Requests, r)
		}
	}
	for i := range 50 {
		at := starts.Add(time.Duration(i) * time.Hour)
		e.IdempotencyRecords = append(e.IdempotencyRecords, event.IdempotencyRecord{Key: fmt.Sprint(i), At: at})
	}
	return e
}

func drawDays(t *rapid.T, name string) wiretime.Days {
	first := wiretime.Day(rapid.IntRange(18100, 18500).Draw(t, name)) // around 2020-01-01, where a decade begins
	length := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 60), rapid.IntRange(0, 800),
		rapid.IntRange(0, 9000), rapid.IntRange(0, 80000)).Draw(t, name+" length")
	return wiretime.Days{First: first, Last: first + wiretime.Day(length)}
}
