package api_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// khalConfig is that of Debian's calendar client khal, with one calendar, in a folder.
const khalConfig = `[calendars]
[[feed]]
path = %[1]s/feed
[locale]
local_timezone = Europe/London
default_timezone = Europe/London
timeformat = %%H:%%M
dateformat = %%Y-%%m-%%d
longdateformat = %%Y-%%m-%%d
datetimeformat = %%Y-%%m-%%d %%H:%%M
longdatetimeformat = %%Y-%%m-%%d %%H:%%M
[sqlite]
path = %[1]s/db
`

// khal runs the client on a calendar in a folder and returns what it says.
func khal(t *testing.T, dir string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "khal",
		append([]string{"-c", filepath.Join(dir, "config")}, args...)...)
	command.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "HOME="+dir, "XDG_DATA_HOME="+dir,
		"XDG_CACHE_HOME="+dir)
	out, err := command.CombinedOutput()
	errortest.None(t, err, "khal %s (.ci/setup tests installs it)\n%s", strings.Join(args, " "), out)
	return string(out)
}

// inKhal imports a calendar into the client and lists what it has from a day on.
func inKhal(t *testing.T, dir string, a servicetest.Answer, from string) []string {
	t.Helper()
	file := filepath.Join(dir, "feed.ics")
	errortest.None(t, os.WriteFile(file, []byte(a.Body), 0o600))
	khal(t, dir, "import", "--batch", "-a", "feed", file)
	return strings.Split(strings.TrimSpace(khal(t, dir, "list", "--once", "-df", "", "-f",
		"{start-long} to {end-long}: {title} at {location}", from, "7d")), "\n")
}

func TestCalendar_ADebianCalendarClientReadsAFeedAndItsChanges(t *testing.T) {
	s := newSchool(t)
	ann, set := s.pupil(t, "Ann"), s.group(t, "set")
	room := s.add(t, "locations", "R", fields{"name": "Room", "short_name": "R1"})
	first, next := soon(t), time.Now().AddDate(0, 0, 31).Format(time.DateOnly)
	s.member(t, set, ann, "", "")
	title := `Ünïcode; 漢字, "quoted" \ and so on, far beyond what a line of seventy-five octets holds`
	lesson := s.event(t, title, first+" 09:00", first+" 10:00", set, room)
	day := fields{"body": "Sports day", "event_category_id": s.category, "starts_at": first, "ends_at": next,
		"all_day": true}
	s.Post(t, "/api/events", fields{"event": day, "elements": []int64{ann}})

	dir := t.TempDir()
	errortest.None(t, os.WriteFile(filepath.Join(dir, "config"), fmt.Appendf(nil, khalConfig, dir), 0o600))
	_, mine := s.user(t, "mine", nil)
	_, address := newFeed(t, mine, ann)
	want := func(lesson string) {
		t.Helper()
		got := strings.Join(inKhal(t, dir, system(t).Client(t).Get(t, address), first), "\n")
		valuetest.Same(t, got, fmt.Sprintf("%[1]s to %[1]s: Sports day at \n%[2]s at R1", first, lesson), "it lists")
	}
	want(fmt.Sprintf("%[1]s 09:00 to %[1]s 10:00: %[2]s", first, title))
	s.Patch(t, path("/api/events/%d", lesson),
		fields{"event": fields{"starts_at": next + " 14:00", "ends_at": next + " 15:00"}})
	want(fmt.Sprintf("%[1]s 14:00 to %[1]s 15:00: %[2]s", next, title)) // in the place of the one before
}
