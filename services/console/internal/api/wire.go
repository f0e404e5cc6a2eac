package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/propagation"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
)

// tries is how often a call of a page is made, which must not wait for a service to start.
const tries = 2

// wire carries calls of the interface.
type wire struct {
	through    http.RoundTripper // to the address of each path
	propagator propagation.TextMapPropagator
	header     http.Header // of one visitor's calls
}

// client returns a client that calls as a visitor does: with the cookie, the address and the request's id. With 0
// tries it waits a minute for a service.
func (w wire) client(header http.Header, tries uint) (*client.Client, error) {
	w.header = header
	return client.New(routes.Inside, client.Options{UserAgent: "belfry-console", Tries: tries, Transport: w})
}

// seenKey is the context's key of a *string that becomes the version of the record that is read.
type seenKey struct{}

// headerKey is the context's key of a header of the calls.
type headerKey string

const (
	onceKey headerKey = "Idempotency-Key" // of a form's own key: sent twice, the form writes once
	atKey   headerKey = "If-Match"        // of the version at which a record may be changed
)

// once makes the form's call once, however often the browser sends the form.
func (v *visit) once() context.Context { return context.WithValue(v.ctx, onceKey, v.typed.Get("key")) }

// RoundTrip implements http.RoundTripper.
func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range w.header {
		r.Header[name] = values
	}
	for _, name := range []headerKey{onceKey, atKey} {
		if value, _ := r.Context().Value(name).(string); value != "" {
			r.Header.Set(string(name), value)
		}
	}
	w.propagator.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	answer, err := w.settle(r)
	if seen, asked := r.Context().Value(seenKey{}).(*string); asked && err == nil {
		*seen = answer.Header.Get("ETag")
	}
	return answer, err
}

// waitsAtMost bounds the seconds that a form, sent twice at once, waits for what comes of the first.
const waitsAtMost = 5

// settle makes a call. A conflict that says when to try again is that of an Idempotency-Key whose first call is still
// under way.
func (w wire) settle(r *http.Request) (*http.Response, error) {
	for range waitsAtMost {
		answer, err := w.through.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusConflict || answer.Header.Get("Retry-After") == "" {
			return answer, err
		}
		if err := answer.Body.Close(); err != nil {
			return nil, err
		}
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
		select {
		case <-time.After(time.Second):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return w.through.RoundTrip(r)
}

// list asks for a list, in one call.
func list[T any](v *visit, path, part string, query url.Values) ([]T, error) {
	answer, err := v.api.Get(v.ctx, path+"?"+query.Encode(), "")
	return client.Each[T](answer.Records(part)), err
}

// find is a list that may be empty: the interface answers a search by name that finds nothing with 404.
func find[T any](v *visit, path, part string, query url.Values) ([]T, error) {
	found, err := list[T](v, path, part, query)
	if nothing(err) {
		return nil, nil
	}
	return found, err
}

// remove deletes what the interface has at a path, unless it has gone already.
func (v *visit) remove(path string) error {
	if err := v.api.Delete(v.ctx, path, nil); !client.Missing(err) {
		return err
	}
	return nil
}

// refused is an error that is an answer with one of the codes, nil for any other.
func refused(err error, codes ...int) *client.Error {
	var failed *client.Error
	if errors.As(err, &failed) && slices.Contains(codes, failed.Code) {
		return failed
	}
	return nil
}

// nothing says whether an error is the interface's 404, which a search that finds nothing is as well.
func nothing(err error) bool {
	failed := refused(err, fiber.StatusNotFound)
	return failed != nil && !failed.Foreign
}
