package store

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// An event carries its commitments a second time, in brief: the element, id and status of each, in a few bytes. A
// listing of some days shows only these, so it does not read the commitments themselves, of which an event may have
// 1,500.

// briefStatuses are stored as their indexes here: add new ones at the end.
func briefStatuses() []event.Status {
	return []event.Status{event.Uncontrolled, event.Requested, event.Noted, event.Rejected, event.Confirmed}
}

// briefOf returns commitments in brief: for each the difference of its element and of its id to those before it, as
// varints, and a byte for its status. Nil when one has a status without a number.
func briefOf(commitments []event.Commitment) []byte {
	var brief []byte
	statuses := briefStatuses()
	var before event.Commitment
	for _, c := range commitments {
		status := slices.Index(statuses, c.Status)
		if status < 0 {
			return nil
		}
		brief = binary.AppendVarint(brief, c.ElementID-before.ElementID)
		brief = binary.AppendVarint(brief, c.ID-before.ID)
		brief = append(brief, byte(status))
		before = c
	}
	return brief
}

// commitmentsOf reads what briefOf returned, nil when it is something else.
func commitmentsOf(brief []byte) []event.Commitment {
	const numbers = 3 // of a commitment; each ends with a byte below 0x80
	ends := 0
	for _, b := range brief {
		if b < 0x80 {
			ends++
		}
	}
	commitments := make([]event.Commitment, 0, ends/numbers)
	statuses := briefStatuses()
	var before event.Commitment
	for len(brief) > 0 {
		element, n := binary.Varint(brief)
		if n <= 0 {
			return nil
		}
		id, m := binary.Varint(brief[n:])
		if m <= 0 || len(brief) == n+m || int(brief[n+m]) >= len(statuses) {
			return nil
		}
		before = event.Commitment{
			ID: before.ID + id, ElementID: before.ElementID + element, Status: statuses[brief[n+m]],
		}
		commitments, brief = append(commitments, before), brief[n+m+1:]
	}
	return commitments
}

// inBrief projects the fields that a listing of some days shows.
var inBrief = bson.D{
	{Key: "version", Value: 1}, {Key: "body", Value: 1}, {Key: "category_id", Value: 1}, {Key: "owner_id", Value: 1},
	{Key: "organiser_id", Value: 1}, {Key: "starts", Value: 1}, {Key: "ends", Value: 1}, {Key: "all_day", Value: 1},
	{Key: "modified", Value: 1}, {Key: "brief", Value: 1},
}

// briefEvent is an event read with inBrief. A listing of a year reads more than a thousand, so it decodes itself
// without reflection, with the same result as eventDocument.
type briefEvent event.Event

func (e briefEvent) event() event.Event { return event.Event(e) }

// Weight implements mongostore.Weighty: of the event and its copy, which share the commitments.
func (e *briefEvent) Weight() int {
	const size = 640 // of both without commitments
	return size + commitmentSize*cap(e.Commitments)
}

// UnmarshalBSON implements bson.Unmarshaler. It retains no part of data.
func (e *briefEvent) UnmarshalBSON(data []byte) error {
	length, rest, ok := bsoncore.ReadLength(data)
	if !ok || int(length) != len(data) {
		return bsoncore.NewInsufficientBytesError(data, rest)
	}
	for len(rest) > 1 {
		var field bsoncore.Element
		if field, rest, ok = bsoncore.ReadElement(rest); !ok {
			return bsoncore.NewInsufficientBytesError(data, rest)
		}
		if value := field.Value(); value.Type != bsoncore.TypeNull && !e.read(field.KeyBytes(), value) {
			return fmt.Errorf("%s is of type %s", field.Key(), value.Type)
		}
	}
	return nil
}

// read reads a field; false when it is of another type than it should be.
func (e *briefEvent) read(name []byte, value bsoncore.Value) (ok bool) {
	switch string(name) {
	case "_id":
		e.ID, ok = value.AsInt64OK()
	case "version":
		e.Version, ok = value.AsInt64OK()
	case "body":
		e.Body, ok = value.StringValueOK()
	case "category_id":
		e.CategoryID, ok = value.AsInt64OK()
	case "owner_id":
		e.OwnerID, ok = value.AsInt64OK()
	case "organiser_id":
		e.OrganiserID, ok = value.AsInt64OK()
	case "starts":
		e.Span.Starts, ok = timeOf(value)
	case "ends":
		e.Span.Ends, ok = timeOf(value)
	case "all_day":
		e.Span.AllDay, ok = value.BooleanOK()
	case "modified":
		e.Modified, ok = timeOf(value)
	case "brief":
		var brief []byte
		_, brief, ok = value.BinaryOK()
		e.Commitments = commitmentsOf(brief)
	default:
		ok = true
	}
	return ok
}

func timeOf(value bsoncore.Value) (time.Time, bool) {
	milliseconds, ok := value.DateTimeOK()
	return time.UnixMilli(milliseconds).UTC(), ok
}
