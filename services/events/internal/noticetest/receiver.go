package noticetest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Receiver is a real HTTP endpoint of a webhook that keeps what it is sent.
type Receiver struct {
	URL string

	mu      sync.Mutex
	behave  func(Request) int
	got     []Request
	release chan struct{}
}

// Request is what a receiver was sent.
type Request struct {
	Path    string
	Header  http.Header
	Body    string
	At      time.Time
	Code    int // that it was answered
	ID      string
	Type    string
	Subject string
	Data    map[string]any
}

// Stall is what behave returns to leave a request without an answer until the receiver is told to behave otherwise.
const Stall = 0

// StartReceiver starts an endpoint that answers 204 until it is told otherwise.
func StartReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{behave: func(Request) int { return http.StatusNoContent }, release: make(chan struct{})}
	server := httptest.NewServer(r)
	t.Cleanup(func() {
		r.Behave(func(Request) int { return http.StatusNoContent })
		server.Close()
	})
	r.URL = server.URL + "/hook"
	return r
}

// ServeHTTP takes a request.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	got := Request{Path: request.URL.Path, Header: request.Header, Body: string(body), At: time.Now()}
	var envelope struct {
		ID, Type, Subject string
		Data              map[string]any
	}
	if json.Unmarshal(body, &envelope) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	got.ID, got.Type, got.Subject, got.Data = envelope.ID, envelope.Type, envelope.Subject, envelope.Data
	r.mu.Lock()
	code, release := r.behave(got), r.release
	got.Code = code
	r.got = append(r.got, got)
	r.mu.Unlock()
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

// Behave makes the receiver answer each request with the code that behave returns for it, or Stall. Requests that stall end without an answer.
func (r *Receiver) Behave(behave func(Request) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.behave = behave
	close(r.release)
	r.release = make(chan struct{})
}

// Got returns all that was sent so far, in its order.
func (r *Receiver) Got() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Request(nil), r.got...)
}

// Taken returns those requests that were answered with success.
func (r *Receiver) Taken() []Request {
	var taken []Request
	for _, g := range r.Got() {
		if g.Code >= 200 && g.Code < 300 {
			taken = append(taken, g)
		}
	}
	return taken
}

// Verify is what a receiver does to know that a request is Belfry's and not an old one, as docs/notice.md tells it.
func Verify(secret, signature, body string, now time.Time) error {
	var seconds int64
	at, digests, _ := strings.Cut(signature, ",")
	if _, err := fmt.Sscanf(at, "t=%d", &seconds); err != nil {
		return fmt.Errorf("no signature: %w", err)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > 5*time.Minute || age < -5*time.Minute {
		return fmt.Errorf("it is %v old", age)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", seconds, body)
	want := fmt.Sprintf("v1=%x", mac.Sum(nil))
	for digest := range strings.SplitSeq(digests, ",") {
		if hmac.Equal([]byte(want), []byte(digest)) {
			return nil
		}
	}
	return fmt.Errorf("the signature is not right")
}

// Eventually fails the test unless holds becomes true within the time.
func Eventually(t testing.TB, what string, within time.Duration, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}
