package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// newBooking returns an event of the ledger as it is acknowledged, and as it is shown.
func newBooking() (*booking, shown) {
	b := &booking{
		id: 7, title: "Lesson 1", stands: done, base: []int64{1, 2, 3}, calendar: 3, wantsBuses: true,
		titles:    map[string]verdict{"Lesson 1": done, "Lesson 2": unknown},
		added:     map[int64]verdict{4: done, 5: unknown},
		allocated: map[int64]verdict{8: done}, notes: map[string]verdict{}, decided: "confirmed", decision: done,
	}
	e := shown{ID: 7, Body: "Lesson 1"}
	for i, element := range []int64{1, 2, 3, 4, 8} {
		e.Commitments = append(e.Commitments, commitmentTo(int64(i+1), element))
	}
	e.Commitments[2].Status = "confirmed"
	e.Requests = append(e.Requests, servicetest.BookedRequest{ID: 1, Quantity: 2, NumAllocated: 1})
	e.Requests[0].Element.ID = 9
	return b, e
}

func commitmentTo(id, element int64) servicetest.BookedCommitment {
	c := servicetest.BookedCommitment{ID: id, Status: "uncontrolled"}
	c.Element.ID = element
	return c
}

// TestEveryDifferenceBetweenLedgerAndRecordIsFound: a comparison that finds nothing proves nothing.
func TestEveryDifferenceBetweenLedgerAndRecordIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*booking, *shown)
		says  string // "": nothing is wrong
	}{
		"as it was":           {func(*booking, *shown) {}, ""},
		"an unanswered title": {func(_ *booking, e *shown) { e.Body = "Lesson 2" }, ""},
		"an unanswered element": {
			func(_ *booking, e *shown) { e.Commitments = append(e.Commitments, commitmentTo(6, 5)) }, ""},
		"another title": {func(_ *booking, e *shown) { e.Body = "Lesson 3" }, "which is not the last"},
		"half of a creation": {func(_ *booking, e *shown) { e.Commitments = e.Commitments[1:] },
			"element 1 is there 0 times"},
		"a lost addition": {func(_ *booking, e *shown) { e.Commitments = slices.Delete(e.Commitments, 3, 4) },
			"element 4 is there 0 times"},
		"a doubled addition": {func(_ *booking, e *shown) { e.Commitments = append(e.Commitments, commitmentTo(6, 4)) },
			"element 4 is there 2 times"},
		"a strange element": {func(_ *booking, e *shown) { e.Commitments = append(e.Commitments, commitmentTo(6, 77)) },
			"77 is there unasked"},
		"a lost decision": {func(_ *booking, e *shown) { e.Commitments[2].Status = "requested" }, "the entry is"},
		"another decision": {func(b *booking, e *shown) { b.decision, e.Commitments[2].Status = unknown, "noted" },
			"the entry is"},
		"a lost request":    {func(_ *booking, e *shown) { e.Requests = nil }, "its requests are"},
		"a doubled request": {func(_ *booking, e *shown) { e.Requests[0].Quantity = 4 }, "its requests are"},
		"a wrong count":     {func(_ *booking, e *shown) { e.Requests[0].NumAllocated = 2 }, "its requests are"},
	} {
		b, e := newBooking()
		c.spoil(b, &e)
		k := newCheck(nil, &ledger{school: &school{minibuses: 9}})
		k.compareEvent(b, e)
		expect(t, name, k.complaints.all(), c.says)
	}
}

