package store

import (
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// The text is stored, and read by the pods of other releases.
func TestNoticeText_IsTheStoredOneAndIsReadBack(t *testing.T) {
	starts := time.Date(2026, 9, 7, 8, 30, 0, 0, time.UTC)
	n := event.Notice{
		Kind:  event.RequestAllocated,
		Actor: 9,
		Event: event.NoticeEvent{
			ID: 5, Body: "Concert", Starts: starts, Ends: starts.Add(time.Hour), AllDay: true, OwnerID: 4,
		},
		Entries: []event.Entry{
			{CommitmentID: 1, ElementID: 10, Status: event.Confirmed, Reason: "free", DecidedBy: 2, AddedBy: 3,
				RequestID: 6, GroupID: 7, Quantity: 8, Allocated: 1},
			{CommitmentID: 2, ElementID: 11, Status: event.Requested},
		},
	}
	const want = `{"kind":"request.allocated","position":25,"event":{"id":5,"body":"Concert",` +
		`"starts":"2026-09-07T08:30:00Z","ends":"2026-09-07T09:30:00Z","all_day":true,"owner_id":4},"actor":9,` +
		`"entries":[{"commitment_id":1,"element_id":10,"status":"confirmed","reason":"free","decided_by":2,` +
		`"added_by":3,"request_id":6,"group_id":7,"quantity":8,"allocated":1},` +
		`{"commitment_id":2,"element_id":11,"status":"requested"}]}`
	got := noticeText(3, 1, n)
	if got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
	n.Position = 25
	if back, err := decodeNotice(got); err != nil || !reflect.DeepEqual(back, n) {
		t.Errorf("read back: %+v, %v; want %+v", back, err, n)
	}
}

func TestNoticesOf_LeavesOutWhatIsNoNoticeAndWhatIsNotReadable(t *testing.T) {
	var log output.Buffer
	at := time.Date(2026, 9, 7, 8, 30, 0, 0, time.UTC)
	got := NoticesOf(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), []outbox.Message{
		{ID: "a deletion", Kind: "event.deleted", Subject: 5},
		{ID: "torn", Kind: "commitment.requested", Subject: 5, At: at, Detail: `{"kind":`},
		{ID: "whole", Kind: "commitment.requested", Subject: 5, At: at,
			Detail: noticeText(1, 0, event.Notice{Kind: event.CommitmentRequested})},
	})
	if len(got) != 1 || got[0].ID != "whole" || !got[0].At.Equal(at) || got[0].Kind != event.CommitmentRequested {
		t.Errorf("the notices are %+v", got)
	}
	if !strings.Contains(log.String(), "notice=torn") {
		t.Errorf("the log does not name the notice that was skipped: %s", log.String())
	}
}
