package store

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/series"
)

// seriesDocument is a series as it is stored.
type seriesDocument struct {
	mongostore.Head `bson:",inline"`

	State     series.State      `bson:"state"`
	Begun     time.Time         `bson:"begun"`
	Unmade    *time.Time        `bson:"unmade,omitempty"` // since when something of it is to be done
	Ending    *endingDocument   `bson:"ending,omitempty"`
	Changes   int64             `bson:"changes,omitempty"`
	Changing  *changeDocument   `bson:"changing,omitempty"`
	Changed   []outcomeDocument `bson:"changed,omitempty"`
	Actor     audit.Actor       `bson:"actor"`
	Key       string            `bson:"key,omitempty"`
	KeyAt     *time.Time        `bson:"key_at,omitempty"`
	Body      string            `bson:"body_hash,omitempty"` // of the request with the key
	Rule      string            `bson:"rule"`
	Except    []int32           `bson:"except,omitempty"`
	During    *calendarDocument `bson:"during,omitempty"`
	NotDuring *calendarDocument `bson:"not_during,omitempty"`
	Clashes   series.Clashing   `bson:"clashes,omitempty"`

	Pattern  event.Event          `bson:"pattern"`
	Plan     []occurrenceDocument `bson:"plan"`
	LeftOut  []leftOutDocument    `bson:"left_out,omitempty"`
	Failures idempotencyDocument  `bson:"failures"` // its failures alone
}

type endingDocument struct {
	Since  time.Time   `bson:"since"`
	Actor  audit.Actor `bson:"actor"`
	Events []int64     `bson:"events"`
}

type calendarDocument struct {
	CategoryID int64  `bson:"category_id"`
	Body       string `bson:"body,omitempty"`
}

// changeDocument is a change of several events. Its events are those of a plan.
type changeDocument struct {
	Number    int64             `bson:"number"`
	Since     time.Time         `bson:"since"`
	Actor     audit.Actor       `bson:"actor"`
	Key       string            `bson:"key,omitempty"`
	BodyHash  string            `bson:"body_hash,omitempty"` // of the request with the key
	EventID   int64             `bson:"event_id"`
	Committed bool              `bson:"committed,omitempty"`
	Dropped   bool              `bson:"dropped,omitempty"`
	Texts     []string          `bson:"texts,omitempty"` // names and texts in turn
	Common    event.Common      `bson:",inline"`
	Overwrite bool              `bson:"overwrite,omitempty"`
	Staying   []int64           `bson:"staying,omitempty"`
	Events    []alteredDocument `bson:"events"`
}

type alteredDocument struct {
	EventID   int64         `bson:"id"`
	Place     int           `bson:"place"`
	Reason    series.Reason `bson:"reason,omitempty"`
	OtherID   int64         `bson:"other_id,omitempty"`
	ElementID int64         `bson:"element_id,omitempty"`
	Version   int64         `bson:"version,omitempty"`
	Held      bool          `bson:"held,omitempty"`
	Starts    time.Time     `bson:"starts"`
	Ends      time.Time     `bson:"ends"`
	AllDay    bool          `bson:"all_day,omitempty"`
	Clock     time.Time     `bson:"clock,omitempty"`
	Lasts     int64         `bson:"lasts,omitempty"` // seconds, by the clock
}

type keptDocument struct {
	Place     int           `bson:"place"` // each has one of its own
	EventID   int64         `bson:"id"`
	Reason    series.Reason `bson:"reason,omitempty"`
	OtherID   int64         `bson:"other_id,omitempty"`
	ElementID int64         `bson:"element_id,omitempty"`
}

type outcomeDocument struct {
	Number   int64          `bson:"number"`
	At       time.Time      `bson:"at"`
	Key      string         `bson:"key,omitempty"`
	BodyHash string         `bson:"body_hash,omitempty"`
	EventID  int64          `bson:"event_id"`
	Changed  []int64        `bson:"changed,omitempty"`
	Kept     []keptDocument `bson:"kept,omitempty"`
}

func (d *changeDocument) change() *series.Change {
	if d == nil {
		return nil
	}
	c := &series.Change{
		Number: d.Number, Since: d.Since, Actor: d.Actor, Key: idempotency.Key{ID: d.Key, Body: d.BodyHash},
		EventID: d.EventID, Committed: d.Committed, Dropped: d.Dropped, Overwrite: d.Overwrite, Staying: d.Staying,
		Common: d.Common,
	}
	c.Common.Texts = map[string]string{}
	for i := 1; i < len(d.Texts); i += 2 {
		c.Common.Texts[d.Texts[i-1]] = d.Texts[i]
	}
	for _, a := range d.Events {
		c.Events = append(c.Events, series.Altered{
			Kept: series.Kept{
				Place: a.Place, EventID: a.EventID, Reason: a.Reason, OtherID: a.OtherID, ElementID: a.ElementID,
			},
			Version: a.Version, Held: a.Held, Clock: clock(a.Clock, a.Lasts, a.AllDay),
			Span: wiretime.Span{Starts: a.Starts, Ends: a.Ends, AllDay: a.AllDay},
		})
	}
	return c
}

func changeDocumentOf(c *series.Change) *changeDocument {
	if c == nil {
		return nil
	}
	d := &changeDocument{
		Number: c.Number, Since: c.Since, Actor: c.Actor, Key: c.Key.ID, BodyHash: c.Key.Body,
		EventID: c.EventID, Committed: c.Committed, Dropped: c.Dropped, Overwrite: c.Overwrite, Staying: c.Staying,
		Common: c.Common,
	}
	for _, name := range event.TextNames() {
		if text, given := c.Common.Texts[name]; given {
			d.Texts = append(d.Texts, name, text)
		}
	}
	for _, a := range c.Events {
		d.Events = append(d.Events, alteredDocument{
			EventID: a.EventID, Place: a.Place, Reason: a.Reason, OtherID: a.OtherID, ElementID: a.ElementID,
			Version: a.Version, Held: a.Held, Starts: a.Span.Starts, Ends: a.Span.Ends, AllDay: a.Span.AllDay,
			Clock: a.Clock.Start, Lasts: seconds(a.Clock),
		})
	}
	return d
}

