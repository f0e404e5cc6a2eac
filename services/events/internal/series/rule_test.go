package series

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

func newYork(t testing.TB) wiretime.Zone { return zoneOf(t, "America/New_York") }

func zoneOf(t testing.TB, name string) wiretime.Zone {
	t.Helper()
	z, err := wiretime.LoadZone(name)
	errortest.None(t, err)
	return z
}

// clock is a time by the clock.
func clock(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05", text)
	errortest.None(t, err)
	return at
}

// example is one of RFC 5545, 3.8.5.3; those without an end have a COUNT here. Why says why one is refused.
type example struct{ start, rule, why string }

// examples are all of RFC 5545, 3.8.5.3 and 3.3.10, in that order.
func examples() []example {
	const september = "1997-09-02T09:00:00"
	return []example{
		{september, "FREQ=DAILY;COUNT=10", ""},
		{september, "FREQ=DAILY;UNTIL=19971224T000000Z", ""},
		{september, "FREQ=DAILY;INTERVAL=2;COUNT=30", ""},
		{september, "FREQ=DAILY;INTERVAL=10;COUNT=5", ""},
		{"1998-01-01T09:00:00", "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA", ""},
		{"1998-01-01T09:00:00", "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", ""},
		{september, "FREQ=WEEKLY;COUNT=10", ""},
		{september, "FREQ=WEEKLY;UNTIL=19971224T000000Z", ""},
		{september, "FREQ=WEEKLY;INTERVAL=2;WKST=SU;COUNT=20", ""},
		{september, "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH", ""},
		{september, "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", ""},
		{"1997-09-01T09:00:00", "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR", ""},
		{september, "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH", ""},
		{"1997-09-05T09:00:00", "FREQ=MONTHLY;COUNT=10;BYDAY=1FR", ""},
		{"1997-09-05T09:00:00", "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", ""},
		{"1997-09-07T09:00:00", "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", ""},
		{"1997-09-22T09:00:00", "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", ""},
		{"1997-09-28T09:00:00", "FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=30", ""},
		{september, "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15", ""},
		{"1997-09-30T09:00:00", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1", ""},
		{"1997-09-10T09:00:00", "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", ""},
		{september, "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU;COUNT=40", ""},
		{"1997-06-10T09:00:00", "FREQ=YEARLY;COUNT=10;BYMONTH=6,7", ""},
		{"1997-03-10T09:00:00", "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3", ""},
		{"1997-01-01T09:00:00", "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", ""},
		{"1997-05-19T09:00:00", "FREQ=YEARLY;BYDAY=20MO;COUNT=20", ""},
		{"1997-05-12T09:00:00", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=20", ""},
		{"1997-03-13T09:00:00", "FREQ=YEARLY;BYMONTH=3;BYDAY=TH;COUNT=20", ""},
		{"1997-06-05T09:00:00", "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8;COUNT=60", ""},
		{september, "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=20", ""},
		{"1997-09-13T09:00:00", "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13;COUNT=20", ""},
		{"1996-11-05T09:00:00", "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;COUNT=20", ""},
		{"1997-09-04T09:00:00", "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", ""},
		{"1997-09-29T09:00:00", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=20", ""},
		{september, "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z", "FREQ"},
		{september, "FREQ=MINUTELY;INTERVAL=15;COUNT=6", "FREQ"},
		{september, "FREQ=MINUTELY;INTERVAL=90;COUNT=4", "FREQ"},
		{september, "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40;COUNT=60", ""},
		{september, "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16;COUNT=60", "FREQ"},
		{"1997-08-05T09:00:00", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", ""},
		{"1997-08-05T09:00:00", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", ""},
		{"2007-01-15T09:00:00", "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", ""},
		{"1997-09-30T09:00:00", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=20", ""},
		{"1997-01-05T08:30:00", "FREQ=YEARLY;INTERVAL=2;BYMONTH=1;BYDAY=SU;BYHOUR=8,9;BYMINUTE=30;COUNT=40", ""},
	}
}

// dateutil asks python3-dateutil what the rules give.
func dateutil(t *testing.T, asked []example) [][]string {
	t.Helper()
	var in, problems bytes.Buffer
	for _, a := range asked {
		line, err := json.Marshal(map[string]string{"start": a.start, "rule": a.rule})
		errortest.None(t, err)
		in.Write(append(line, '\n'))
	}
	oracle := exec.CommandContext(t.Context(), "/usr/bin/python3", "testdata/oracle.py")
	oracle.Stdin, oracle.Stderr = &in, &problems
	out, err := oracle.Output()
	if err != nil {
		t.Fatalf("python3-dateutil: %v: %s", err, problems.String())
	}
	var found [][]string
	for line := range bytes.Lines(out) {
		var starts []string
		errortest.None(t, json.Unmarshal(line, &starts))
		found = append(found, starts)
	}
	valuetest.MustSame(t, len(found), len(asked), "answers to %d rules", len(asked))
	return found
}

// found says what a rule gives, as the oracle does.
func found(t *testing.T, a example) ([]string, error) {
	t.Helper()
	rule, err := ParseRule(a.rule)
	if err != nil {
		return nil, err
	}
	starts, err := rule.starts(clock(t, a.start), newYork(t))
	return sequence.Map(starts, func(s time.Time) string { return s.Format("2006-01-02T15:04:05") }), err
}

func TestClients_SeriesEveryExampleOfRFC5545GivesWhatItSays(t *testing.T) {
	var asked []example
	for _, a := range examples() {
		if a.why == "" {
			local := a
			local.rule = inNewYork(t, a.rule)
			asked = append(asked, local)
			continue
		}
		errortest.Says(t, errortest.Of(found(t, a)), a.why, a.rule)
	}
	want := dateutil(t, asked)
	i := 0
	for _, a := range examples() {
		if a.why != "" {
			continue
		}
		got, err := found(t, a)
		if err != nil || !slices.Equal(got, want[i]) {
			t.Errorf("%s from %s: %v\n got %v\nwant %v", a.rule, a.start, err, got, want[i])
		}
		i++
	}
}

// inNewYork writes an UNTIL in UTC as the local time that it is: the oracle is asked without a zone.
func inNewYork(t *testing.T, rule string) string {
	t.Helper()
	before, after, bounded := strings.Cut(rule, "UNTIL=")
	if !bounded {
		return rule
	}
	until, rest, _ := strings.Cut(after, ";")
	at, err := time.Parse(untilInstant, until)
	errortest.None(t, err)
	return strings.TrimSuffix(before+"UNTIL="+newYork(t).Wall(at).Format(untilLocal)+";"+rest, ";")
}

// drawn is a rule that is drawn at random, of those that the parser takes.
func drawn(r *rand.Rand) example {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	some := func(n, least, most int, negative bool) string {
		var list []string
		for range 1 + r.IntN(n) {
			v := least + r.IntN(most-least+1)
			if negative && r.IntN(3) == 0 {
				v = -v
			}
			list = append(list, fmt.Sprint(v))
		}
		return strings.Join(list, ",")
	}
	parts := []string{"FREQ=" + pick("DAILY", "WEEKLY", "MONTHLY", "YEARLY")}
	for _, part := range []string{
		"INTERVAL=" + fmt.Sprint(1+r.IntN(5)), "BYMONTH=" + some(3, 1, 12, false),
		"BYMONTHDAY=" + some(3, 1, 31, true), "BYDAY=" + pick("MO", "TU,TH", "SA,SU", "1MO", "-1FR,2TU", "5WE"),
		"BYYEARDAY=" + some(3, 1, 366, true), "BYWEEKNO=" + some(2, 1, 53, true),
		"BYSETPOS=" + some(2, 1, 5, true), "WKST=" + pick("SU", "MO"), "BYHOUR=" + some(2, 8, 16, false),
	} {
		if r.IntN(4) == 0 {
			parts = append(parts, part)
		}
	}
	parts = append(parts, pick("COUNT="+fmt.Sprint(1+r.IntN(40)), "UNTIL=20310704T120000", "UNTIL=20270716T235959"))
	start := time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(400))
	return example{start: start.Format("2006-01-02T15:04:05"), rule: strings.Join(parts, ";")}
}

func TestClients_SeriesRulesGiveWhatDateutilSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) // the same rules each time
	var asked []example
	for len(asked) < 400 {
		a := drawn(r)
		if _, err := found(t, a); err == nil {
			asked = append(asked, a)
		}
	}
	for i, want := range dateutil(t, asked) {
		if got, err := found(t, asked[i]); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s from %s: %v\n got %v\nwant %v", asked[i].rule, asked[i].start, err, got, want)
		}
	}
}

func TestClients_SeriesRulesThatAreNoRuleOfASeries(t *testing.T) {
	for rule, why := range map[string]string{
		"":                                                                "NAME=VALUE",
		"FREQ=WEEKLY":                                                     "either UNTIL or COUNT",
		"FREQ=WEEKLY;COUNT=2;UNTIL=20270101":                              "either UNTIL or COUNT",
		"COUNT=2":                                                         "needs FREQ",
		"FREQ=SECONDLY;COUNT=5":                                           "FREQ",
		"FREQ=FORTNIGHTLY;COUNT=5":                                        "FREQ",
		"FREQ=DAILY;COUNT=1000000":                                        "from 1 to 400",
		"FREQ=DAILY;COUNT=0":                                              "from 1 to 400",
		"FREQ=DAILY;COUNT=-1":                                             "from 1 to 400",
		"FREQ=DAILY;COUNT=99999999999999999999":                           "from 1 to 400",
		"FREQ=DAILY;UNTIL=99991231":                                       "1970 to 2199",
		"FREQ=DAILY;UNTIL=20270230":                                       "is not a date",
		"FREQ=DAILY;UNTIL=2027-02-03":                                     "is not a date",
		"FREQ=DAILY;UNTIL=20280101":                                       "more than 400",
		"FREQ=DAILY;COUNT=2;COUNT=3":                                      "twice",
		"FREQ=DAILY;COUNT=2;BYEASTER=1":                                   "unknown part",
		"FREQ=DAILY;COUNT=2;":                                             "NAME=VALUE",
		"FREQ=DAILY;COUNT=2;X":                                            "NAME=VALUE",
		"FREQ=DAILY;COUNT=2;INTERVAL=0":                                   "from 1 to 1000",
		"FREQ=DAILY;COUNT=2;INTERVAL=100000":                              "from 1 to 1000",
		"FREQ=DAILY;COUNT=2;BYMONTH=13":                                   "from 1 to 12",
		"FREQ=DAILY;COUNT=2;BYMONTH=":                                     "NAME=VALUE",
		"FREQ=DAILY;COUNT=2;BYMONTH=1,,2":                                 "from 1 to 12",
		"FREQ=DAILY;COUNT=2;BYMONTHDAY=0":                                 "from 1 to 31",
		"FREQ=DAILY;COUNT=2;BYMONTHDAY=+-3":                               "from 1 to 31",
		"FREQ=DAILY;COUNT=2;BYDAY=XX":                                     "weekday",
		"FREQ=DAILY;COUNT=2;BYDAY=M":                                      "weekday",
		"FREQ=WEEKLY;COUNT=2;BYDAY=2MO":                                   "before a weekday",
		"FREQ=MONTHLY;COUNT=2;BYDAY=53MO":                                 "no month has",
		"FREQ=YEARLY;COUNT=2;BYMONTH=12;BYDAY=53MO":                       "no month has",
		"FREQ=YEARLY;COUNT=2;BYDAY=54MO":                                  "from 1 to 53",
		"FREQ=MONTHLY;COUNT=2;BYWEEKNO=3":                                 "BYWEEKNO",
		"FREQ=WEEKLY;COUNT=2;BYYEARDAY=3":                                 "BYYEARDAY",
		"FREQ=WEEKLY;COUNT=2;BYMONTHDAY=3":                                "BYMONTHDAY",
		"FREQ=MONTHLY;COUNT=2;BYSETPOS=1":                                 "beside BYSETPOS",
		"FREQ=DAILY;COUNT=2;BYMONTH=2;BYMONTHDAY=30":                      "no occurrence",
		"FREQ=DAILY;COUNT=2;BYMONTH=2;BYSETPOS=2":                         "no occurrence",
		"FREQ=YEARLY;COUNT=400":                                           "only 174 occurrences",
		"FREQ=DAILY;UNTIL=20200101":                                       "no occurrence",
		"FREQ=DAILY;COUNT=2;BYHOUR=24":                                    "from 0 to 23",
		"FREQ=DAILY;COUNT=2;BYSECOND=60":                                  "from 0 to 59",
		"FREQ=DAILY;COUNT=2;WKST=1":                                       "weekday",
		"FREQ=DAILY;COUNT=2;BYMONTH=" + strings.Repeat("1,", 300) + "1":   "too long",
		"FREQ=DAILY;COUNT=2;BYMINUTE=" + upTo(60) + ";BYHOUR=" + upTo(24): "96 times a day",
		"FREQ=DAILY;COUNT=2;BYMONTH=2;BYSETPOS=" + upTo(40)[2:]:           "entries in BYSETPOS",
	} {
		errortest.Says(t, errortest.Of(found(t, example{"2026-09-07T09:00:00", rule, ""})), why, rule)
	}
}

// upTo are the numbers below n.
func upTo(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint(i))
	}
	return strings.Join(list, ",")
}

