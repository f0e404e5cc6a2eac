package store

import (
	"time"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/series"
)

// seriesDocument is a series as it is stored.
type seriesDocument struct {
	mongostore.Head `bson:",inline"`

	Series series.Series `bson:",inline"`

	Unmade   *time.Time          `bson:"unmade,omitempty"` // since when something of it is to be done
	KeyAt    *time.Time          `bson:"key_at,omitempty"`
	Failures idempotencyDocument `bson:"failures"` // its failures alone
}

// series returns what the document says.
func (d *seriesDocument) series() series.Series {
	s := d.Series
	s.ID, s.Version, s.Failures = d.ID, d.Version, d.Failures.record().Failures
	for i := range s.Plan {
		s.Plan[i].Clock.AllDay = s.Plan[i].Span.AllDay
	}
	if s.Changing != nil {
		for i := range s.Changing.Events {
			s.Changing.Events[i].Clock.AllDay = s.Changing.Events[i].Span.AllDay
		}
	}
	return s
}

// set makes the document say s; the version stays.
func (d *seriesDocument) set(s series.Series) {
	*d = seriesDocument{
		Head:     mongostore.Head{ID: s.ID, Version: d.Version, Schema: schema},
		Series:   s,
		Failures: idempotencyDocumentOf(event.IdempotencyRecord{Failures: s.Failures}),
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
}
