package api

import (
	"encoding/json"
	"time"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// shownWebhook is a webhook in answers.
type shownWebhook struct {
	ID *int64 `json:"id"` // nil (null): never stored
	notice.Webhook

	CreatedAt string         `json:"created_at"`
	Secret    string         `json:"secret,omitempty"` // only in the answer that made or renewed it
	Valid     bool           `json:"valid"`
	Errors    problem.Fields `json:"errors,omitempty"`
}

func (h webhookHandlers) shown(w notice.Webhook) shownWebhook {
	return shownWebhook{ID: orNull(w.ID), Webhook: w, CreatedAt: h.shape.zone.Format(w.CreatedAt), Valid: true}
}

// shownDelivery is a line of the delivery log.
type shownDelivery struct {
	ID            int64            `json:"id"`
	NoticeID      string           `json:"notice_id"` // the id of the CloudEvent
	Kind          event.NoticeKind `json:"kind"`
	EventID       *int64           `json:"event_id"` // null: of a test
	State         notice.State     `json:"state"`
	Attempts      int              `json:"attempts"`
	CreatedAt     string           `json:"created_at"`
	AttemptedAt   *string          `json:"attempted_at"`    // null: not yet
	NextAttemptAt *string          `json:"next_attempt_at"` // null: none
	Code          *int             `json:"code"`            // null: no answer
	Error         string           `json:"error"`
	Valid         bool             `json:"valid"`
}

func (h webhookHandlers) delivery(d notice.Delivery) shownDelivery {
	shown := shownDelivery{
		ID:          d.ID,
		NoticeID:    d.NoticeID,
		Kind:        d.Kind,
		State:       d.State,
		Attempts:    d.Attempts,
		CreatedAt:   h.shape.zone.Format(d.At.Truncate(time.Second)),
		AttemptedAt: h.shape.moment(d.AttemptedAt.Truncate(time.Second)),
		Error:       d.Error,
		Valid:       true,
	}
	if d.State == notice.Waiting {
		shown.NextAttemptAt = h.shape.moment(d.DueAt.Truncate(time.Second))
	}
	shown.EventID = orNull(d.EventID)
	if d.Code != 0 {
		shown.Code = &d.Code
	}
	return shown
}

func readWebhook(o web.Object) notice.WebhookFields {
	faults := problem.Fields{}
	f := notice.WebhookFields{URL: o.Text("url", faults), Active: o.Bool("active", faults), Faults: faults}
	f.SchoolID = o.ID("school_id", faults)
	if o.Has("kinds") {
		var kinds []string
		if json.Unmarshal(o["kinds"], &kinds) != nil {
			faults.Add("kinds", "is not an array of kinds")
		} else {
			f.Kinds = &kinds
		}
	}
	return f
}