// FuzzParseRule: whatever is sent is a rule or refused, and a rule gives at most MaxOccurrences starts, in order, from
// the start on.
func FuzzParseRule(f *testing.F) {
	for _, a := range examples() {
		f.Add(a.rule, int64(0))
	}
	f.Add("RRULE:freq=yearly;byday=-53su,53sa;count=3", int64(300))
	f.Add("FREQ=YEARLY;BYWEEKNO=-53,53,1;WKST=SU;COUNT=400", int64(80_000))
	f.Add("FREQ=WEEKLY;BYDAY=SU;BYSETPOS=-366;INTERVAL=1000;UNTIL=21991231T235959Z", int64(1))
	zone := newYork(f)
	f.Fuzz(func(t *testing.T, text string, days int64) {
		rule, err := ParseRule(text)
		if err != nil {
			return
		}
		start := time.Date(1970, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, int(uint64(days)%84_000))
		starts, err := rule.starts(start, zone)
		if err != nil {
			return
		}
		valuetest.MustHold(t, len(starts) != 0 && len(starts) <= MaxOccurrences, "%q gives %d", text, len(starts))
		for i, s := range starts {
			if s.Before(start) || s.Year() > lastYear || i > 0 && s.Before(starts[i-1]) {
				t.Fatalf("%q from %s gives %s", text, start, s)
			}
		}
	})
}
