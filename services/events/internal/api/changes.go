package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/metric"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/follow"
)

// changes is GET /api/changes.
func (h handlers) changes(c *fiber.Ctx) error {
	limit, err := web.Limit(c)
	if err != nil {
		return err
	}
	token, given := afterOf(c)
	if !given {
		place, err := h.follow.Now(c.UserContext(), web.Principal(c))
		if err != nil {
			return err
		}
		return h.answerChanges(c, nil, h.follow.Token(place))
	}
	after, err := h.follow.Parse(token)
	if err != nil {
		return err
	}
	found, next, err := h.follow.List(c.UserContext(), web.Principal(c), after, limit)
	if err != nil {
		return err
	}
	if next != after { // at the end of the list the token stays
		token = h.follow.Token(next)
	}
	return h.answerChanges(c, found, token)
}

// afterOf returns the token of a request. Several tokens make an invalid one.
func afterOf(c *fiber.Ctx) (token string, given bool) {
	after := c.Request().URI().QueryArgs().PeekMulti("after")
	if len(after) == 1 {
		token = string(after[0])
	}
	return token, len(after) > 0
}

func (h handlers) answerChanges(c *fiber.Ctx, found []change.Item, next string) error {
	web.Link(c, "next", "after", next)
	shown := sequence.Map(found, h.shape.change)
	return web.OK(c, web.Field{Name: "changes", Value: shown}, web.Field{Name: "next", Value: next})
}

// changeForm is a change as clients see it.
type changeForm struct {
	Kind      change.Kind `json:"kind"`
	ID        int64       `json:"id"`
	Version   int64       `json:"version"`
	ChangedAt *string     `json:"changed_at"`
	Change    change.What `json:"change"`
	EventID   int64       `json:"event_id,omitempty"`
	GroupID   int64       `json:"group_id,omitempty"`
	MemberID  int64       `json:"member_id,omitempty"`
}

func (s shape) change(i change.Item) changeForm {
	return changeForm{
		Kind: i.Kind, ID: i.Record, Version: i.Version, ChangedAt: s.moment(i.At.Truncate(time.Second)), Change: i.What,
		EventID: i.EventID, GroupID: i.GroupID, MemberID: i.MemberID,
	}
}

// streamChanges is GET /api/changes/stream.
func (h handlers) streamChanges(c *fiber.Ctx) error {
	var tokens []string
	if after, given := afterOf(c); given {
		tokens = append(tokens, after)
	}
	if last := c.Get("Last-Event-ID"); last != "" { // a client that lost its stream goes on where that ended
		tokens = append(tokens, last)
	}
	place, err := h.follow.Enter(c.UserContext(), web.Principal(c), tokens...)
	if err != nil {
		return err
	}
	return web.Stream(c, &changeStream{handlers: h, from: place})
}

// changeStream is a stream of changes, as server-sent events. The id of each is the token of the place after it.
type changeStream struct {
	handlers
	from     follow.Place
	follower *follow.Follower
}

// Wait implements web.Source.
func (s *changeStream) Wait(ctx context.Context) { s.follower.Wait(ctx) }

// Read implements web.Source. The first event has no changes, and says where the stream begins.
func (s *changeStream) Read(ctx context.Context, p principal.Principal) ([]byte, error) {
	if s.follower == nil {
		s.follower = s.hub.Follow(s.from)
		return s.event(nil)
	}
	found, err := s.follower.Read(ctx, p)
	if problem.Is(err, problem.Gone) {
		return []byte("event: gone\ndata: {\"status\":\"Gone\"}\n\n"), err
	}
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return s.event(found)
}

func (s *changeStream) event(found []change.Item) ([]byte, error) {
	token := s.handlers.follow.Token(s.follower.Place())
	data, err := json.Marshal(struct {
		Changes []changeForm `json:"changes"`
		Next    string       `json:"next"`
	}{sequence.Map(found, s.shape.change), token})
	if err != nil {
		return nil, fmt.Errorf("encode changes: %w", err)
	}
	return fmt.Appendf(nil, "id: %s\ndata: %s\n\n", token, data), nil
}

// Beat implements web.Source. It sends the stream's place, so that the token of a client that gets no changes does not
// expire.
func (s *changeStream) Beat() []byte {
	return fmt.Appendf(nil, "id: %s\n\n", s.handlers.follow.Token(s.follower.Place()))
}

// Close implements web.Source.
func (s *changeStream) Close() {
	if s.follower != nil {
		s.follower.Done()
	}
}

// look returns the loop that reads changes for all streams of the process.
func look(log *slog.Logger, hub *follow.Hub) func(context.Context) error {
	return background.New(background.Options{
		Name: "the look for changes", Log: log, Step: hub.Step, Every: follow.LookEvery, Wake: hub.Begun(),
	}).Run
}

// measureStreams registers the gauge of open streams.
func measureStreams(r *service.Runtime) error {
	_, err := r.Meter.Meter("github.com/belfry-schools/belfry/services/events/internal/follow").Int64ObservableGauge(
		"belfry.streams.open", metric.WithDescription("Streams of changes that are open"),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			observer.Observe(int64(r.Bounds.Streams()))
			return nil
		}),
	)
	return err
}
