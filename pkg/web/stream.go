package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
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
	load, signed := c.Locals(loadKey).(loader)
	if !signed {
		return errors.New("the route has no session")
	}
	by, _ := c.Locals(streamKey).(streamer)
	s := &stream{source: source, load: load, log: by.options.Log, request: RequestID(c)}
	c.Set(fiber.HeaderContentType, "text/event-stream")
	return send(context.Background(), c, Principal(c).UserID, s.write)
}

// Written answers 200 with what write writes, for as long as it takes, for a route with Streams that itself checks the
// caller: user is the one whom its bounds count. The context ends when the client has gone or the process stops, not
// with the request's deadline. Each piece is sent at once, and a newline where there was none for a while.
func Written(c *fiber.Ctx, user int64, write func(ctx context.Context, to io.Writer)) error {
	return send(context.WithoutCancel(c.UserContext()), c, user, func(ctx context.Context, to io.Writer) {
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
		write(ctx, to)
	})
}

// send answers 200 with what write writes, each piece at once. The context of write derives from another one, and ends
// when the client has gone or the process stops.
func send(of context.Context, c *fiber.Ctx, user int64, write func(ctx context.Context, to io.Writer)) error {
	by, streams := c.Locals(streamKey).(streamer)
	if !streams {
		return errors.New("the route has no streams")
	}
	s := by.options.Bounds.streams
	if err := s.begin(user, by.bounds); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(of)
	stop := context.AfterFunc(s.ending, cancel)
	from, to := io.Pipe()
	go func() {
		defer s.done(user)
		defer stop()
		defer cancel()
		write(ctx, to)
		_ = to.Close() // always nil
	}()
	c.Set("X-Accel-Buffering", "no") // nginx would keep pieces back until it has many
	c.Context().SetConnectionClose()
	c.Context().Response.ImmediateHeaderFlush = true
	c.Context().Response.SetBodyStream(&sentBody{from, cancel, c.Context().Conn()}, -1)
	return nil
}

// sentBody is a body of unknown length, each piece of which is sent when it has been read.
type sentBody struct {
	from       *io.PipeReader
	cancel     context.CancelFunc
	connection net.Conn
}

// Read implements io.Reader. It gives the client its time to take what is sent next.
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if slow := b.connection.SetWriteDeadline(time.Now().Add(stallTime)); slow != nil {
		return n, slow
	}
	return n, err
}

// Close implements io.Closer. Once the client has gone, further writes are discarded.
func (b *sentBody) Close() error {
	b.cancel()
	return b.from.Close()
}

// stream is a stream of server-sent events that is being sent.
type stream struct {
	source  Source
	load    loader
	log     *slog.Logger
	request string
}

// write writes the source's events as long as the session is valid.
func (s *stream) write(ctx context.Context, to io.Writer) {
	defer s.source.Close()
	for first, silent := true, false; ; first = false {
		if !first {
			waiting, cancel := context.WithTimeout(ctx, heartbeat)
			s.source.Wait(waiting)
			silent = errors.Is(waiting.Err(), context.DeadlineExceeded)
			cancel()
		}
		if ctx.Err() != nil {
			return
		}
		text, err := s.next(ctx, first)
		if err != nil && !isRefusal(err) && ctx.Err() == nil {
			s.log.WarnContext(ctx, "a stream has ended", "request", s.request, "error", err)
		}
		if len(text) == 0 && silent && err == nil {
			text = s.source.Beat()
		}
		if len(text) > 0 {
			if _, gone := to.Write(text); gone != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// next reads new events if the session is still valid; io.EOF if it is not.
func (s *stream) next(ctx context.Context, first bool) ([]byte, error) {
	ctx, cancel := context.WithTimeout(lifecycle.Unsampled(directory.Begin(ctx)), readStream)
	defer cancel()
	p, stands := s.session(ctx)
	if !stands {
		return nil, io.EOF
	}
	text, err := s.source.Read(ctx, p)
	if len(text) > 0 && !first { // what was read may be newer than the end of the session
		if _, stands := s.session(ctx); !stands {
			return nil, io.EOF
		}
	}
	return text, err
}

// session returns the user who follows, and whether the session is known to be valid.
func (s *stream) session(ctx context.Context) (principal.Principal, bool) {
	record, err := s.load(ctx)
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
