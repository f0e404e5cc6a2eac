package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"golang.org/x/sync/semaphore"

	"github.com/belfry-schools/belfry/pkg/problem"
)

const (
	// smallBody bounds the body of a request without a session. Up to as much is read of an unwanted body, so that its
	// connection can be used again.
	smallBody = 64 << 10
	// firstRead is allocated for a body before any of it has arrived. It needs no room, since the number of connections
	// bounds it. So bodies of others block no login, and few forms.
	firstRead = 4 << 10
	// bodyRetry is the Retry-After of a body without room.
	bodyRetry = time.Second
	// slowBody is after how long a body's sender is admitted again: it may have lost its session or its rights.
	slowBody = time.Second
)

// intake has the room for the bodies of one listener.
type intake struct {
	all  *semaphore.Weighted // of the process
	room *semaphore.Weighted // of the listener
	mu   sync.Mutex
	held map[holder]int64 // bytes
}

// holder is the user whose room a body takes, or the address where no one is signed in.
type holder struct {
	user   int64
	source string // see SourceOf
}

func (o Options) holder(c *fiber.Ctx) holder {
	if p, ok := signedIn(c); ok {
		return holder{user: p.UserID}
	}
	if user, ok := c.Locals(holderKey).(int64); ok {
		return holder{user: user}
	}
	return holder{source: SourceOf(ClientAddress(c, o.TrustedProxies))}
}

// Holds names the user whose room the body takes, where Route.Admit knows the user.
func Holds(c *fiber.Ctx, user int64) { c.Locals(holderKey, user) }

func newIntake(b *Bounds) *intake {
	return &intake{all: b.bodies, room: semaphore.NewWeighted(bodiesAtOnce), held: map[holder]int64{}}
}

// share is the room that one request holds.
type share struct {
	*intake
	of        holder
	neighbour bool // its requests are for many users
	size      int64
}

// take makes room for size more bytes, and waits for it until ctx ends: Unavailable. A holder of too much gets
// TooManyRequests at once.
func (s *share) take(ctx context.Context, size int64) error {
	s.mu.Lock()
	if !s.neighbour && s.held[s.of]+size > bodiesOfOne {
		s.mu.Unlock()
		return &problem.Error{Kind: problem.TooManyRequests, RetryAfter: bodyRetry}
	}
	s.held[s.of] += size
	s.mu.Unlock()
	err := acquire(ctx, s.room, size)
	if err == nil {
		if err = acquire(ctx, s.all, size); err != nil {
			s.room.Release(size)
		}
	}
	if err != nil {
		s.forget(size)
		p := problem.Wrap(problem.Unavailable, fmt.Errorf("wait for room for a body: %w", err), "")
		p.RetryAfter = bodyRetry
		return p
	}
	s.size += size
	return nil
}

// acquire takes room that is free even after ctx has ended: a body may take longer to arrive than its request may last.
func acquire(ctx context.Context, room *semaphore.Weighted, size int64) error {
	if room.TryAcquire(size) {
		return nil
	}
	return room.Acquire(ctx, size)
}

func (s *share) release() {
	s.all.Release(s.size)
	s.room.Release(s.size)
	s.forget(s.size)
	s.size = 0
}

func (s *share) forget(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[s.of] -= size; s.held[s.of] == 0 {
		delete(s.held, s.of)
	}
}

// read reads a body of at most limit bytes as it comes; declared is negative when its length is not known. It takes
// room as bytes arrive, not as they are declared. TooLarge, Malformed when the body is invalid, or an error of take.
func (s *share) read(ctx context.Context, stream io.Reader, declared, limit int) ([]byte, error) {
	tooLarge := problem.New(problem.TooLarge, "the body exceeds %d bytes", limit)
	if declared > limit {
		return nil, tooLarge
	}
	most := declared
	if declared < 0 {
		most = limit + 1
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			size := min(max(2*cap(body), firstRead), most)
			if more := size - max(cap(body), firstRead); more > 0 {
				if err := s.take(ctx, int64(more)); err != nil {
					return nil, err
				}
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := stream.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > limit:
			return nil, tooLarge
		case errors.Is(err, io.EOF) && (declared < 0 || len(body) == declared):
			return body, nil
		case err != nil:
			return nil, problem.Wrap(problem.Malformed, err, "")
		}
	}
}

// receive reads the body of a request that may call r. The deadline starts again when it has arrived: the time that a
// client takes to send is bounded by readTimeout alone. After a slow body, rights are decided again.
func (in *intake) receive(o Options, r Route) fiber.Handler {
	limit := r.MaxBody
	if r.Access == Anyone && r.Admit == nil || r.Method == fiber.MethodDelete {
		limit = min(limit, smallBody)
	}
	return func(c *fiber.Ctx) error {
		request, began := c.Request(), time.Now()
		if request.IsBodyStream() {
			own := &share{intake: in, of: o.holder(c), neighbour: r.Access == Neighbour}
			defer own.release()
			defer request.ResetBody()
			body, err := own.read(c.UserContext(), request.BodyStream(), request.Header.ContentLength(), limit)
			if err != nil {
				abandon(c.Context())
				return err
			}
			request.SetBodyRaw(body)
		}
		if declared := c.Get(fiber.HeaderContentType); declared != "" && len(request.Body()) > 0 {
			if media, _, err := mime.ParseMediaType(declared); err != nil || media != r.Body {
				return problem.New(problem.UnsupportedMediaType, "the body must be %s", r.Body)
			}
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), o.Timeout)
		defer cancel()
		c.SetUserContext(ctx)
		if r.Access != Anyone && r.Access != Neighbour && time.Since(began) > slowBody {
			if err := admit(o, r, c); err != nil {
				return err
			}
		}
		return c.Next()
	}
}

// ignoreBody reads the body of a request whose method has none, before its handler, because what follows it must be
// valid.
func ignoreBody(c *fiber.Ctx) error {
	request := c.Request()
	if !request.IsBodyStream() {
		return c.Next()
	}
	read := int64(0)
	err := error(nil)
	if request.Header.ContentLength() <= smallBody {
		read, err = io.CopyN(io.Discard, request.BodyStream(), smallBody+1)
	}
	switch {
	case errors.Is(err, io.EOF) && read <= smallBody:
		return c.Next()
	case err == nil:
		err = problem.New(problem.TooLarge, "the body exceeds %d bytes", smallBody)
	default:
		err = problem.Wrap(problem.Malformed, err, "")
	}
	abandon(c.Context())
	return err
}

// finishBody runs after the answer is made. fasthttp would take the rest of a body for the next request, so a short
// rest is read; otherwise the connection ends with the answer.
func finishBody(ctx *fasthttp.RequestCtx) {
	if !ctx.Request.IsBodyStream() {
		return
	}
	if !ctx.Response.ConnectionClose() && ctx.Request.Header.ContentLength() <= smallBody {
		_, err := io.CopyN(io.Discard, ctx.Request.BodyStream(), smallBody+1)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil && faultOf(ctx) != nil {
			refuse(ctx, problem.Malformed)
		}
	}
	abandon(ctx)
}

// abandon ends the connection with the answer, since the rest of the request is not read.
func abandon(ctx *fasthttp.RequestCtx) {
	ctx.SetConnectionClose()
	linger(ctx)
}
