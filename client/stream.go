package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// silence is after which time without a byte a stream is given up. Belfry sends something every ten seconds.
const silence = 30 * time.Second

// Stream follows changes from a token on, and calls told with those that come and the token to go on with, until the
// server ends the stream, which is not an error, or told returns one. It tries once: where there is no stream, as with
// an *Error, call Changes.
func (c *Client) Stream(ctx context.Context, since string, told func(changes []Record, next string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := request{method: http.MethodGet, path: "/api/changes/stream"}
	r, err := c.prepare(ctx, stream, "text/event-stream")
	if err != nil {
		return err
	}
	r.Header.Set("Last-Event-ID", since)
	late := time.AfterFunc(silence, cancel)
	defer late.Stop()
	unbounded := http.Client{Jar: c.http.Jar, Transport: c.http.Transport, CheckRedirect: c.http.CheckRedirect}
	answer, err := unbounded.Do(r)
	if err != nil {
		return &networkError{fmt.Errorf("GET %s: %w", stream.path, c.withoutURL(err))}
	}
	defer func() { _ = answer.Body.Close() }()
	kind := answer.Header.Get("Content-Type")
	if answer.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
		e, _ := envelopeOf(text)
		return c.failure(stream, answer, text, e)
	}
	var e streamEvent
	for lines := bufio.NewReader(answer.Body); ; late.Reset(silence) {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil // what is not whole did not happen
		}
		if err != nil {
			return &networkError{fmt.Errorf("GET %s: %w", stream.path, c.withoutURL(err))}
		}
		if line != "\n" {
			e.read(line)
			continue
		}
		if err := e.tell(told); err != nil {
			return err
		}
		e = streamEvent{}
	}
}

// streamEvent is an event of the stream. One without data says how far the stream is.
type streamEvent struct{ id, data string }

// read reads a line. Belfry writes the data of an event in one.
func (e *streamEvent) read(line string) {
	line = strings.TrimSuffix(line, "\n")
	if id, found := strings.CutPrefix(line, "id: "); found {
		e.id = id
	}
	if data, found := strings.CutPrefix(line, "data: "); found {
		e.data = data
	}
}

// tell passes on an event that has an id. One without is a heartbeat, or says that the token is no longer valid, which
// the list says too.
func (e *streamEvent) tell(told func(changes []Record, next string) error) error {
	var data struct {
		Changes json.RawMessage `json:"changes"`
	}
	var changes []Record
	switch {
	case e.id == "":
		return nil
	case e.data == "":
		return told(nil, e.id)
	}
	if err := errors.Join(json.Unmarshal([]byte(e.data), &data), decode(data.Changes, &changes)); err != nil {
		return fmt.Errorf("GET /api/changes/stream: the event is not Belfry's: %w", err)
	}
	return told(changes, e.id)
}
