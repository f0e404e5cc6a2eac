package servicetest

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Event is one of a stream of server-sent events, as far as Belfry uses them. One without data is a heartbeat.
type Event struct{ ID, Type, Data string }

// Stream is an open stream of server-sent events. The test's end closes it.
type Stream struct {
	Header http.Header
	body   io.ReadCloser
	lines  *bufio.Reader
}

// Stream opens the stream of a path; name, value, … are headers. The test fails when the answer is not 200.
func (c *Client) Stream(t testing.TB, path string, headers ...string) *Stream {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.options.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.prepare(r, headers)
	// The client's own timeout would end the stream.
	unbounded := http.Client{Transport: c.http.Transport}
	answer, err := unbounded.Do(r) //nolint:bodyclose // Close does, at the end of the test
	if err != nil {
		t.Fatalf("GET %s: %v", redacted(path), err)
	}
	s := &Stream{Header: answer.Header, body: answer.Body, lines: bufio.NewReader(answer.Body)}
	t.Cleanup(s.Close)
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || !isStream(kind) {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		t.Fatalf("GET %s: %d %s %s", redacted(path), answer.StatusCode, kind, text)
	}
	return s
}

// Next returns the next event, and false when the stream has ended.
func (s *Stream) Next() (e Event, ok bool) {
	text, err := readEvent(s.lines)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			e.ID = value
		case "event":
			e.Type = value
		case "data":
			e.Data += value
		}
	}
	return e, err == nil
}

// Close ends it.
func (s *Stream) Close() { _ = s.body.Close() }

func isStream(contentType string) bool { return strings.HasPrefix(contentType, "text/event-stream") }

// readBody reads a body: all of it, or the first event of a stream, which has no end.
func readBody(answer *http.Response) ([]byte, error) {
	if !isStream(answer.Header.Get("Content-Type")) || answer.Request.Method == http.MethodHead {
		return io.ReadAll(answer.Body)
	}
	return readEvent(bufio.NewReader(answer.Body))
}

// readEvent reads an event with the empty line at its end.
func readEvent(lines *bufio.Reader) (text []byte, err error) {
	for {
		line, err := lines.ReadBytes('\n')
		text = append(text, line...)
		if err != nil || string(line) == "\n" {
			return text, err
		}
	}
}
