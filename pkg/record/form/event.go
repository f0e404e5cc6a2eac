package form

import (
	"bytes"
	"strconv"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// Event is every form of an event (contract 2.3); a field that a form leaves out is nil. Times are texts of
// wiretime.Zone.Format.
type Event struct {
	ID          *int64         `json:"id"` // nil (null): never stored
	Body        string         `json:"body"`
	StartsAt    *string        `json:"starts_at"`
	EndsAt      *string        `json:"ends_at"`
	AllDay      bool           `json:"all_day"`
	Staff       *string        `json:"staff,omitempty"`
	Locations   *string        `json:"locations,omitempty"`
	Commitments []Commitment   `json:"commitments,omitzero"` // nil: left out; empty: []
	Requests    []Request      `json:"requests,omitzero"`
	Owner       *User          `json:"owner,omitempty"`
	Organiser   *Element       `json:"organiser,omitempty"`
	Valid       bool           `json:"valid"`
	Errors      problem.Fields `json:"errors,omitempty"`
	SeriesID    int64          `json:"series_id,omitempty"`    // only where the event is one of a series
	SeriesPlace int            `json:"series_place,omitempty"` // its place in that, from 1
	Category    *Category      `json:"category,omitempty"`     // only where it is asked for
	Busy        *bool          `json:"busy,omitempty"`         // likewise: its category is
}

// AppendEvent appends an event as Append does.
func AppendEvent(b []byte, e *Event) []byte {
	b = orNull(append(b, `{"id":`...), e.ID, appendID)
	b = AppendText(append(b, `,"body":`...), e.Body)
	b = orNull(append(b, `,"starts_at":`...), e.StartsAt, appendText)
	b = orNull(append(b, `,"ends_at":`...), e.EndsAt, appendText)
	b = strconv.AppendBool(append(b, `,"all_day":`...), e.AllDay)
	if e.Staff != nil {
		b = AppendText(append(b, `,"staff":`...), *e.Staff)
	}
	if e.Locations != nil {
		b = AppendText(append(b, `,"locations":`...), *e.Locations)
	}
	if e.Commitments != nil {
		b = appendList(append(b, `,"commitments":`...), e.Commitments, appendCommitment)
	}
	if e.Requests != nil {
		b = appendList(append(b, `,"requests":`...), e.Requests, appendRequest)
	}
	if e.Owner != nil {
		b = appendUser(append(b, `,"owner":`...), e.Owner)
	}
	if e.Organiser != nil {
		b = AppendElement(append(b, `,"organiser":`...), e.Organiser)
	}
	b = appendValid(b, e.Valid, e.Errors)
	if e.SeriesID != 0 {
		b = strconv.AppendInt(append(b, `,"series_id":`...), e.SeriesID, 10)
	}
	if e.SeriesPlace != 0 {
		b = strconv.AppendInt(append(b, `,"series_place":`...), int64(e.SeriesPlace), 10)
	}
	if c := e.Category; c != nil {
		b = strconv.AppendInt(append(b, `,"category":{"id":`...), c.ID, 10)
		b = AppendText(append(b, `,"name":`...), c.Name)
		b = append(strconv.AppendBool(append(b, `,"valid":`...), c.Valid), '}')
	}
	if e.Busy != nil {
		b = strconv.AppendBool(append(b, `,"busy":`...), *e.Busy)
	}
	return append(b, '}')
}

// AppendEventWith appends the JSON of an event, which has neither staff nor locations, with these two; nil: without.
func AppendEventWith(b, event []byte, staff, locations *string) []byte {
	const before = `,"all_day":` // no text has this: quotes in texts are escaped
	at := 0
	if found := bytes.Index(event, []byte(before)); found >= 0 && (staff != nil || locations != nil) {
		at = found + len(before)
		at += bytes.IndexByte(event[at:], ',')
	}
	b = append(b, event[:at]...)
	if staff != nil {
		b = AppendText(append(b, `,"staff":`...), *staff)
	}
	if locations != nil {
		b = AppendText(append(b, `,"locations":`...), *locations)
	}
	return append(b, event[at:]...)
}
