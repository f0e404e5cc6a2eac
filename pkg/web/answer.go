package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web/envelope"
)

// Field is one key of an answer after status.
type Field struct {
	Name  string
	Value any
}

// OK answers 200 with status OK and the fields in their order.
func OK(c *fiber.Ctx, fields ...Field) error { return Answer(c, fiber.StatusOK, "OK", fields...) }

// HashSource is the source of a Content-Security-Policy that allows this text and no other.
func HashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// OKUnless is OK unless there is an error, which it returns.
func OKUnless(c *fiber.Ctx, err error, fields ...Field) error {
	if err != nil {
		return err
	}
	return OK(c, fields...)
}

// Created answers 201 with status Created, the fields and, except in a dry run, Location: the path of the new record or
// of the record that contains it.
func Created(c *fiber.Ctx, location string, fields ...Field) error {
	if !DryRun(c) {
		c.Set(fiber.HeaderLocation, location)
	}
	return Answer(c, fiber.StatusCreated, "Created", fields...)
}

// Answer writes the envelope: status, dry_run in a dry run, then the fields in their order. encoding/json writes <, >,
// &, U+2028 and U+2029 as escapes, as required by decisions, part 1.
func Answer(c *fiber.Ctx, code int, status string, fields ...Field) error {
	body := form.AppendText([]byte(`{"status":`), status)
	if DryRun(c) && code < fiber.StatusMultipleChoices {
		body = append(body, `,"dry_run":true`...)
	}
	for _, f := range fields {
		body = append(strconv.AppendQuote(append(body, ','), f.Name), ':')
		var err error
		if body, err = appendJSON(body, f.Value); err != nil {
			return err
		}
	}
	c.Set(fiber.HeaderContentType, envelope.ContentType)
	c.Response().SetBodyRaw(append(body, '}')) // nothing else refers to it, so it needs no copy
	c.Status(code)
	return nil
}

// mostGuessed bounds the bytes that are allocated for a list before it is written.
const mostGuessed = 256 << 10

// appendJSON appends a value. A json.RawMessage comes from another service, and is passed on as it is. The records of a
// list are written one by one, since encoding/json buffers everything that it writes at once.
func appendJSON(b []byte, value any) (_ []byte, err error) {
	if text, ok := value.(json.RawMessage); ok {
		return append(b, text...), nil
	}
	list := reflect.ValueOf(value)
	if list.Kind() != reflect.Slice || list.Len() == 0 || list.Type().Elem().Kind() != reflect.Struct {
		return appendWhole(b, value)
	}
	begin := len(b)
	for i := range list.Len() {
		if b, err = appendItem(b, i, list.Index(i).Addr().Interface()); err != nil {
			return nil, err
		}
		if i == 0 { // others may be as long
			b = slices.Grow(b, min(list.Len()*(len(b)-begin), mostGuessed))
		}
	}
	return append(b, ']'), nil
}

// appendItem appends an item of a list after the list's beginning or a separator.
func appendItem(b []byte, i int, item any) ([]byte, error) {
	separator := byte(',')
	if i == 0 {
		separator = '['
	}
	return appendWhole(append(b, separator), item)
}

func appendWhole(b []byte, value any) ([]byte, error) {
	if text, known := fact.Append(b, value); known {
		return text, nil
	}
	text := bytes.NewBuffer(b)
	if err := json.NewEncoder(text).Encode(value); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return text.Bytes()[:text.Len()-1], nil // the encoder ends with a newline
}

// InvalidRecord answers 422 with the record as its shape shows it: the caller sets valid to false
// and the errors in it.
func InvalidRecord(c *fiber.Ctx, name string, record any) error {
	return Answer(c, problem.Invalid.Code(), problem.Invalid.Status(), Field{name, record})
}

// answerErrors turns the error or panic of all later handlers into an answer, so that the access log and the
// trace see its code.
func answerErrors(o Options) fiber.Handler {
	answer := answerError(o)
	return func(c *fiber.Ctx) (err error) {
		defer func() {
			if r := recover(); r != nil {
				o.Log.ErrorContext(c.UserContext(), "panic", "route", matchedRoute(c), "request",
					c.Locals(requestIDKey), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				err = answer(c, problem.New(problem.Internal, ""))
			}
		}()
		if err := c.Next(); err != nil {
			return answer(c, err)
		}
		return nil
	}
}

// answerError writes the envelope for an error. Faults and absent stores are logged with their cause; the client
// never sees it.
func answerError(o Options) fiber.ErrorHandler {
	return func(c *fiber.Ctx, err error) error {
		p := classify(o, err)
		if p.Kind == problem.Internal || p.Kind == problem.Unavailable {
			o.Log.ErrorContext(c.UserContext(), "request failed", "route", matchedRoute(c), "request",
				c.Locals(requestIDKey), "error", p.Error())
		}
		if p.RetryAfter > 0 {
			c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
		}
		switch _, is := bearer(c); {
		case p.Kind == problem.AccessDenied && is:
			c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="Belfry", error="invalid_token"`)
		case p.Kind == problem.AccessDenied:
			c.Set(fiber.HeaderWWWAuthenticate, `Cookie realm="Belfry", cookie-name="`+o.Cookies.Name()+`"`)
		}
		return Answer(c, p.Kind.Code(), p.Kind.Status(), errorFields(c, p)...)
	}
}

func errorFields(c *fiber.Ctx, p *problem.Error) []Field {
	var fields []Field
	if p.Record != "" {
		fields = append(fields, Field{"exception", "RecordNotFound"})
	}
	if detail := p.Detail(); detail != "" {
		fields = append(fields, Field{"message", detail})
	}
	if len(p.Fields) > 0 {
		fields = append(fields, Field{"errors", p.Fields})
	}
	if asked, _ := c.Locals(neighbourKey).(bool); asked && p.Record != "" {
		fields = append(fields, Field{"record", p.Record}, Field{"id", p.ID})
	}
	return fields
}

// classify finds the problem in err: one of ours, an error of fiber (unknown path, wrong method, too large,
// unreadable), an overrun deadline, or what the service's stores report.
func classify(o Options, err error) *problem.Error {
	if own, ok := errors.AsType[*problem.Error](err); ok {
		return own
	}
	if o.Classify != nil {
		if p := o.Classify(err); p != nil {
			return p
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return problem.Wrap(problem.Unavailable, err, "")
	}
	if routed, ok := errors.AsType[*fiber.Error](err); ok {
		switch {
		case routed.Code == fiber.StatusRequestHeaderFieldsTooLarge:
			return problem.New(problem.TooLarge, "the request's headers exceed %d bytes", maxHeader)
		case problem.OfCode(routed.Code) != problem.Internal:
			return problem.New(problem.OfCode(routed.Code), "")
		case routed.Code < fiber.StatusInternalServerError:
			return problem.New(problem.Malformed, "")
		}
	}
	return problem.As(err)
}
