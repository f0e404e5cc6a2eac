package proxies

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/ambiguous"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const (
	// patience is how long an answer may take that has to come.
	patience = 20 * time.Second
	// quiet is how long nothing comes when there is nothing more: a proxy that waits for the rest of a request.
	quiet = 2 * time.Second
	// atOnce is how many connections there are at once, so that those to Belfry are shared.
	atOnce = 8
)

var system *servicetest.System

func TestMain(m *testing.M) {
	os.Exit(servicetest.Run(m, servicetest.Options{}, func(s *servicetest.System) { system = s }))
}

// Markers are requests for missing users, so that each answer names its request.
var (
	markers    atomic.Int64
	markerText = regexp.MustCompile(`Couldn't find User with 'id'=(\d+)`)
)

func newMarker() string { return fmt.Sprint(1_000_000_000 + markers.Add(1)) }

// asker sends raw requests with the session of an administrator.
type asker struct{ address, headers string }

func (a asker) marker(id string) string {
	return "GET /api/admin/users/" + id + " HTTP/1.1\r\nHost: x\r\n" + a.headers + "\r\n"
}

// exchange is what came back for a request between two markers, on one connection.
type exchange struct {
	answers []string // codes, without those of the markers
	closed  bool     // before the second marker was answered
}

// send sends a marker, waits for its answer, and sends the request and another marker in one piece. It fails the test
// when a marker is answered out of turn, or the request more than once.
func (a asker) send(t *testing.T, raw string) exchange {
	t.Helper()
	connection, err := net.Dial("tcp", a.address)
	errortest.None(t, err)
	defer func() { _ = connection.Close() }()
	first, second := newMarker(), newMarker()
	reader := bufio.NewReader(connection)
	_, err = io.WriteString(connection, a.marker(first))
	got := read(t, connection, reader, patience, first)
	if err != nil || !slices.Equal(named(got), []string{first}) {
		t.Fatalf("the marker before: %v, got %q", err, got)
	}
	_, _ = io.WriteString(connection, raw+a.marker(second)) // a proxy that has refused the request may be gone
	got = read(t, connection, reader, quiet, second)
	codes := answerCode.FindAllStringSubmatch(got, -1)
	e := exchange{closed: true}
	for _, code := range codes {
		e.answers = append(e.answers, code[1])
	}
	switch names := named(got); {
	case len(names) == 0:
	case slices.Equal(names, []string{second}) && len(e.answers) > 0:
		e.answers, e.closed = e.answers[:len(e.answers)-1], false
	default:
		t.Errorf("got the answers of %v, want that of %s at most: %q", names, second, got)
	}
	if len(e.answers) > 1 {
		t.Errorf("answered %d times: %q", len(e.answers), got)
	}
	return e
}

var answerCode = regexp.MustCompile(`HTTP/1\.[01] (\d{3}) `)

func named(text string) []string {
	return sequence.Map(markerText.FindAllStringSubmatch(text, -1), func(found []string) string { return found[1] })
}

// read returns all that comes until a marker is answered, the connection ends, or nothing has come for that long.
func read(t *testing.T, connection net.Conn, reader *bufio.Reader, wait time.Duration, marker string) string {
	t.Helper()
	var text strings.Builder
	part := make([]byte, 4096)
	for !slices.Contains(named(text.String()), marker) {
		_ = connection.SetReadDeadline(time.Now().Add(wait))
		n, err := reader.Read(part)
		text.Write(part[:n])
		if err != nil {
			if timeout, ok := errors.AsType[net.Error](err); !errors.Is(err, io.EOF) && !(ok && timeout.Timeout()) {
				t.Logf("the connection ended: %v", err)
			}
			break
		}
	}
	return text.String()
}

// TestHardToBreak_Row15_ThroughProxies sends what pkg/web refuses through each proxy, and directly. Markers before and
// behind, on the same connection, and of others at the same time, each get their own answers.
func TestHardToBreak_Row15_ThroughProxies(t *testing.T) {
	session := system.Admin(t).SessionCookie()
	belfry := strings.TrimPrefix(system.Replica("identity", 0), "http://")
	headers := "Cookie: " + session.Name + "=" + session.Value + "\r\n"
	requests := ambiguous.Requests(ambiguous.Target{
		Read: "/api/admin/users", Write: "/api/admin/users", Gone: "/api/admin/users/999999999/sessions",
		Own: "/api/admin/import/users", Nowhere: "/api/nowhere", Headers: headers,
	})
	if len(requests) < 50 {
		t.Fatalf("%d requests, want 50 at least", len(requests))
	}
	for _, p := range proxies {
		t.Run(p.name, func(t *testing.T) {
			a := asker{p.start(t, belfry), headers}
			var mu sync.Mutex
			outcomes := map[string][]string{}
			names := make(chan string, len(requests))
			for name := range requests {
				names <- name
			}
			close(names)
			var wg sync.WaitGroup
			for range atOnce {
				wg.Go(func() {
					for name := range names {
						t.Run(name, func(t *testing.T) {
							e := a.send(t, requests[name])
							a.send(t, "") // another client, which may get the connection that the proxy had to Belfry
							if p.name == direct && (!e.closed || !slices.Equal(e.answers, []string{"400"})) {
								t.Errorf("got %+v, want 400 and the end of the connection", e)
							}
							mu.Lock()
							defer mu.Unlock()
							outcome := fmt.Sprintf("%v, closed: %t", e.answers, e.closed)
							outcomes[outcome] = append(outcomes[outcome], name)
						})
					}
				})
			}
			wg.Wait()
			for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
				slices.Sort(outcomes[outcome])
				t.Logf("%d times %s: %s", len(outcomes[outcome]), outcome, strings.Join(outcomes[outcome], "; "))
			}
		})
	}
}
