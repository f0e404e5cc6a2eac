package form

import (
	stdjson "encoding/json"
	"strconv"

	"github.com/segmentio/encoding/json"
)

// Append appends the JSON of a value, the same bytes that encoding/json writes, and returns true, when it is an
// Element, an Event, a Commitment or a Request, or a pointer to one, or appends itself; of anything else it returns b
// and false. It is for the listings, which have thousands of these: encoding/json looks at each field by reflection,
// and copies what it has written. The type has to be one of these itself: what embeds one has more fields.
func Append(b []byte, value any) ([]byte, bool) {
	switch v := value.(type) {
	case interface{ AppendJSON(b []byte) []byte }:
		return v.AppendJSON(b), true
	case *Commitment:
		return orNull(b, v, appendCommitment), true
	case Commitment:
		return appendCommitment(b, &v), true
	case *Event:
		return orNull(b, v, AppendEvent), true
	case Event:
		return AppendEvent(b, &v), true
	case *Element:
		return orNull(b, v, AppendElement), true
	case Element:
		return AppendElement(b, &v), true
	case *Request:
		return orNull(b, v, appendRequest), true
	case Request:
		return appendRequest(b, &v), true
	}
	return b, false
}

// AppendText appends a text as encoding/json writes it, with <, >, &, U+2028 and U+2029 as escapes.
func AppendText(b []byte, text string) []byte { return json.AppendEscape(b, text, json.EscapeHTML) }

func appendCommitment(b []byte, c *Commitment) []byte {
	b = orNull(append(b, `{"id":`...), c.ID, appendID)
	b = AppendText(append(b, `,"status":`...), c.Status)
	return append(AppendDecision(appendRest(b, c.Element, c.Event, c.Valid, c.Errors), c.Decision), '}')
}

func appendRequest(b []byte, r *Request) []byte {
	b = orNull(append(b, `{"id":`...), r.ID, appendID)
	b = strconv.AppendInt(append(b, `,"quantity":`...), int64(r.Quantity), 10)
	b = strconv.AppendInt(append(b, `,"num_allocated":`...), int64(r.NumAllocated), 10)
	return append(AppendDecision(appendRest(b, r.Element, r.Event, r.Valid, r.Errors), r.Decision), '}')
}

// appendRest appends what commitments and requests end with.
func appendRest(b []byte, element *Element, event *Event, valid bool, faults map[string][]string) []byte {
	if element != nil {
		b = AppendElement(append(b, `,"element":`...), element)
	}
	if event != nil {
		b = AppendEvent(append(b, `,"event":`...), event)
	}
	return appendValid(b, valid, faults)
}

// AppendDecision appends a decision as the last field of an object; of nil nothing.
func AppendDecision(b []byte, d *Decision) []byte {
	if d == nil {
		return b
	}
	b = orNull(append(b, `,"decision":{"asked_by":`...), d.AskedBy, appendUser)
	b = orNull(append(b, `,"decided_by":`...), d.DecidedBy, appendUser)
	b = orNull(append(b, `,"decided_at":`...), d.DecidedAt, appendText)
	b = orNull(append(b, `,"reason":`...), d.Reason, appendText)
	if len(d.Deciders) > 0 {
		b = appendList(append(b, `,"deciders":`...), d.Deciders, appendUser)
	}
	return append(b, '}')
}

// orNull appends the value of a pointer, or null.
func orNull[T any](b []byte, v *T, appendIt func([]byte, *T) []byte) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return appendIt(b, v)
}

func appendText(b []byte, text *string) []byte { return AppendText(b, *text) }

func appendID(b []byte, id *int64) []byte { return strconv.AppendInt(b, *id, 10) }

// AppendElement appends an element as Append does.
func AppendElement(b []byte, e *Element) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), e.ID, 10)
	b = AppendText(append(b, `,"name":`...), e.Name)
	b = AppendText(append(b, `,"entity_type":`...), e.EntityType)
	b = strconv.AppendInt(append(b, `,"entity_id":`...), e.EntityID, 10)
	b = strconv.AppendBool(append(b, `,"valid":`...), e.Valid)
	return append(b, '}')
}

func appendUser(b []byte, u *User) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), u.ID, 10)
	b = AppendText(append(b, `,"name":`...), u.Name)
	b = AppendText(append(b, `,"email":`...), u.Email)
	b = strconv.AppendBool(append(b, `,"valid":`...), u.Valid)
	return append(b, '}')
}

func appendList[T any](b []byte, items []T, appendItem func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendItem(b, &items[i])
	}
	return append(b, ']')
}

func appendValid(b []byte, valid bool, faults map[string][]string) []byte {
	b = strconv.AppendBool(append(b, `,"valid":`...), valid)
	if len(faults) > 0 {
		text, _ := stdjson.Marshal(faults) // texts have no error
		b = append(append(b, `,"errors":`...), text...)
	}
	return b
}
