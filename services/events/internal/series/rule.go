package series

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// MaxOccurrences bounds the occurrences of one rule.
	MaxOccurrences = 400
	// maxRule bounds a rule's text, in bytes.
	maxRule = 500
	// maxTimes bounds how often a day a rule may name, so that no period has more than a few thousand occurrences.
	maxTimes = 96
	// maxInterval and maxPositions bound INTERVAL and the entries of BYSETPOS.
	maxInterval  = 1000
	maxPositions = 31

	lastYear = 2199 // in which an event may be
	// laterYears is added to a rule's dates while it is evaluated; the calendar repeats every 400 years. The library
	// searches for occurrences up to the year 9999, so this leaves it 373 years instead of 8,000.
	laterYears = 19 * 400
)

// Rule is a recurrence rule of RFC 5545, 3.3.10, that a series may have: bounded, and no more frequent than daily.
type Rule struct {
	Text   string // as it was given
	option rrule.ROption
	until  string // as in the text; "": bounded by COUNT
}

// ParseRule reads the value of an RRULE; the property's name may precede it. The error is for clients.
func ParseRule(text string) (Rule, error) {
	r := Rule{Text: strings.TrimSpace(text)}
	if len(r.Text) > maxRule {
		return Rule{}, errors.New(problem.TooLong(maxRule))
	}
	value := strings.ToUpper(r.Text)
	value = strings.TrimPrefix(value, "RRULE:")
	parts := map[string]string{}
	for part := range strings.SplitSeq(value, ";") {
		name, v, found := strings.Cut(part, "=")
		if !found || v == "" {
			return Rule{}, fmt.Errorf("has a part that is not NAME=VALUE: %.40q", part)
		}
		if _, twice := parts[name]; twice {
			return Rule{}, fmt.Errorf("has %.40s twice", name)
		}
		parts[name] = v
	}
	for name, v := range parts {
		known, err := r.read(name, v)
		if !known {
			return Rule{}, fmt.Errorf("has an unknown part: %.40q", name)
		}
		if err != nil {
			return Rule{}, fmt.Errorf("has a %s that %w", name, err)
		}
	}
	if err := r.check(parts); err != nil {
		return Rule{}, err
	}
	return r, nil
}

// clocks says whether the rule names times of the day.
func (r Rule) clocks() bool {
	return len(r.option.Byhour)+len(r.option.Byminute)+len(r.option.Bysecond) > 0
}

// read reads the value of a part; known is false when no rule has such a part.
func (r *Rule) read(name, value string) (known bool, err error) {
	o := &r.option
	switch name {
	case "FREQ":
		err = r.readFrequency(value)
	case "UNTIL":
		err = r.readUntil(value)
	case "COUNT":
		o.Count, err = number(value, 1, MaxOccurrences, false)
	case "INTERVAL":
		o.Interval, err = number(value, 1, maxInterval, false)
	case "BYSECOND":
		o.Bysecond, err = numbers(value, 0, 59, false)
	case "BYMINUTE":
		o.Byminute, err = numbers(value, 0, 59, false)
	case "BYHOUR":
		o.Byhour, err = numbers(value, 0, 23, false)
	case "BYDAY":
		err = r.readDays(value)
	case "BYMONTHDAY":
		o.Bymonthday, err = numbers(value, 1, 31, true)
	case "BYYEARDAY":
		o.Byyearday, err = numbers(value, 1, 366, true)
	case "BYWEEKNO":
		o.Byweekno, err = numbers(value, 1, 53, true)
	case "BYMONTH":
		o.Bymonth, err = numbers(value, 1, 12, false)
	case "BYSETPOS":
		o.Bysetpos, err = numbers(value, 1, 366, true)
	case "WKST":
		o.Wkst, err = weekday(value)
	default:
		return false, nil
	}
	return true, err
}

func (r *Rule) readFrequency(value string) error {
	frequency, err := rrule.StrToFreq(value)
	if err != nil || frequency > rrule.DAILY { // the others are more frequent
		return errors.New("is not DAILY, WEEKLY, MONTHLY or YEARLY")
	}
	r.option.Freq = frequency
	return nil
}

// The forms of UNTIL: a day, a local time, an instant.
const (
	untilDay     = "20060102"
	untilLocal   = "20060102T150405"
	untilInstant = "20060102T150405Z"
)

func (r *Rule) readUntil(value string) error {
	r.until = value
	for _, form := range []string{untilDay, untilLocal, untilInstant} {
		if t, err := time.Parse(form, value); err == nil {
			if t.Year() > lastYear || t.Year() < 1970 {
				return fmt.Errorf("is not in the years 1970 to %d", lastYear)
			}
			r.option.Until = t
			return nil
		}
	}
	return errors.New(problem.NotADate)
}

