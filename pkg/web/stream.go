package web

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/service/lifecycle"
)

const (
	// heartbeat is the longest time without a byte on a stream: proxies end connections that are silent for longer.
	heartbeat = 10 * time.Second
	// readStream bounds how long a source may take to read what is new.
	readStream = 10 * time.Second
	// retryStream is the Retry-After of a stream above the bounds.
	retryStream = 5 * time.Second
)

// Source is what a stream sends, as server-sent events.
type Source interface {
	// Wait returns when there may be something new, or when its context ends.
	Wait(ctx context.Context)
	// Read returns the new events that p may see, if any. With io.EOF they are the last.
	Read(ctx context.Context, p principal.Principal) ([]byte, error)
	// Close ends it.
	Close()
	// Beat returns what is sent when there was no event for a while.
	Beat() []byte
}

// StreamBounds limit the open streams of a process and of one user.
type StreamBounds struct{ All, Each int }

// streamer has what the streams of a route need.
type streamer struct {
	options Options
	bounds  StreamBounds
}

// streams are the open streams of one process.
type streams struct {
	mu     sync.Mutex
	open   map[int64]int // by user
	all    int
	ending context.Context
	end    context.CancelFunc
}

func newStreams() *streams {
	s := &streams{open: map[int64]int{}}
	s.ending, s.end = context.WithCancel(context.Background())
	return s
}

// begin takes a place for a stream of a user. Unavailable when the process is full, TooManyRequests when the user has
// too many.
func (s *streams) begin(user int64, bounds StreamBounds) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ending.Err() != nil || s.all >= bounds.All:
		return problem.New(problem.Unavailable, "")
	case s.open[user] >= bounds.Each:
		return &problem.Error{Kind: problem.TooManyRequests, RetryAfter: retryStream}
	}
	s.open[user]++
	s.all++
	return nil
}

func (s *streams) done(user int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.open[user]--; s.open[user] == 0 {
		delete(s.open, user)
	}
}

// Streams is how many streams are open.
func (b *Bounds) Streams() int {
	b.streams.mu.Lock()
	defer b.streams.mu.Unlock()
	return b.streams.all
}

// Stream answers 200 with a stream of server-sent events, of a route for those signed in. It ends with the session,
// with the source, when the process stops, and when its client reads nothing for five seconds.
func Stream(c *fiber.Ctx, source Source) error {
	by, of := c.Locals(streamKey).(streamer)
	load, signed := c.Locals(loadKey).(loader)
	if !of || !signed {
		return errors.New("the route has no streams")
	}
	user, s := Principal(c).UserID, by.options.Bounds.streams
	if err := s.begin(user, by.bounds); err != nil {
		return err
	}
	b := &streamBody{
		source: source, options: by.options, load: load, user: user, connection: c.Context().Conn(), streams: s,
		request: RequestID(c),
	}
	c.Set(fiber.HeaderContentType, "text/event-stream")
	c.Set(fiber.HeaderCacheControl, "no-store")
	sendAsRead(c, b)
	return nil
}

// sendAsRead answers with a body of unknown length, each piece of which is sent when it has been read.
func sendAsRead(c *fiber.Ctx, body io.Reader) {
	c.Set("X-Accel-Buffering", "no") // nginx would keep pieces back until it has many
	c.Context().SetConnectionClose()
	c.Context().Response.ImmediateHeaderFlush = true
	c.Context().Response.SetBodyStream(body, -1)
}

// Written answers 200 with what write writes, for as long as it takes, of a route with Streams that checks itself who
// calls: user is whom its bounds count. The context ends when the client has gone or the process stops, not with the
// request's deadline. Each piece is sent at once, and a newline where there was none for a while.
func Written(c *fiber.Ctx, user int64, write func(ctx context.Context, to io.Writer)) error {
	by, of := c.Locals(streamKey).(streamer)
	if !of {
		return errors.New("the route has no streams")
	}
	s := by.options.Bounds.streams
	if err := s.begin(user, by.bounds); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.UserContext()))
	stop := context.AfterFunc(s.ending, cancel)
	from, to := io.Pipe()
	go func() {
		defer s.done(user)
		defer stop()
		defer cancel()
		write(ctx, to)
		_ = to.Close() // always nil
	}()
	go func() {
		beat := time.NewTicker(heartbeat)
		defer beat.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-beat.C:
				_, _ = to.Write([]byte("\n")) // after the end it goes nowhere
			}
		}
	}()
	sendAsRead(c, &writtenBody{from, cancel, c.Context().Conn()})
	return nil
}

// writtenBody is the body of Written.
type writtenBody struct {
	from       *io.PipeReader
	cancel     context.CancelFunc
	connection net.Conn
}

// Read implements io.Reader.
func (b *writtenBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if slow := b.connection.SetWriteDeadline(time.Now().Add(stallTime)); slow != nil {
		return n, slow
	}
	return n, err
}

// Close implements io.Closer. Where the client has gone, what is still written goes nowhere.
func (b *writtenBody) Close() error {
	b.cancel()
	return b.from.Close()
}

// streamBody is a stream that is being sent, by the goroutine of its connection. The server closes it.
type streamBody struct {
	source     Source
	options    Options
	request    string
	load       loader
	user       int64
	connection net.Conn
	streams    *streams

	begun, last bool
	rest        []byte // of what is to be sent
}

// Read implements io.Reader: it waits until there is something to send.
func (b *streamBody) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.last || b.streams.ending.Err() != nil {
			return 0, b.sendWithin(io.EOF)
		}
		b.next()
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, b.sendWithin(nil)
}

// sendWithin gives the client its time to take what is sent next.
func (b *streamBody) sendWithin(end error) error {
	if err := b.connection.SetWriteDeadline(time.Now().Add(stallTime)); err != nil {
		return err
	}
	return end
}

// next waits for something new, and reads it if the session is still valid.
func (b *streamBody) next() {
	silent := false
	if b.begun {
		waiting, cancel := context.WithTimeout(b.streams.ending, heartbeat)
		b.source.Wait(waiting)
		silent = errors.Is(waiting.Err(), context.DeadlineExceeded)
		cancel()
	}
	if b.streams.ending.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(lifecycle.Unsampled(directory.Begin(b.streams.ending)), readStream)
	defer cancel()
	p, stands := b.session(ctx)
	if !stands {
		b.last = true
		return
	}
	first := !b.begun
	b.begun = true
	var err error
	b.rest, err = b.source.Read(ctx, p)
	if len(b.rest) > 0 && !first { // what was read may be newer than the end of the session
		if _, stands := b.session(ctx); !stands {
			b.rest, b.last = nil, true
			return
		}
	}
	if b.last = err != nil; b.last && !isRefusal(err) {
		b.options.Log.WarnContext(ctx, "a stream has ended", "request", b.request, "error", err)
	}
	if len(b.rest) == 0 && silent && err == nil {
		b.rest = b.source.Beat()
	}
}

// session returns the user who follows, and whether the session is known to be valid.
func (b *streamBody) session(ctx context.Context) (principal.Principal, bool) {
	record, err := b.load(ctx)
	if err != nil {
		return principal.Principal{}, false
	}
	return record.Principal(), record.Principal().MayUseAPI
}

// isRefusal says whether an error is a refusal that clients may see, and not a fault.
func isRefusal(err error) bool {
	var refused *problem.Error
	return errors.As(err, &refused) || errors.Is(err, io.EOF)
}

// Close implements io.Closer.
func (b *streamBody) Close() error {
	b.source.Close()
	b.streams.done(b.user)
	return nil
}
