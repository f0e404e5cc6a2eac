package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// tries bounds how often a call is made: with the pauses of Options, doubling from 250 ms to 5 s, the last
// try comes about a minute after the first failure.
const tries = 17

// Error is an answer other than success.
type Error struct {
	Method, Path string // without the query
	Code         int    // HTTP
	Status       string // the envelope's status, such as "Access denied"
	Message      string // the envelope's message, may be empty
	Exception    string // the envelope's exception: RecordNotFound, or empty
	Foreign      bool   // the answer has no envelope: a proxy gave it, and not Belfry
	// Fields says what is wrong with an invalid record (422), by field.
	Fields map[string][]string

	after time.Duration // of the Retry-After header, 0 without one
}

// Error names the call and the answer.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s %s: %d %s", e.Method, e.Path, e.Code, e.Status)
	if problems := e.Problems(); problems != "" {
		text += ": " + problems
	}
	return text
}

// Problems are the message, and what is wrong with each field, as one text; "" where the answer says neither.
func (e *Error) Problems() string {
	var fields []string
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		fields = append(fields, field+" "+strings.Join(e.Fields[field], ", "))
	}
	all := []string{e.Message, strings.Join(fields, "; ")}
	return strings.Join(slices.DeleteFunc(all, func(text string) bool { return text == "" }), ": ")
}

// networkError is a call without an answer.
type networkError struct{ error }

func (e *networkError) Unwrap() error { return e.error }

// Missing says whether err is Belfry's answer that there is no such record: 404, or 400 where a commitment is deleted.
// A 404 of a proxy, or of a service that does not have the path, says nothing of a record.
func Missing(err error) bool {
	failed := (*Error)(nil)
	return errors.As(err, &failed) && failed.Exception == "RecordNotFound"
}

// untouched says whether a call that failed cannot have changed anything: it reached no server, or was refused for now.
// A proxy that has no service for a path, because none is ready, answers 404.
func untouched(err error) bool {
	var network *net.OpError
	if errors.As(err, &network) {
		return network.Op == "dial"
	}
	failed := (*Error)(nil)
	return errors.As(err, &failed) && (failed.Code == http.StatusTooManyRequests ||
		failed.Code == http.StatusNotFound && failed.Foreign)
}

// persist calls try until it succeeds, fails for good, or has failed as often as Options says. A call may be made
// twice: a login creates another session, a batch is matched by keys, an element is retired once. A call that may not
// be made again returns a backoff.PermanentError.
func (c *Client) persist(ctx context.Context, try func() error) error {
	pauses := &backoff.ExponentialBackOff{InitialInterval: c.options.Wait, RandomizationFactor: 0.3, Multiplier: 2,
		MaxInterval: 20 * c.options.Wait}
	options := []backoff.RetryOption{backoff.WithBackOff(pauses), backoff.WithMaxTries(c.options.Tries),
		backoff.WithMaxElapsedTime(0)}
	if c.options.OnRetry != nil {
		options = append(options, backoff.WithNotify(func(err error, pause time.Duration) {
			c.options.OnRetry(cause(err), pause)
		}))
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err, final, failed := try(), (*backoff.PermanentError)(nil), (*Error)(nil)
		switch {
		case err == nil, errors.As(err, &final):
		case ctx.Err() != nil || !passing(err):
			err = backoff.Permanent(err)
		case errors.As(err, &failed) && failed.after > 0:
			err = &delayed{error: err, after: backoff.RetryAfterError{Duration: failed.after}}
		}
		return struct{}{}, err
	}, options...)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return cause(err)
}

// delayed is the pause before the next try. It keeps the reason for when the loop ends without success.
type delayed struct {
	error
	after backoff.RetryAfterError
}

func (d *delayed) As(target any) bool {
	after, ok := target.(**backoff.RetryAfterError)
	if ok {
		*after = &d.after
	}
	return ok
}

func cause(err error) error {
	if final := (*backoff.PermanentError)(nil); errors.As(err, &final) {
		return final.Err
	}
	if d := (*delayed)(nil); errors.As(err, &d) {
		return d.error
	}
	return err
}

// passing says whether the same call may succeed later: no server listens, the connection broke, a service or the way
// to it is away, or there are too many calls. A proxy whose services are away answers in its own words: 404, any 5xx,
// or a page in place of the envelope. A host name that does not exist and an invalid certificate do not pass, nor does
// what a proxy decides: a redirect, a login of its own, a body that is too large for it.
func passing(err error) bool {
	if failed := (*Error)(nil); errors.As(err, &failed) {
		switch failed.Code {
		case http.StatusTooManyRequests,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return failed.Foreign && (failed.Code == http.StatusOK || failed.Code == http.StatusNotFound ||
			failed.Code >= http.StatusInternalServerError)
	}
	var (
		network     *networkError
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
	)
	switch {
	case !errors.As(err, &network), errors.As(err, &certificate):
		return false
	case errors.As(err, &name):
		return !name.IsNotFound
	}
	return true
}

// retryAfter reads the header's seconds; the form with a date is not Belfry's.
func retryAfter(res *http.Response) time.Duration {
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
