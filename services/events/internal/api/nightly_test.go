package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// night is a system of two replicas of everything, in which the nightly check can be made due.
type night struct {
	*servicetest.System
	set
	lessons []int64
}

// newNight books a lesson with a clash on each of the next twelve days, and one after the days that are checked.
func newNight(t *testing.T) night {
	t.Helper()
	n := night{System: servicetest.Start(t, servicetest.Options{Replicas: 2})}
	n.set = newSet(t, n.Admin(t), "Ann", "Bob")
	tomorrow := time.Now().AddDate(0, 0, 1)
	for i := range 13 {
		day := tomorrow.AddDate(0, 0, i).Format(time.DateOnly)
		if i == 12 {
			day = tomorrow.AddDate(0, 0, 30).Format(time.DateOnly)
		}
		n.lessons = append(n.lessons, n.book(t, "Maths", n.lesson, day, "09:00", "10:00", n.set.id))
		n.book(t, "Hockey", n.away, day, "09:00", "10:00", n.pupils[0])
	}
	return n
}

// due makes the check one that was not done, once the services have made theirs at their start, as if they had been
// away since last week. The lease of a killed process, which runs out after half a minute, is not waited for.
func (n night) due(t *testing.T) {
	t.Helper()
	settings := n.DB.Collection("event_settings")
	errortest.None(t, errortest.Of(settings.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: "absences-lease"}})))
	update := bson.D{{Key: "$set", Value: bson.D{{Key: "done", Value: time.Now().AddDate(0, 0, -7)}}}}
	if r, err := settings.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "absences"}}, update); err != nil ||
		r.MatchedCount != 1 {
		t.Fatal(r, err)
	}
}

// runs counts the nightly checks that were done so far.
func (n night) runs() int { return strings.Count(n.Logs(), `"msg":"absences checked"`) }

// done says whether the newest check is recorded as done.
func (n night) done(t *testing.T) bool {
	t.Helper()
	fresh := bson.D{{Key: "_id", Value: "absences"},
		{Key: "done", Value: bson.D{{Key: "$gt", Value: time.Now().AddDate(0, 0, -2)}}}}
	count, err := n.DB.Collection("event_settings").CountDocuments(t.Context(), fresh)
	errortest.None(t, err)
	return count == 1
}

func (n night) notes(t *testing.T) int64 {
	t.Helper()
	count, err := n.DB.Collection("notes").CountDocuments(t.Context(), bson.D{{Key: "system.topic", Value: "absences"}})
	errortest.None(t, err)
	return count
}

// wantNotes fails the test unless each lesson of the days that are checked has one note, and the one after them none.
func (n night) wantNotes(t *testing.T) {
	t.Helper()
	for i, lesson := range n.lessons {
		if got := says(t, n.admin, lesson); (i < 12) != strings.HasPrefix(got, "1 of 2 pupils is elsewhere:") ||
			(i == 12 && got != "") {
			t.Errorf("lesson %d: %q", i, got)
		}
	}
}

// A night that was missed is made up for by one replica. A process that dies while it writes notes leaves some of them;
// the next one comes to the same end. What the check keeps true beyond its days is kept true.
func TestAbsences_ANightThatWasMissedOrKilledIsMadeUpFor(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	timetest.Eventually(t, "a new deployment has checked once", time.Minute, func() bool { return n.done(t) })
	before := n.runs()
	n.Stop(t, "events")
	n.due(t)
	n.Restart(t, "events")
	timetest.Eventually(t, "the check was made up for", time.Minute, func() bool { return n.done(t) })
	n.wantNotes(t)
	n.Stop(t, "events")
	n.Restart(t, "events") // nothing is due now
	a := n.Admin(t).Get(t, "/api/admin/audit/events?record=Absences")
	if !strings.Contains(a.Body, `"action":"check"`) || !strings.Contains(a.Body, `"user_id":null`) ||
		!strings.Contains(a.Body, fmt.Sprintf(`{"field":"created","from":null,"to":"%d"}`, 12)) {
		t.Errorf("the audit says %s", a.Body)
	}
	valuetest.Same(t, n.runs(), before+1, "checks, want one after %d", before)

	n.Kill(t, "events")
	errortest.None(t, errortest.Of(n.DB.Collection("notes").DeleteMany(t.Context(), bson.D{})))
	n.due(t)
	n.Restart(t, "events")
	timetest.Eventually(t, "there is a note", time.Minute, func() bool { return n.notes(t) > 0 })
	n.Kill(t, "events")
	n.due(t)
	n.Restart(t, "events")
	timetest.Eventually(t, "the check is done", time.Minute, func() bool { return n.done(t) })
	n.wantNotes(t)

	far := time.Now().AddDate(0, 0, 31).Format(time.DateOnly)
	check(t, n.admin, far, far, false)
	last := n.lessons[12]
	valuetest.MustHold(t, says(t, n.admin, last) != "", "a check of a far day writes no note")
	var kept []int64
	for _, found := range check(t, n.admin, far, far, true).Clashes {
		kept = append(kept, found.Event.ID)
	}
	valuetest.Holds(t, len(kept) == 1 && kept[0] == last, "%v", kept)
	n.admin.Patch(t, path("/api/events/%d", last),
		map[string]any{"event": map[string]any{"starts_at": far + " 08:00",
			"ends_at": far + " 08:30"}}).Must(t, 200)
	n.Stop(t, "events")
	n.due(t)
	n.Restart(t, "events")
	timetest.Eventually(t, "the check is done", time.Minute, func() bool { return n.done(t) })
	n.wantNotes(t)
}