func (r *Rule) readDays(value string) error {
	for entry := range strings.SplitSeq(value, ",") {
		day, err := weekday(entry[max(0, len(entry)-2):])
		if err != nil {
			return err
		}
		if n := entry[:len(entry)-2]; n != "" {
			nth, err := number(n, 1, 53, true)
			if err != nil {
				return err
			}
			day = day.Nth(nth)
		}
		r.option.Byweekday = append(r.option.Byweekday, day)
	}
	return nil
}

func weekday(text string) (rrule.Weekday, error) {
	days := []rrule.Weekday{rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA, rrule.SU}
	i := slices.Index([]string{"MO", "TU", "WE", "TH", "FR", "SA", "SU"}, text)
	if i < 0 {
		return rrule.Weekday{}, errors.New("is not a weekday such as MO")
	}
	return days[i], nil
}

func numbers(value string, least, most int, negative bool) (all []int, err error) {
	for entry := range strings.SplitSeq(value, ",") {
		n, err := number(entry, least, most, negative)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return sequence.Distinct(all), nil
}

func number(text string, least, most int, negative bool) (int, error) {
	digits := text
	if negative {
		digits = strings.TrimPrefix(strings.TrimPrefix(text, "+"), "-")
		if len(digits) < len(text)-1 {
			digits = ""
		}
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || digits[0] == '+' || int(n) < least || int(n) > most {
		return 0, fmt.Errorf("is not a number from %d to %d", least, most)
	}
	if strings.HasPrefix(text, "-") {
		return -int(n), nil
	}
	return int(n), nil
}

// check returns the fault of the parts together.
func (r *Rule) check(parts map[string]string) error {
	o := &r.option
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return parts[name] != "" })
	}
	weekly, daily := o.Freq == rrule.WEEKLY, o.Freq == rrule.DAILY
	nth, mostNth := false, 0
	for _, d := range o.Byweekday {
		nth, mostNth = nth || d.N() != 0, max(mostNth, d.N(), -d.N())
	}
	times := max(1, len(o.Byhour)) * max(1, len(o.Byminute)) * max(1, len(o.Bysecond))
	for _, wrong := range []struct {
		is  bool
		why string
	}{
		{!has("FREQ"), "needs FREQ"},
		{has("UNTIL") == has("COUNT"), "needs either UNTIL or COUNT"},
		{has("BYWEEKNO") && o.Freq != rrule.YEARLY, "can have BYWEEKNO only with FREQ=YEARLY"},
		{has("BYYEARDAY") && o.Freq != rrule.YEARLY, "can have BYYEARDAY only with FREQ=YEARLY"},
		{has("BYMONTHDAY") && weekly, "can't have BYMONTHDAY with FREQ=WEEKLY"},
		{nth && (weekly || daily), "can have a number before a weekday only with FREQ=MONTHLY or YEARLY"},
		{nth && has("BYWEEKNO"), "can't have a number before a weekday with BYWEEKNO"},
		{mostNth > 5 && (o.Freq == rrule.MONTHLY || has("BYMONTH")), "has a weekday that no month has"},
		{has("BYSETPOS") && len(parts) == len(slices.DeleteFunc([]string{"FREQ", "UNTIL", "COUNT", "INTERVAL", "WKST",
			"BYSETPOS"}, func(name string) bool { return !has(name) })), "needs another BY… part beside BYSETPOS"},
		{len(o.Bysetpos) > maxPositions, fmt.Sprintf("has more than %d entries in BYSETPOS", maxPositions)},
		{times > maxTimes, fmt.Sprintf("names more than %d times a day", maxTimes)},
	} {
		if wrong.is {
			return errors.New(wrong.why)
		}
	}
	return nil
}

// starts returns the starts of the rule's occurrences from a start on, in order, as the zone's clock shows them. The
// start is one of them only where the rule gives it. The error is for clients.
func (r Rule) starts(start time.Time, zone wiretime.Zone) ([]time.Time, error) {
	o := r.option
	latest := time.Date(lastYear, time.December, 31, 23, 59, 59, 0, time.UTC)
	until := latest
	switch len(r.until) {
	case len(untilDay):
		until = o.Until.AddDate(0, 0, 1).Add(-time.Second)
	case len(untilLocal):
		until = o.Until
	case len(untilInstant):
		until = zone.Wall(o.Until)
	}
	if until.After(latest) {
		until = latest
	}
	o.Dtstart, o.Until = start.AddDate(laterYears, 0, 0), until.AddDate(laterYears, 0, 0)
	rule, err := rrule.NewRRule(o)
	if err != nil {
		return nil, fmt.Errorf("is not right: %w", err)
	}
	var found []time.Time
	next := rule.Iterator()
	for at, more := next(); more; at, more = next() {
		if len(found) == MaxOccurrences {
			return nil, fmt.Errorf("has more than %d occurrences", MaxOccurrences)
		}
		found = append(found, at.AddDate(-laterYears, 0, 0))
	}
	switch {
	case len(found) == 0:
		return nil, errors.New("has no occurrence on or after the start")
	case len(found) < o.Count:
		return nil, fmt.Errorf("has only %d occurrences up to the year %d", len(found), lastYear)
	}
	return found, nil
}
