package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// Many commitments are listed, and then decided on at once.
func TestCommitments_ManyAreDecidedAndOneThatIsRefusedStopsNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	admin.Import(t, "properties", object{"key": "1", "name": "Public calendar"}, object{"key": "2", "name": "Website"})
	admin.Import(t, "eventcategories", object{"key": "t", "name": "Trip"}, object{"key": "l", "name": "Lesson"})
	keeps := o.newUser(t, "Kay", "kay@school.example", "--grant", "can_api")
	o.does(t, "administrators", "add", "Property:1", "kay@school.example")
	o.does(t, "administrators", "add", "Property:2", "kay@school.example")
	asks := o.newUser(t, "Clea", "clea@school.example", "--grant", "can_api,can_add_events")
	for _, e := range [][]string{
		{"Chess", "Lesson", "2026-11-24 09:00", "Public calendar"},
		{"Bletchley", "Trip", "2026-11-25 09:00", "Website"},
		{"Théâtre", "Trip", "2026-11-26 09:00", "Public calendar", "Website"},
	} {
		asks.does(t, append([]string{"book", e[0], "--category", e[1], "--from", e[2]}, e[3:]...)...)
	}
	decide := func(args ...string) (outcomes []string) {
		t.Helper()
		var found struct {
			Commitments []struct {
				Outcome string
				Event   struct{ Body string }
				Element struct{ Name string }
			}
		}
		keeps.reads(t, &found, append([]string{"commitments", "decide"}, args...)...)
		for _, c := range found.Commitments {
			outcomes = append(outcomes, fmt.Sprintf("%s/%s: %s", c.Event.Body, c.Element.Name, c.Outcome))
		}
		return outcomes
	}
	for filter, want := range map[string]int{
		"status=requested": 4, "element=website": 2, "type=Property": 4, "type=Location": 0, "category=trip": 3,
		"title=THEATRE": 2, "from=2026-11-25": 3, "to=2026-11-25": 2, "asked-by=Clea@school.example": 4,
		"asked-by=kay@school.example": 0, "status=confirmed": 0,
	} {
		if got := decide("confirmed", "--filter", filter); len(got) != want || len(got) > 0 &&
			!strings.HasSuffix(got[0], ": would be confirmed") {
			t.Errorf("%s chooses %q, want %d", filter, got, want)
		}
	}
	// Fault: a later to= took a from= back, so that more was decided on than was asked for.
	if got := decide("confirmed", "--filter", "from=2026-11-25", "--filter", "to=2026-11-25"); len(got) != 1 ||
		got[0] != "Bletchley/Website: would be confirmed" {
		t.Errorf("of one day: %q", got)
	}
	// Fault: a second filter of a name took the place of the first, so that more was decided on than was asked for.
	for first, second := range map[string]string{
		"status=confirmed": "status=requested", "type=Location": "type=Property", "category=Lesson": "category=Trip",
		"element=website": "element=Public calendar", "title=theatre": "title=chess",
	} {
		if got := decide("confirmed", "--filter", first, "--filter", second); len(got) > 0 {
			t.Errorf("%s and %s: %q", first, second, got)
		}
	}
	both := decide("rejected", "--filter", "category=Trip", "--filter", "element=Website", "--reason", "No", "--really")
	valuetest.Same(t, fmt.Sprint(both), "[Bletchley/Website: decided Théâtre/Website: decided]")
	if out := keeps.does(t, "commitments", "decide", "noted", "--filter", "title=chess"); !strings.Contains(out,
		"Tue 2026-11-24 09:00  Chess  Clea      would be noted\n") ||
		!strings.HasSuffix(out, "1 listed, none decided; --really decides\n") {
		t.Error(out)
	}
	// What is confirmed can't be noted; the theatre, which waits, can.
	decide("confirmed", "--filter", "title=chess", "--really")
	code, out, errs := belfryctl(t, keeps.env, "commitments", "decide", "noted", "--filter",
		"status=confirmed,requested", "--really")
	if code != exitRefused || !strings.Contains(out, "refused: a commitment that is confirmed can't become noted") ||
		!strings.HasSuffix(out, "1 decided, 1 refused\n") ||
		!strings.Contains(errs, "some commitments were not decided") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	keeps.fails(t, exitUsage, "--filter is missing", "commitments", "decide", "noted")
	keeps.fails(t, exitUsage, `unknown name "colour"`, "commitments", "decide", "noted", "--filter", "colour=red")
	keeps.fails(t, exitUsage, "is not NAME=VALUE", "commitments", "decide", "noted", "--filter", "status")
	keeps.fails(t, exitUsage, "is not a day", "commitments", "decide", "noted", "--filter", "from=soon")
	keeps.fails(t, exitUsage, `"maybe" is not a decision`,
		"commitments", "decide", "maybe", "--filter", "type=Property")
}

