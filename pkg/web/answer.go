package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web/envelope"
)

// Field is one key of an answer after status.
type Field struct {
	Name  string
	Value any
}

// OK answers 200 with status OK and the fields in their order.
func OK(c *fiber.Ctx, fields ...Field) error { return Answer(c, fiber.StatusOK, "OK", fields...) }

// Created answers 201 with status Created, the fields, and in Location the path of the record that was made, or of the
// one that has what was made.
func Created(c *fiber.Ctx, location string, fields ...Field) error {
	c.Set(fiber.HeaderLocation, location)
	return Answer(c, fiber.StatusCreated, "Created", fields...)
}

// Answer writes the envelope: status first, that it was a dry run, then the fields in their order. encoding/json
// writes <, >, &, U+2028 and U+2029 as escapes, as required by decisions, part 1.
func Answer(c *fiber.Ctx, code int, status string, fields ...Field) error {
	var body bytes.Buffer
	body.WriteString(`{"status":`)
	if err := writeJSON(&body, status); err != nil {
		return err
	}
	if DryRun(c) && code < fiber.StatusMultipleChoices {
		body.WriteString(`,"dry_run":true`)
	}
	for _, f := range fields {
		fmt.Fprintf(&body, ",%q:", f.Name)
		if err := writeJSON(&body, f.Value); err != nil {
			return err
		}
	}
	body.WriteByte('}')
	c.Set(fiber.HeaderContentType, envelope.ContentType)
	c.Response().SetBodyRaw(body.Bytes()) // nothing else refers to it, so it needs no copy
	c.Status(code)
	return nil
}

// writeJSON writes a value. A json.RawMessage comes from another service, and is passed on as it is. A list of
// records is written one by one: encoding/json has a buffer for all that it writes at once.
func writeJSON(b *bytes.Buffer, value any) error {
	if text, ok := value.(json.RawMessage); ok {
		b.Grow(len(text) + 1)
		b.Write(text)
		return nil
	}
	list := reflect.ValueOf(value)
	if list.Kind() != reflect.Slice || list.Len() == 0 || list.Type().Elem().Kind() != reflect.Struct {
		return writeWhole(b, value)
	}
	for i := range list.Len() {
		if err := writeItem(b, i, list.Index(i).Addr().Interface()); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// writeItem writes an item of a list after the list's beginning or a separator.
func writeItem(b *bytes.Buffer, i int, item any) error {
	if i == 0 {
		b.WriteByte('[')
	} else {
		b.WriteByte(',')
	}
	return writeWhole(b, item)
}

func writeWhole(b *bytes.Buffer, value any) error {
	if text, known := fact.Append(b.AvailableBuffer(), value); known {
		b.Write(text)
		return nil
	}
	if err := json.NewEncoder(b).Encode(value); err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	b.Truncate(b.Len() - 1) // the encoder ends with a newline
	return nil
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
		if p.Kind == problem.AccessDenied {
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
	var own *problem.Error
	if errors.As(err, &own) {
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
	var routed *fiber.Error
	if errors.As(err, &routed) {
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