// clock is the zero Clock where none was kept.
func clock(start time.Time, lasts int64, allDay bool) series.Clock {
	if start.IsZero() {
		return series.Clock{}
	}
	return series.Clock{Start: start, Lasts: time.Duration(lasts) * time.Second, AllDay: allDay}
}

func seconds(c series.Clock) int64 { return int64(c.Lasts / time.Second) }

func (d outcomeDocument) outcome() series.Outcome {
	o := series.Outcome{
		Number: d.Number, At: d.At, Key: idempotency.Key{ID: d.Key, Body: d.BodyHash}, EventID: d.EventID,
		Changed: d.Changed,
	}
	for _, k := range d.Kept {
		o.Kept = append(o.Kept, series.Kept(k))
	}
	return o
}

func outcomeDocumentOf(o series.Outcome) outcomeDocument {
	d := outcomeDocument{
		Number: o.Number, At: o.At, Key: o.Key.ID, BodyHash: o.Key.Body, EventID: o.EventID, Changed: o.Changed,
	}
	for _, k := range o.Kept {
		d.Kept = append(d.Kept, keptDocument(k))
	}
	return d
}

type occurrenceDocument struct {
	ID          int64     `bson:"id"` // of the event
	Place       int       `bson:"place"`
	Starts      time.Time `bson:"starts"`
	Ends        time.Time `bson:"ends"`
	AllDay      bool      `bson:"all_day"`
	Clock       time.Time `bson:"clock,omitempty"` // when it begins, as the clock shows it
	Lasts       int64     `bson:"lasts,omitempty"` // seconds, by the clock
	Commitments []int64   `bson:"commitments,omitempty"`
	Requests    []int64   `bson:"requests,omitempty"`
}

type leftOutDocument struct {
	Starts    time.Time     `bson:"starts"`
	Reason    series.Reason `bson:"reason"`
	EventID   int64         `bson:"event_id,omitempty"`
	ElementID int64         `bson:"element_id,omitempty"`
}

// series returns what the document says.
func (d *seriesDocument) series() series.Series {
	s := series.Series{
		ID: d.ID, Version: d.Version, State: d.State, Begun: d.Begun, Actor: d.Actor,
		Key: idempotency.Key{ID: d.Key, Body: d.Body},
		Repeat: series.Repeat{
			Rule: d.Rule, During: (*series.Calendar)(d.During), NotDuring: (*series.Calendar)(d.NotDuring),
			Clashes: d.Clashes,
		},
		Pattern:  d.Pattern,
		Ending:   (*series.Ending)(d.Ending),
		Changes:  d.Changes,
		Changing: d.Changing.change(),
		Failures: d.Failures.record().Failures,
	}
	for _, day := range d.Except {
		s.Repeat.Except = append(s.Repeat.Except, wiretime.Day(day))
	}
	for _, o := range d.Plan {
		s.Plan = append(s.Plan, series.Occurrence{
			Place: o.Place, EventID: o.ID, Span: wiretime.Span{Starts: o.Starts, Ends: o.Ends, AllDay: o.AllDay},
			Clock:       clock(o.Clock, o.Lasts, o.AllDay),
			Commitments: o.Commitments, Requests: o.Requests,
		})
	}
	for _, o := range d.Changed {
		s.Changed = append(s.Changed, o.outcome())
	}
	for _, l := range d.LeftOut {
		s.LeftOut = append(s.LeftOut, series.LeftOut(l))
	}
	return s
}

// set makes the document say s; the version stays.
func (d *seriesDocument) set(s series.Series) {
	*d = seriesDocument{
		Head: mongostore.Head{ID: s.ID, Version: d.Version, Schema: schema}, State: s.State, Begun: s.Begun,
		Actor: s.Actor, Key: s.Key.ID, Body: s.Key.Body, Rule: s.Repeat.Rule,
		During: (*calendarDocument)(s.Repeat.During), NotDuring: (*calendarDocument)(s.Repeat.NotDuring),
		Clashes:  s.Repeat.Clashes,
		Pattern:  s.Pattern,
		Failures: idempotencyDocumentOf(event.IdempotencyRecord{Failures: s.Failures}),
	}
	d.Ending = (*endingDocument)(s.Ending)
	d.Changes, d.Changing = s.Changes, changeDocumentOf(s.Changing)
	for _, o := range s.Changed {
		d.Changed = append(d.Changed, outcomeDocumentOf(o))
	}
	switch {
	case s.State != series.Made:
		d.Unmade = &s.Begun
	case s.Ending != nil:
		d.Unmade = &s.Ending.Since
	case s.Changing != nil:
		d.Unmade = &s.Changing.Since
	}
	if s.Key.Given() {
		d.KeyAt = &s.Begun
	}
	for _, day := range s.Repeat.Except {
		d.Except = append(d.Except, int32(day))
	}
	for _, o := range s.Plan {
		d.Plan = append(d.Plan, occurrenceDocument{
			ID: o.EventID, Place: o.Place, Starts: o.Span.Starts, Ends: o.Span.Ends, AllDay: o.Span.AllDay,
			Clock: o.Clock.Start, Lasts: seconds(o.Clock),
			Commitments: o.Commitments, Requests: o.Requests,
		})
	}
	for _, l := range s.LeftOut {
		d.LeftOut = append(d.LeftOut, leftOutDocument(l))
	}
}