// TestEveryLostDoubledOrMixedUpNoticeIsFound as above.
func TestEveryLostDoubledOrMixedUpNoticeIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		came []string
		gone bool
		says string
	}{
		"as it was":  {[]string{noticeRequested, noticeDecided, noticeAllocated}, false, ""},
		"a lost one": {[]string{noticeRequested, noticeAllocated}, false, "0 notices commitment.decided"},
		"a doubled one": {[]string{noticeRequested, noticeDecided, noticeAllocated, noticeAllocated}, false,
			"2 notices request.allocated"},
		"one of what did not happen": {[]string{noticeRequested, noticeDecided, noticeAllocated, noticeDeleted}, false,
			"1 notices event.deleted"},
		"a lost one of a deletion": {[]string{noticeRequested, noticeDecided, noticeAllocated}, true,
			"0 notices event.deleted"},
		"out of order": {[]string{noticeDecided, noticeRequested, noticeAllocated}, false,
			"commitment.decided came before an earlier one"},
	} {
		b, _ := newBooking()
		k := newCheck(nil, &ledger{})
		if !c.gone {
			k.standing[b.id] = b
		}
		k.compareNoticesOf(b, c.came)
		expect(t, name, k.complaints.all(), c.says)
	}
}

// TestEveryChangeThatIsLostOrListedTwiceIsFound as above.
func TestEveryChangeThatIsLostOrListedTwiceIsFound(t *testing.T) {
	created := listedChange{"Event", 7, 1, "created"}
	changed := listedChange{"Event", 7, 2, "changed"}
	deleted := listedChange{"Event", 7, 3, "deleted"}
	for name, c := range map[string]struct {
		listed []listedChange
		gone   verdict
		stands bool
		says   string
	}{
		"as it was":               {[]listedChange{created, changed}, never, true, ""},
		"deleted":                 {[]listedChange{created, changed, deleted}, done, false, ""},
		"a deletion not answered": {[]listedChange{created}, unknown, true, ""},
		"a lost one":              {[]listedChange{changed}, never, true, "listed as created 0 times"},
		"a lost deletion":         {[]listedChange{created}, done, false, "listed as deleted 0 times"},
		"one too many":            {[]listedChange{created, deleted}, never, true, "listed as deleted 1 times"},
		"a doubled one":           {[]listedChange{created, created}, never, true, "created 2 times"},
		"out of order":            {[]listedChange{changed, created}, never, true, "version 1 is listed after 2"},
	} {
		b, _ := newBooking()
		b.gone = c.gone
		k := newCheck(nil, &ledger{bookings: []*booking{b}})
		if c.stands {
			k.standing[b.id] = b
		}
		k.compareListed(c.listed)
		expect(t, name, k.complaints.all(), c.says)
	}
}

// expect fails the test unless the complaints are none, or have one that says so.
func expect(t *testing.T, name string, complaints []string, says string) {
	t.Helper()
	found := slices.ContainsFunc(complaints, func(c string) bool { return strings.Contains(c, says) })
	if says == "" && len(complaints) > 0 || says != "" && !found {
		t.Errorf("%s: %q, want %q", name, complaints, says)
	}
}

// TestOnlyBelfrysOwn503SaysThatItIsUnavailable: a proxy's page is not an answer of Belfry's.
func TestOnlyBelfrysOwn503SaysThatItIsUnavailable(t *testing.T) {
	envelope := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	for _, c := range []struct {
		answer servicetest.Answer
		want   bool
	}{
		{servicetest.Answer{Code: 503, Header: envelope, Body: `{"status":"Service unavailable"}`}, true},
		{servicetest.Answer{Code: 503, Header: envelope, Body: `{"status":"OK"}`}, false},
		{servicetest.Answer{Code: 503, Header: http.Header{}, Body: `{"status":"Service unavailable"}`}, false},
		{servicetest.Answer{Code: 500, Header: envelope, Body: `{"status":"Service unavailable"}`}, false},
	} {
		valuetest.Same(t, isUnavailable(c.answer), c.want, "%d %s", c.answer.Code, c.answer.Body)
	}
}

