package wiretime

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestPart3_DatesAreRealDaysInOneForm(t *testing.T) {
	for text, want := range map[string]Day{
		"1970-01-01": 0, "1969-12-31": -1, "2019-04-10": 17996, "2000-02-29": 11016, "2199-12-31": LastEventDay,
		"0001-01-01": -719162, "9999-12-31": 2932896,
	} {
		got, err := ParseDay(text)
		valuetest.Holds(t, err == nil && got == want, "ParseDay(%q) = %d, %v; want %d", text, got, err, want)
		valuetest.Same(t, got.String(), text, "%q is written as", text)
	}
	for _, text := range []string{
		"", "2019-4-10", "2019-04-1", "2019-02-29", "1900-02-29", "2019-04-31", "2019-13-01", "2019-00-01",
		"2019-01-00",
		"0000-01-01", "20190410", "2019/04/10", "10-04-2019", " 2019-04-10", "2019-04-10 ", "2019-04-10\n",
		"2019-04-10T00:00",
		"+2019-04-10", "-019-04-10", "12019-04-10", "２０19-04-10", "today",
	} {
		got, err := ParseDay(text)
		errortest.Some(t, err, "ParseDay(%q) = %v, want an error", text, got)
	}
}

func TestOpenEndsStayOpen(t *testing.T) {
	for _, d := range []Day{FirstDay, LastDay} {
		if d.AddDays(1) != d || d.AddDays(-1) != d || d.String() != "open" {
			t.Errorf("day %d: %d, %d, %q", int32(d), d.AddDays(1), d.AddDays(-1), d)
		}
	}
	if d := day(t, "2019-12-31"); d.AddDays(1).String() != "2020-01-01" || d.AddDays(-31).String() != "2019-11-30" {
		t.Errorf("AddDays from %v: %v, %v", d, d.AddDays(1), d.AddDays(-31))
	}
}

func TestDaysAreWrittenAsTheyAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Day(rapid.Int32Range(-719162, 2932896).Draw(t, "day"))
		if got, err := ParseDay(d.String()); err != nil || got != d {
			t.Fatalf("ParseDay(%v) = %v, %v", d, got, err)
		}
	})
}

func FuzzParseDay(f *testing.F) {
	for _, text := range []string{"2019-04-10", "2019-02-29", "0000-01-01", "2019-04-10T09:00", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseDay(text)
		want, modelErr := time.Parse(time.DateOnly, text)
		valuetest.MustSame(t, err == nil, modelErr == nil && want.Year() > 0,
			"ParseDay(%q): %v; time.Parse: %v", text, err, modelErr)
		if err == nil && got.String() != text {
			t.Fatalf("ParseDay(%q) = %v", text, got)
		}
	})
}
