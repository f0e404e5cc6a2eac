package receivers

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// KindPrefix is the prefix of the types of all notices.
const KindPrefix = "io.github.belfry-schools."

// EndpointOptions describe an endpoint. The zero value listens at a free port of 127.0.0.1 with plain http.
type EndpointOptions struct {
	Address     string           // to listen at, host:port; "": a free port of 127.0.0.1
	URL         string           // where a sender reaches it; "": at the address
	Certificate *tls.Certificate // for https; nil: plain http
}

// Endpoint is a webhook's real HTTP endpoint that keeps the requests it receives. It is safe for concurrent use.
type Endpoint struct {
	URL string

	server *http.Server

	mu      sync.Mutex
	secret  string // that verifies
	behave  func(Request) int
	got     []Request
	release chan struct{}
}

// Request is a request to an endpoint.
type Request struct {
	Path    string
	Header  http.Header
	Body    string
	At      time.Time
	Code    int // of the answer
	ID      string
	Type    string
	Subject string
	Data    map[string]any
	// Fault says what is not as docs/notice.md promises, the signature included; "" nothing. The secret is the one
	// that was trusted at the time.
	Fault string
}

// Kind returns the type without KindPrefix.
func (r Request) Kind() string { return strings.TrimPrefix(r.Type, KindPrefix) }

// Taken reports whether the answer was a success.
func (r Request) Taken() bool { return r.Code >= 200 && r.Code < 300 }

// Stall leaves, when behave returns it, a request without an answer until Behave is called again.
const Stall = 0

// StartEndpoint starts an endpoint that answers 204 until Behave is called. Close ends it.
func StartEndpoint(o EndpointOptions) (*Endpoint, error) {
	listener, err := listen(o.Address)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{URL: o.URL, behave: answer(http.StatusNoContent), release: make(chan struct{})}
	scheme := "http"
	if o.Certificate != nil {
		scheme, listener = "https", tls.NewListener(listener, tlsConfig(o.Certificate))
	}
	if e.URL == "" {
		e.URL = scheme + "://" + listener.Addr().String() + "/hook"
	}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = e.server.Serve(listener) }() // it ends with Close
	return e, nil
}

// NewEndpoint starts an endpoint for one test.
func NewEndpoint(t testing.TB) *Endpoint {
	t.Helper()
	e, err := StartEndpoint(EndpointOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// Close ends the endpoint. Requests that stall end without an answer.
func (e *Endpoint) Close() {
	e.Behave(answer(http.StatusNoContent))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = e.server.Shutdown(ctx) // unanswered requests are sent again
}

func answer(code int) func(Request) int { return func(Request) int { return code } }

// Trust sets the secret that verifies signatures from now on.
func (e *Endpoint) Trust(secret string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.secret = secret
}

// Behave makes the endpoint answer each request with the code that behave returns for it, or Stall. Requests that
// stall end without an answer.
func (e *Endpoint) Behave(behave func(Request) int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.behave = behave
	close(e.release)
	e.release = make(chan struct{})
}

// Answer makes the endpoint answer each request with a code.
func (e *Endpoint) Answer(code int) { e.Behave(answer(code)) }

// Got returns all requests so far, in order.
func (e *Endpoint) Got() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.got)
}

// Taken returns the requests whose answer was a success.
func (e *Endpoint) Taken() []Request {
	return slices.DeleteFunc(e.Got(), func(r Request) bool { return !r.Taken() })
}

// ServeHTTP keeps and answers a request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	got := Request{Path: request.URL.Path, Header: request.Header, Body: string(body), At: time.Now()}
	fault := got.read(request.Method)
	e.mu.Lock()
	if fault == nil {
		fault = Verify(e.secret, got)
	}
	if fault != nil {
		got.Fault = fault.Error()
	}
	code, release := e.behave(got), e.release
	got.Code = code
	e.got = append(e.got, got)
	e.mu.Unlock()
	if code == Stall {
		select {
		case <-release:
		case <-request.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	if code >= 300 && code < 400 {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(code)
}

// read parses a CloudEvent 1.0 in the structured mode and returns an error when it is incomplete.
func (r *Request) read(method string) error {
	var event struct {
		SpecVersion, ID, Type, Subject, Source string
		Time                                   time.Time
		ContentType                            string `json:"datacontenttype"`
		Data                                   map[string]any
	}
	if err := json.Unmarshal([]byte(r.Body), &event); err != nil {
		return err
	}
	r.ID, r.Type, r.Subject, r.Data = event.ID, event.Type, event.Subject, event.Data
	switch {
	case method != http.MethodPost:
		return errors.New("it is no POST")
	case r.Header.Get("Content-Type") != "application/cloudevents+json; charset=utf-8":
		return fmt.Errorf("its Content-Type is %q", r.Header.Get("Content-Type"))
	case event.SpecVersion != "1.0" || r.ID == "" || event.ContentType != "application/json" ||
		!strings.HasSuffix(event.Source, "/api/events"):
		return errors.New("it is no CloudEvent 1.0 of events")
	case time.Since(event.Time) > time.Hour || time.Until(event.Time) > time.Minute:
		return fmt.Errorf("its time is %v", event.Time)
	case !strings.HasPrefix(r.Type, KindPrefix):
		return fmt.Errorf("its type is %q", r.Type)
	case r.Header.Get("Idempotency-Key") != r.ID:
		return fmt.Errorf("its Idempotency-Key is %q, its id %q", r.Header.Get("Idempotency-Key"), r.ID)
	}
	return nil
}

// Verify verifies the signature of a request with a library of Standard Webhooks, as a receiver does. It
// returns an error when the request was sent more than five minutes ago.
func Verify(secret string, got Request) error {
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return webhook.Verify([]byte(got.Body), got.Header)
}
