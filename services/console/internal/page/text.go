package page

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web/catalogue"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Texts are those of one language, with its dates and times in the school's zone.
type Texts struct {
	catalogue.Texts
	zone wiretime.Zone
	year int // the present one, which short dates leave out
}

// Texts returns those of the language that a browser accepts most.
func (p *Pages) Texts(accept string, now time.Time) *Texts {
	return &Texts{p.texts.For(accept), p.Zone, p.Zone.DayOf(now).Date().Year()}
}

// Label is the text of a name that the interface has, or the name where there is no text. That of a part of a record,
// such as commitments.17.status, ends with the part's number.
func (t *Texts) Label(kind, name string) string {
	if parts := strings.Split(name, "."); len(parts) == 3 {
		if text, found := t.ByKey[kind+parts[0]+"."+parts[2]]; found {
			return text + " " + parts[1]
		}
	}
	if text, found := t.ByKey[kind+name]; found {
		return text
	}
	return name
}

// Moment is a time as the interface writes it: "24 Nov 2026, 09:31". "" for anything that is not a time.
func (t *Texts) Moment(at string) string {
	found, err := wiretime.Parse(at)
	if err != nil {
		return ""
	}
	return t.date("day.date", t.zone.DayOf(found)) + ", " + t.Clock(found)
}

// T returns a text with its values, as fmt.Sprintf writes them. An unknown key is shown as it is.
func (t *Texts) T(key string, values ...any) string {
	text, found := t.ByKey[key]
	if !found {
		return key
	}
	if len(values) == 0 {
		return text
	}
	return fmt.Sprintf(text, values...)
}

// N is T of key.one for one thing, and of key.many for any other number. The number is the first value.
func (t *Texts) N(key string, n int, values ...any) string {
	form := ".many"
	if n == 1 {
		form = ".one"
	}
	return t.T(key+form, append([]any{n}, values...)...)
}

// Names are those of users, separated by commas.
func (*Texts) Names(users []api.User) string {
	return strings.Join(sequence.Map(users, func(u api.User) string { return u.Name }), ", ")
}

// hours is a time of day as people type it, of 24 hours: 09:50, 9.50, 950, or 9 for 09:00.
const hours = `(?:([01]?[0-9]|2[0-3])(?:[:.]?([0-5][0-9]))?|24:00)`

var typedHours = regexp.MustCompile("^" + hours + "$")

// HoursPattern is what a browser checks fields of a time of day by.
func (*Texts) HoursPattern() string { return hours }

// ReadHours returns a time of day that was typed as HH:MM, and any other text as it is, which the interface refuses.
func ReadHours(text string) string {
	text = strings.TrimSpace(text)
	parts := typedHours.FindStringSubmatch(text)
	if parts == nil || parts[1] == "" {
		return text
	}
	hour, _ := strconv.Atoi(parts[1]) // digits
	minute, _ := strconv.Atoi(parts[2])
	return fmt.Sprintf("%02d:%02d", hour, minute)
}

// Clock is the time of day of an instant, such as 09:50.
func (t *Texts) Clock(at time.Time) string { return t.zone.Wall(at).Format("15:04") }

// Day is a date in words: Tuesday 24 November 2026.
func (t *Texts) Day(d wiretime.Day) string { return t.date("day.long", d) }

// ShortDay is Tue 24 Nov, with the year unless it is the present one.
func (t *Texts) ShortDay(d wiretime.Day) string {
	if d.Date().Year() != t.year {
		return t.date("day.other-year", d)
	}
	return t.date("day.short", d)
}

// Between is from a day, or to one, or both, as the interface writes them: "from 1 Sep 2026 to 20 Jul 2027".
func (t *Texts) Between(first, last string) string {
	var all []string
	for i, text := range []string{first, last} {
		if d, err := wiretime.ParseDay(text); err == nil {
			all = append(all, t.T([]string{"look.from", "look.to"}[i], t.date("day.date", d)))
		}
	}
	return strings.Join(all, " ")
}

// Month is November 2026.
func (t *Texts) Month(d wiretime.Day) string { return t.date("day.month", d) }

// date fills in a pattern: {weekday} and {wd} its short form, {d} the day of the month, {month} and {mon}, {year}.
func (t *Texts) date(pattern string, d wiretime.Day) string {
	at := d.Date()
	weekday, month := int(at.Weekday()), int(at.Month())-1
	pick := func(key string, i int) string { return strings.Fields(t.ByKey[key])[i] }
	return strings.NewReplacer(
		"{weekday}", pick("weekdays", weekday), "{wd}", pick("weekdays.short", weekday),
		"{d}", fmt.Sprint(at.Day()), "{month}", pick("months", month), "{mon}", pick("months.short", month),
		"{year}", fmt.Sprint(at.Year()),
	).Replace(t.ByKey[pattern])
}

// When is the time of an event: "Tue 24 Nov, 09:00–09:50", "Tue 24 Nov, all day", or over several days.
func (t *Texts) When(starts, ends time.Time, allDay bool) string {
	days := t.zone.Days(starts, ends)
	first, last := t.ShortDay(days.First), t.ShortDay(days.Last)
	switch {
	case allDay && days.First == days.Last:
		return t.T("when.day", first)
	case allDay:
		return t.T("when.days", first, last)
	case days.First == days.Last && !ends.After(starts):
		return t.T("when.at", first, t.Clock(starts))
	case days.First == days.Last:
		return t.T("when.times", first, t.Clock(starts), t.Clock(ends))
	default:
		return t.T("when.span", first, t.Clock(starts), last, t.Clock(ends))
	}
}

// Hours are 09:00–09:50, or When of what begins and ends on different days.
func (t *Texts) Hours(starts, ends time.Time) string {
	if days := t.zone.Days(starts, ends); days.First != days.Last {
		return t.When(starts, ends, false)
	}
	return t.Clock(starts) + "–" + t.Clock(ends)
}

// WhenOn is When, without the day where the event is on that day alone.
func (t *Texts) WhenOn(d wiretime.Day, starts, ends time.Time, allDay bool) string {
	return strings.TrimPrefix(t.When(starts, ends, allDay), t.ShortDay(d)+", ")
}

// WhenText is When of the times as the interface writes them.
func (t *Texts) WhenText(starts, ends string, allDay bool) (string, error) {
	from, err := wiretime.Parse(starts)
	to, errTo := wiretime.Parse(ends)
	if err := errors.Join(err, errTo); err != nil {
		return "", err
	}
	return t.When(from, to, allDay), nil
}

// DayText is the date of a time as the interface writes it.
func (t *Texts) DayText(at string) (wiretime.Day, error) {
	found, err := wiretime.Parse(at)
	return t.zone.DayOf(found), err
}
