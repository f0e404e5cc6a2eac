package event

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// When says when an event is, in the zone: "Mon 7 Sep 2026, 09:00 to 10:00".
func When(zone wiretime.Zone, s wiretime.Span) string {
	local := func(t time.Time) time.Time {
		shown, _ := zone.Clock(t)
		return shown
	}
	const day, clock = "Mon 2 Jan 2006", "15:04"
	starts, ends := local(s.Starts), local(s.Ends)
	if s.AllDay {
		first, last := starts.Format(day), local(s.Ends.Add(-time.Second)).Format(day)
		if first == last {
			return first
		}
		return first + " to " + last
	}
	text := starts.Format(day + ", " + clock)
	switch {
	case s.Starts.Equal(s.Ends):
	case starts.Format(day) == ends.Format(day):
		text += ends.Format(" to " + clock)
	default:
		text += ends.Format(" to " + day + ", " + clock)
	}
	return text
}
