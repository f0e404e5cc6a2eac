package walkthrough

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// oldest is how old a signature may be (docs/notice.md).
const oldest = 5 * time.Minute

// endpoint is the receiver of a webhook. It keeps what it takes, looks at each signature, and can be away.
type endpoint struct {
	url    string
	server *http.Server

	mu     sync.Mutex
	secret string // that verifies; "" before the webhook is registered
	away   bool   // answers 503
	got    []delivery
}

// delivery is an attempt that reached the endpoint.
type delivery struct {
	ID, Type, Subject string
	Data              struct {
		ActorID *int64 `json:"actor_id"`
		Entries []struct {
			CommitmentID int64 `json:"commitment_id"`
			Status       string
			Reason       string
			DecidedBy    *int64 `json:"decided_by"`
			Element      struct{ ID int64 }
		}
	}
	body, signature string
	refused         bool // was answered 503
	fault           string
}

// kind is the type without what all types begin with.
func (d delivery) kind() string {
	return strings.TrimPrefix(d.Type, "io.github.belfry-schools.")
}

func startEndpoint(address, reachedAt string, certificate *tls.Certificate) (*endpoint, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if certificate != nil {
		scheme = "https"
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12})
	}
	e := &endpoint{url: reachedAt}
	if e.url == "" {
		e.url = scheme + "://" + listener.Addr().String() + "/belfry"
	}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = e.server.Serve(listener) }() // it ends with close
	return e, nil
}

func (e *endpoint) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = e.server.Shutdown(ctx) // what is on its way comes again
}

// ServeHTTP takes an attempt.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	d := delivery{body: string(body), signature: r.Header.Get("Belfry-Signature")}
	e.mu.Lock()
	defer e.mu.Unlock()
	if fault := readDelivery(r, body, &d); fault != nil {
		d.fault = fault.Error()
	} else if fault := errors.Join(verify(e.secret, d.signature, body, time.Now()), verifyStandard(e.secret, r.Header, body)); fault != nil {
		d.fault = fault.Error()
	}
	d.refused = e.away
	e.got = append(e.got, d)
	if e.away {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// readDelivery reads a CloudEvent 1.0 in the structured mode and says what it lacks.
func readDelivery(r *http.Request, body []byte, d *delivery) error {
	var event struct {
		SpecVersion string
		Source      string
		Time        time.Time
		ContentType string `json:"datacontenttype"`
	}
	if err := errors.Join(json.Unmarshal(body, d), json.Unmarshal(body, &event)); err != nil {
		return err
	}
	switch {
	case r.Method != http.MethodPost:
		return errors.New("it is no POST")
	case r.Header.Get("Content-Type") != "application/cloudevents+json; charset=utf-8":
		return fmt.Errorf("its Content-Type is %q", r.Header.Get("Content-Type"))
	case event.SpecVersion != "1.0" || d.ID == "" || event.ContentType != "application/json" || !strings.HasSuffix(event.Source, "/api/events"):
		return errors.New("it is no CloudEvent 1.0 of events")
	case time.Since(event.Time) > time.Hour || time.Until(event.Time) > time.Minute:
		return fmt.Errorf("its time is %v", event.Time)
	case !strings.HasPrefix(d.Type, "io.github.belfry-schools."):
		return fmt.Errorf("its type is %q", d.Type)
	case r.Header.Get("Idempotency-Key") != d.ID:
		return fmt.Errorf("its Idempotency-Key is %q, its id %q", r.Header.Get("Idempotency-Key"), d.ID)
	}
	return nil
}

// verifyStandard is what a receiver does with a library of Standard Webhooks.
func verifyStandard(secret string, header http.Header, body []byte) error {
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return webhook.Verify(body, header)
}

// verify checks the signature of before Standard Webhooks, as docs/notice.md has it: HMAC-SHA256 of the time, a dot and the body.
func verify(secret, signature string, body []byte, now time.Time) error {
	parts := map[string][]string{"t": {""}}
	for part := range strings.SplitSeq(signature, ",") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = append(parts[name], value)
	}
	sent := parts["t"][len(parts["t"])-1]
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if err != nil {
		return errors.New("the signature has no time")
	}
	if age := now.Sub(time.Unix(seconds, 0)).Abs(); age > oldest {
		return fmt.Errorf("the signature is %v off", age)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(sent + "." + string(body)))
	for _, digest := range parts["v1"] {
		if given, err := hex.DecodeString(digest); err == nil && hmac.Equal(given, mac.Sum(nil)) {
			return nil
		}
	}
	return errors.New("the signature is wrong")
}

// trust makes a secret the one that verifies.
func (e *endpoint) trust(secret string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.secret = secret
}

// leave makes the endpoint be away, or come back.
func (e *endpoint) leave(away bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.away = away
}

// attempts returns all that came so far, in its order.
func (e *endpoint) attempts() []delivery {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.got)
}

// notices returns what was taken, each id once, tests left out.
func (e *endpoint) notices() []delivery {
	var once []delivery
	for _, d := range e.attempts() {
		if d.refused || d.kind() == "webhook.test" || slices.ContainsFunc(once, func(other delivery) bool { return other.ID == d.ID }) {
			continue
		}
		once = append(once, d)
	}
	return once
}

// of returns the notices of an event as texts: "commitment.decided confirmed (fine)".
func (e *endpoint) of(event int64) []string {
	told := []string{}
	for _, d := range e.notices() {
		if d.Subject != strconv.FormatInt(event, 10) {
			continue
		}
		line := d.kind()
		for _, entry := range d.Data.Entries {
			line += " " + entry.Status
			if entry.Reason != "" {
				line += " (" + entry.Reason + ")"
			}
		}
		told = append(told, line)
	}
	return told
}
