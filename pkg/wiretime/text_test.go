package wiretime

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

var momentForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d` +
	`([ T]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?)?$`)

var (
	slashForm    = regexp.MustCompile(`^(\d\d?)/(\d\d?)/(\d{4})`)
	shortHour    = regexp.MustCompile(`^(.{10}[ T])(\d:)`)
	nextMidnight = regexp.MustCompile(`^(.{10})([ T])24:00(:00(\.0{1,9})?)?($|[Z+-])`)
)

// canonical writes a text in the form that parseByTheBook reads: slashes by the order, hours of one digit with two, and
// 24:00 as the midnight after it.
func canonical(text string, order DateOrder) string {
	if order != ISO {
		if slashes := slashForm.FindStringSubmatch(text); slashes != nil {
			d, m := slashes[1], slashes[2]
			if order == MonthDayYear {
				d, m = m, d
			}
			text = slashes[3] + "-" + fmt.Sprintf("%02s-%02s", m, d) + text[len(slashes[0]):]
		}
		text = shortHour.ReplaceAllString(text, "${1}0$2")
	}
	if parts := nextMidnight.FindStringSubmatch(text); parts != nil {
		// The midnight after the last day of year 0 is in year 1, but the date is of no year that is read.
		if day, err := time.Parse(time.DateOnly, parts[1]); err == nil && day.Year() > 0 {
			next := day.AddDate(0, 0, 1).Format(time.DateOnly)
			text = strings.Replace(text, parts[1]+parts[2]+"24", next+parts[2]+"00", 1)
		}
	}
	return text
}

// parseByTheBook is the slow model of parseMoment: the form by a regular expression, the values by the time
// package. The expression checks the range of the offset, too: time.Parse accepts +24:00 and +00:60, RFC 3339 does
// not.
func parseByTheBook(z Zone, text string, order DateOrder) (time.Time, bool) {
	text = canonical(text, order)
	if !momentForm.MatchString(text) || text[:4] == "0000" {
		return time.Time{}, false
	}
	for _, layout := range []string{
		"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00",
	} {
		wall, err := time.Parse(layout, strings.Replace(text, " ", "T", 1))
		if err != nil {
			continue
		}
		switch {
		case strings.HasSuffix(layout, "Z07:00"):
			return wall.Truncate(time.Second), true
		case len(layout) == len("2006-01-02"):
			return z.Midnight(DayOf(wall)), true
		default:
			return z.FromWall(wall), true
		}
	}
	return time.Time{}, false
}

func FuzzParseMoment(f *testing.F) {
	for _, text := range []string{
		"2019-04-10", "2019-04-10 09:00", "2019-04-10T09:00:00.000+01:00", "2019-10-27 01:30", "2019-03-31 01:30Z",
		"2019-03-31 01:30", "2019-03-31 00:59:59", "2019-03-31 02:00",
		"2019-02-29 09:00", "0000-01-01 00:00", "2019-04-10 24:00", "2019-04-10 09:00-23:59", "2019-04-10 09:00:60",
		"2019-04-10 09:00+00:60", "2019-04-10 09:00+24:00", "1/4/2019", "31/12/2019 9:05", "12/31/2019T24:00",
		"01/04/2019 09:05:30.5+01:00", "29/2/2019", "1/4/19", "1/4/2019 24:00:00.000Z", "2019-12-31 24:00:00.001",
		"2019-03-30 24:00", "2019/04/01", "1/4/2019 9:5", "001/4/2019", "0/1/2019",
		"0000-12-31 24:00", "31/12/0000 24:00:00",
	} {
		for order := range int(countOfOrders) {
			f.Add(text, order)
		}
	}
	z := zone(f, "Europe/London")
	f.Fuzz(func(t *testing.T, text string, number int) {
		if strings.Contains(text, "9999") {
			return // the midnight after its last day has a year that the time package does not parse
		}
		order := DateOrder(uint(number) % uint(countOfOrders))
		got, ok := z.parseMoment(text, order)
		want, wantOK := parseByTheBook(z, text, order)
		if ok && got.noTime { // by the book it moves forward by the gap, past its end
			want = got.at
		}
		if ok != wantOK || ok && !got.at.Equal(want) {
			t.Fatalf("%q, %v: %v, %v; by the book %v, %v", text, order, got.at, ok, want, wantOK)
		}
		if ok && got.day != z.DayOf(got.at) {
			t.Fatalf("%q: day %v of %v", text, got.day, got.at)
		}
	})
}

func FuzzNewSpan(f *testing.F) {
	f.Add(true, true, "2019-04-10", "2019-04-12")
	f.Add(false, false, "2019-04-10 09:00", "2019-04-10 09:00")
	f.Add(true, false, "2199-12-31", "2200-01-01")
	z := zone(f, "Europe/London")
	f.Add(false, false, "10/4/2019 9:05", "10/4/2019 24:00")
	f.Fuzz(func(t *testing.T, setA, allDay bool, starts, ends string) {
		input := SpanFields{AllDay: &allDay, StartsAt: &starts, EndsAt: &ends}
		if setA {
			input = SpanFields{AllDayField: &allDay, StartsAtText: &starts, EndsAtText: &ends}
		}
		input.Order = DayMonthYear
		s, faults := z.NewSpan(input)
		if s.Starts.IsZero() && faults[startsAt] == nil || s.Ends.IsZero() && faults == nil {
			t.Fatalf("span %v with faults %v", s, faults)
		}
		if days := z.Days(s.Starts, s.Ends); faults == nil &&
			(s.Ends.Before(s.Starts) || days.First < FirstEventDay || days.Last > LastEventDay) {
			t.Fatalf("span %s", show(z, s, nil))
		}
	})
}