// TestTheSeedDecidesTheFaults: a run can be repeated.
func TestTheSeedDecidesTheFaults(t *testing.T) {
	order := func(seed uint64) string {
		tr := newTrial(&system{replicaSet: true}, &ledger{}, arguments{seed: seed}, nil)
		text := ""
		for _, f := range tr.shuffled() {
			text += f.name + "\n"
		}
		return text
	}
	valuetest.Same(t, order(1), order(1), "one seed has two orders")
	valuetest.Holds(t, order(1) != order(2), "two seeds have one order")
}

// TestAPrimaryThatDoesNotStepDownIsAComplaint: a run with one that stays proves nothing of step-downs.
func TestAPrimaryThatDoesNotStepDownIsAComplaint(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		times int
	}{
		"done":              {nil, 1},
		"done, and cut off": {mongo.CommandError{Code: 11602, Name: "InterruptedDueToReplStateChange"}, 1},
		"not allowed":       {mongo.CommandError{Code: 13, Name: "Unauthorized"}, 0},
		"no replica set":    {mongo.CommandError{Code: 59, Name: "CommandNotFound"}, 0},
	} {
		tr := newTrial(&system{replicaSet: true}, &ledger{}, arguments{}, newConsole(io.Discard))
		if tr.steppedDown(c.err); tr.stepDowns != c.times || len(tr.complaints.all()) != 1-c.times {
			t.Errorf("%s: %d times, %q", name, tr.stepDowns, tr.complaints.all())
		}
	}
}

// TestNoTwoEventsTakeOneMinute, and all are within the four weeks.
func TestNoTwoEventsTakeOneMinute(t *testing.T) {
	seen := map[time.Time]bool{}
	for slot := range 24 * 60 * days {
		starts := (&booking{slot: slot}).starts()
		if seen[starts] || starts.Before(firstDay) || !starts.Before(firstDay.AddDate(0, 0, days)) {
			t.Fatalf("slot %d: %v", slot, starts)
		}
		seen[starts] = true
	}
}

// TestWhatIsLeftOverIsFoundInTheStore: notes of an event that is gone, deleted or never there, and reservations.
func TestWhatIsLeftOverIsFoundInTheStore(t *testing.T) {
	db := storetest.Mongo(t)
	insert := func(collection string, documents ...any) {
		errortest.None(t, errortest.Of(db.Collection(collection).InsertMany(t.Context(), documents)))
	}
	insert("events", bson.M{"_id": 1}, bson.M{"_id": 2, "deleted": true})
	insert("notes", bson.M{"_id": 1, "event_id": 1}, bson.M{"_id": 2, "event_id": 2}, bson.M{"_id": 3, "event_id": 3})
	insert("claims", bson.M{"_id": 7, "claims": bson.A{bson.M{"event_id": 1, "starts": firstDay, "ends": firstDay}}},
		bson.M{"_id": 8, "claims": bson.A{}})
	c := newCheck(&system{db: db}, &ledger{})
	if n, err := c.orphans(t.Context()); err != nil || n != 2 {
		t.Errorf("%d notes without an event, %v; want 2", n, err)
	}
	left, err := c.reservations(t.Context())
	want := reservation{ElementID: 7, EventID: 1, Starts: firstDay, Ends: firstDay}
	valuetest.Holds(t, err == nil && slices.Equal(left, []reservation{want}), "%+v, %v; want %+v", left, err, want)
}

// An interrupted run left its folder, with the data, and did not say where.
func TestAnInterruptedRunLeavesNoFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	errortest.Is(t, run(ctx, nil, io.Discard), context.Canceled)
	left, err := os.ReadDir(os.TempDir())
	errortest.None(t, err)
	valuetest.Same(t, len(left), 0, "what is left: %v", left)
}

// A build of the release before took a folder below the working directory for one below its sources.
func TestAFolderIsTheSameForEveryProgram(t *testing.T) {
	o, err := parse([]string{"-dir", "some/folder"})
	errortest.None(t, err)
	here, err := os.Getwd()
	errortest.None(t, err)
	valuetest.Same(t, o.dir, filepath.Join(here, "some", "folder"))
}
