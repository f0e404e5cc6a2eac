// Package problem holds Belfry's one error type and the one table from its kinds to HTTP codes and the contract's
// status texts (decisions, part 1). Domain packages return problems; package web writes them. All other errors are
// faults: their text is logged and never sent to a client.
package problem

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Kind says what sort of failure an Error is. Its zero value is Internal.
type Kind int

// The kinds, in the order of the table in decisions, part 1; Gone is not in it.
const (
	Internal             Kind = iota // a fault of ours
	Malformed                        // the request cannot be read
	AccessDenied                     // no session, or one that may not use the API
	Forbidden                        // signed in, but not allowed
	NotFound                         // no such record or path
	MethodNotAllowed                 // the path is known, the method is not
	Gone                             // what was asked for is kept no longer
	Conflict                         // a lost race that cannot be merged, or an illegal transition
	PreconditionFailed               // If-Match did not match
	TooLarge                         // the body exceeds the limit
	UnsupportedMediaType             // the body is not declared as JSON
	Invalid                          // the record is invalid; Fields says where
	TooManyRequests                  // a limit is exceeded; RetryAfter says until when
	Unavailable                      // a store or a neighbour is away
)

// answers is the one table from kind to HTTP code and contract status. The codes are plain numbers, so that domain
// packages that return problems do not import net/http.
var answers = [...]struct {
	code   int
	status string
}{
	Internal:             {500, "Internal server error"},
	Malformed:            {400, "Bad request"},
	AccessDenied:         {401, "Access denied"},
	Forbidden:            {403, "Forbidden"},
	NotFound:             {404, "Not found"},
	MethodNotAllowed:     {405, "Method not allowed"},
	Gone:                 {410, "Gone"},
	Conflict:             {409, "Conflict"},
	PreconditionFailed:   {412, "Precondition failed"},
	TooLarge:             {413, "Payload too large"},
	UnsupportedMediaType: {415, "Unsupported media type"},
	Invalid:              {422, "Unprocessable entity"},
	TooManyRequests:      {429, "Too many requests"},
	Unavailable:          {503, "Service unavailable"},
}

// Code returns the HTTP code of k.
func (k Kind) Code() int { return answers[k].code }

// Status returns the contract's status text of k (part 7.1, decisions part 1).
func (k Kind) Status() string { return answers[k].status }

// String returns the status text, so that a kind reads well in logs.
func (k Kind) String() string { return k.Status() }

// OfCode returns the kind with that HTTP code, Internal when there is none. Package web uses it for errors of the
// HTTP library, package neighbour for answers of other services.
func OfCode(code int) Kind {
	for k := Malformed; k <= Unavailable; k++ {
		if k.Code() == code {
			return k
		}
	}
	return Internal
}

// Fields maps a field of the API to what is wrong with it.
type Fields map[string][]string

// Clone returns a copy to which messages may be added, also of nil.
func (f Fields) Clone() Fields {
	copied := make(Fields, len(f))
	for field, messages := range f {
		copied[field] = slices.Clip(messages)
	}
	return copied
}

// Add records one message for a field.
func (f Fields) Add(field, message string) { f[field] = append(f[field], message) }

// Error is a failure that may be shown to a client: Message, Record, ID and Fields are. The cause is only logged.
type Error struct {
	Kind       Kind
	Message    string        // for the client; empty where the status says it all
	Record     string        // with ID: the type name of a record that does not exist (exception body, contract 7.2)
	ID         string        // the id as addressed
	Fields     Fields        // for Invalid
	RetryAfter time.Duration // for TooManyRequests, Unavailable; whole seconds are sent
	cause      error
}

// Error describes the failure for logs, the cause included.
func (e *Error) Error() string {
	text := e.Kind.Status()
	if m := e.Detail(); m != "" {
		text += ": " + m
	}
	for field, messages := range e.Fields {
		text += fmt.Sprintf("; %s %q", field, messages)
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause, nil when there is none.
func (e *Error) Unwrap() error { return e.cause }

// Detail is the message for the client: that of the exception body for a missing record, else Message.
func (e *Error) Detail() string {
	if e.Record != "" {
		return fmt.Sprintf("Couldn't find %s with 'id'=%s", e.Record, e.ID)
	}
	return e.Message
}

// New returns a problem of the given kind with a message for the client, formatted as by fmt.Sprintf.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns a problem of the given kind whose cause is only for the log.
func Wrap(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), cause: cause}
}

// Missing says that the record of that type name ("Event", "Commitment", …) addressed by id does not exist.
func Missing(record string, id int64) *Error {
	return &Error{Kind: NotFound, Record: record, ID: strconv.FormatInt(id, 10)}
}

// InvalidFields returns an Invalid problem for the given fields, and nil when there are none, so that a check can end
// with it.
func InvalidFields(fields Fields) error {
	if len(fields) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Fields: fields}
}

// As returns the problem in err's chain. Any other error becomes an Internal problem with err as its cause. It
// returns nil for nil.
func As(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Kind: Internal, cause: err}
}

// Is says whether err's chain holds a problem of that kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
