package notice

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	// deliveryPatience is how long a delivery is tried.
	deliveryPatience = 24 * time.Hour
	// deliveryPause and longestDeliveryPause bound the pause before the next attempt.
	deliveryPause        = time.Second
	longestDeliveryPause = time.Hour
	// testKind is the kind of a test delivery, which has no notice.
	testKind event.NoticeKind = "webhook.test"
	// typePrefix begins the type of the CloudEvents.
	typePrefix = "io.github.belfry-schools."
)

// State of a delivery.
type State string

// The states.
const (
	Waiting   State = "waiting"   // to be tried, for the first time or again
	Delivered State = "delivered" // the receiver answered 2xx
	Failed    State = "failed"    // given up
)

// Delivery is a notice on its way to a webhook. The tags name its fields as they are stored.
type Delivery struct {
	ID          int64            `bson:"_id"`
	WebhookID   int64            `bson:"webhook_id"`
	NoticeID    string           `bson:"notice_id"`
	Kind        event.NoticeKind `bson:"kind"`
	EventID     int64            `bson:"event_id"`              // 0: of a test
	CategoryID  int64            `bson:"category_id,omitempty"` // the event's; 0: of a test
	Position    int64            `bson:"position"`              // among the notices of the event
	At          time.Time        `bson:"at"`
	DueAt       time.Time        `bson:"due_at"` // when it may be tried next
	State       State            `bson:"state"`
	Attempts    int              `bson:"attempts"`
	AttemptedAt time.Time        `bson:"attempted_at,omitempty"`
	Code        int              `bson:"code,omitempty"`  // that the receiver last answered; 0: none
	Error       string           `bson:"error,omitempty"` // what was wrong at the last attempt
	// Body is sent the same in each attempt until the event becomes confidential.
	Body []byte `bson:"body"`
	Once bool   `bson:"once"` // tried once
}

// cloudEvent is the body of a delivery: a CloudEvent 1.0 in the structured mode of the JSON format.
type cloudEvent struct {
	SpecVersion string    `json:"specversion"`
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Subject     string    `json:"subject,omitempty"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype"`
	Data        any       `json:"data"`
}

// noticeData is the data of a notice. Users are named by their ids only.
type noticeData struct {
	Event struct {
		ID       int64  `json:"id"`
		Body     string `json:"body"`
		StartsAt string `json:"starts_at"`
		EndsAt   string `json:"ends_at"`
		AllDay   bool   `json:"all_day"`
		OwnerID  *int64 `json:"owner_id"`
	} `json:"event"`
	ActorID *int64      `json:"actor_id"`
	Entries []entryData `json:"entries"`
}

type entryData struct {
	CommitmentID int64         `json:"commitment_id"`
	Status       event.Status  `json:"status"`
	Reason       string        `json:"reason"`
	Element      form.Element  `json:"element"`
	AddedBy      *int64        `json:"added_by"`
	DecidedBy    *int64        `json:"decided_by"`
	Request      *form.Request `json:"request,omitempty"`
}

// delivery makes the delivery of a notice to a webhook.
func (s *Service) delivery(w Webhook, n Notice, elements map[int64]fact.Element) Delivery {
	var data noticeData
	data.Event.ID, data.Event.Body, data.Event.AllDay = n.Event.ID, n.Event.Body, n.Event.AllDay
	data.Event.OwnerID = form.OrNull(n.Event.OwnerID)
	data.Event.StartsAt, data.Event.EndsAt = s.Zone.Format(n.Event.Starts), s.Zone.Format(n.Event.Ends)
	data.ActorID, data.Entries = form.OrNull(n.Actor), make([]entryData, len(n.Entries))
	for i, e := range n.Entries {
		entry := entryData{
			CommitmentID: e.CommitmentID, Status: e.Status, Reason: e.Reason, Element: elements[e.ElementID].Element,
			AddedBy: form.OrNull(e.AddedBy), DecidedBy: form.OrNull(e.DecidedBy),
		}
		if e.RequestID != 0 {
			group := elements[e.GroupID].Element
			entry.Request = &form.Request{
				ID: &e.RequestID, Quantity: e.Quantity, NumAllocated: e.Allocated, Element: &group, Valid: true,
			}
		}
		data.Entries[i] = entry
	}
	d := Delivery{
		WebhookID: w.ID, NoticeID: n.ID, Kind: n.Kind, EventID: n.Event.ID, CategoryID: n.Event.CategoryID,
		Position: n.Position, At: n.At, DueAt: n.At, State: Waiting,
	}
	d.Body = s.envelope(d, data)
	return d
}

// envelope makes the body of a delivery.
func (s *Service) envelope(d Delivery, data any) []byte {
	e := cloudEvent{
		SpecVersion: "1.0", ID: d.NoticeID, Type: typePrefix + string(d.Kind), Time: d.At,
		Source: s.PublicURL + "/api/events", ContentType: "application/json", Data: data,
	}
	if d.EventID != 0 {
		e.Subject = strconv.FormatInt(d.EventID, 10)
	}
	body, _ := json.Marshal(e) // numbers, texts and times always encode
	return body
}