// TestCommitments_ADecisionWhoseAnswerWasLostIsDecided: it was made again, met itself, and was listed as refused. One
// that another user made is refused.
func TestCommitments_ADecisionWhoseAnswerWasLostIsDecided(t *testing.T) {
	t.Parallel()
	o, _, _ := everyDay(t)
	user := func(name string) office {
		return o.newUser(t, name, name+"@school.example", "--grant", "can_api,can_add_events")
	}
	clerk, keeper := user("clerk"), user("keeper")
	o.does(t, "administrators", "add", "Location:1", "1")
	o.does(t, "administrators", "add", "Location:1", "keeper@school.example")
	for day := 7; day < 10; day++ {
		clerk.does(t, "book", "Disco", "Great Hall", "--category", "Club", "--from", fmt.Sprintf("2026-12-%02d", day))
	}
	me, another := o.system.Admin(t), o.system.Login(t, keeper.env["BELFRY_UUID"])
	for _, c := range []struct {
		args  []string
		by    *servicetest.Client // who has decided when the answer is lost, and what
		as    object
		tally string
	}{
		{[]string{"rejected", "--filter", "to=2026-12-07", "--reason", "No"}, me,
			object{"status": "rejected", "reason": "No"}, "1 decided, 0 refused"},
		{[]string{"confirmed", "--filter", "to=2026-12-08"}, me, object{"status": "confirmed"}, "1 decided, 0 refused"},
		{[]string{"requested", "--filter", "status=confirmed"}, me, object{"status": "requested"},
			"1 decided, 0 refused"},
		{[]string{"confirmed", "--filter", "to=2026-12-08"}, another, object{"status": "confirmed"},
			"0 decided, 1 refused"},
		{[]string{"rejected", "--filter", "to=2026-12-09", "--reason", "No"}, me,
			object{"status": "rejected", "reason": "Yes"}, "0 decided, 1 refused"},
	} {
		lost := false
		env := o.behind(t, func(w http.ResponseWriter, r *http.Request, system http.Handler) {
			if r.Method != http.MethodPatch || lost {
				system.ServeHTTP(w, r)
				return
			}
			lost = true
			c.by.Patch(t, r.URL.Path, object{"commitment": c.as}).WantCode(t, http.StatusOK)
			w.WriteHeader(http.StatusBadGateway)
		})
		_, out, errs := belfryctl(t, env, append([]string{"commitments", "decide", "--really"}, c.args...)...)
		valuetest.Holds(t, strings.HasSuffix(out, "\n"+c.tally+"\n"), "%q: %s%s", c.args, out, errs)
	}
}

func TestTemplate_IsWrittenOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "school")
	valuetest.MustSame(t, (office{}).does(t, "template", dir), "Wrote an empty bundle to "+dir+"\n")
	text, err := os.ReadFile(filepath.Join(dir, "administrators.csv"))
	errortest.None(t, err)
	valuetest.Same(t, string(text), "element,user\n")
	office{}.fails(t, exitFailure, "is not empty", "template", dir)
}