// withoutTexts is the body of a delivery as it is made of a redacted notice.
func withoutTexts(body []byte) []byte {
	var data noticeData
	e := cloudEvent{Data: &data}
	_ = json.Unmarshal(body, &e) // envelope made it
	data.Event.Body = event.RedactedBody
	for i := range data.Entries {
		data.Entries[i].Reason = ""
	}
	redacted, _ := json.Marshal(e)
	return redacted
}

// deliver runs a queue for each active webhook until ctx ends, so that no receiver waits for another.
func (s *Service) deliver(ctx context.Context) error {
	queues := map[int64]context.CancelFunc{}
	var running sync.WaitGroup
	defer running.Wait()
	return s.repeat(ctx, "delivering to webhooks", look, func(context.Context) error {
		hooks, err := s.Store.ListWebhooks(ctx)
		if err != nil {
			return err
		}
		there := map[int64]bool{}
		for _, w := range hooks {
			there[w.ID] = true
			if queues[w.ID] == nil {
				queue, stop := context.WithCancel(ctx)
				queues[w.ID] = stop
				running.Go(func() {
					_ = s.repeat(
						queue, "a webhook's queue", look, func(ctx context.Context) error { return s.drain(ctx, w.ID) },
					)
				})
			}
		}
		for id, stop := range queues {
			if !there[id] {
				stop()
				delete(queues, id)
			}
		}
		return nil
	})
}

// drain sends what is due to a webhook, one delivery at a time. Its error is the store's.
func (s *Service) drain(ctx context.Context, webhookID int64) error {
	for ctx.Err() == nil {
		w, err := s.Store.GetWebhook(ctx, webhookID)
		if errors.Is(err, record.ErrNotFound) { // removed just now
			return nil
		}
		if err != nil {
			return err
		}
		d, due, err := s.nextDelivery(ctx, w)
		if err != nil || !due {
			return err
		}
		if err := s.deliverOne(ctx, w, d); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// nextDelivery returns a due delivery; false when there is none. While the webhook is inactive, or of a group that is
// no school, it returns only tests.
func (s *Service) nextDelivery(ctx context.Context, w Webhook) (Delivery, bool, error) {
	d, due, err := s.Store.NextDelivery(ctx, w.ID, time.Now(), !w.Active)
	if err != nil || !due || d.Once || w.SchoolID == 0 {
		return d, due, err
	}
	facts, err := s.Elements.Facts(ctx, fact.ElementsQuestion{IDs: []int64{w.SchoolID}})
	if err != nil {
		return Delivery{}, false, err
	}
	if slices.ContainsFunc(facts, func(f fact.Element) bool { return f.ID == w.SchoolID && f.School }) {
		return d, true, nil
	}
	return s.Store.NextDelivery(ctx, w.ID, time.Now(), true)
}

// deliverOne makes one attempt and stores its result. An attempt that ctx interrupted does not count.
func (s *Service) deliverOne(ctx context.Context, w Webhook, d Delivery) error {
	secret, err := s.confidential(ctx, []event.NoticeEvent{{ID: d.EventID, CategoryID: d.CategoryID}})
	if err != nil {
		return err
	}
	if secret[0] {
		d.Body = withoutTexts(d.Body)
	}
	code, fault := s.Webhooks.Attempt(ctx, w, d)
	if ctx.Err() != nil && code == 0 {
		return ctx.Err()
	}
	ctx, cancel := lastWord(ctx)
	defer cancel()
	now := time.Now().UTC()
	d.Attempts++
	d.AttemptedAt, d.Code, d.Error = now, code, fault
	outcome := "again"
	switch {
	case fault == "":
		d.State, outcome = Delivered, "sent"
	case d.Once || now.Sub(d.At) > deliveryPatience:
		d.State, outcome = Failed, "failed"
		s.Log.WarnContext(ctx, "a webhook delivery is given up",
			"webhook", w.ID, "delivery", d.ID, "attempts", d.Attempts, "code", code)
	default:
		d.DueAt = now.Add(deliveryWait(d.Attempts))
		s.Log.DebugContext(ctx, "a webhook delivery is tried again",
			"webhook", w.ID, "delivery", d.ID, "attempts", d.Attempts, "code", code)
	}
	s.Metrics.Tried(ctx, "webhook", outcome)
	return s.Store.KeepDelivery(ctx, d)
}

// deliveryWait is the pause after that many attempts: doubled each time up to an hour, varied by up to a quarter.
func deliveryWait(attempts int) time.Duration {
	wait := longestDeliveryPause
	if attempts < 12 {
		wait = min(deliveryPause<<attempts, longestDeliveryPause)
	}
	return wait*3/4 + rand.N(wait/2)
}
