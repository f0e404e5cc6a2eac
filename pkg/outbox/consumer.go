package outbox

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	instrumentation = "github.com/belfry-schools/belfry/pkg/outbox"

	consumerBatch = 16
	// consumerBlock is how long a read waits for a message, and so how late Run may notice that its context ended.
	consumerBlock = time.Second
	// claimAfter is how long a message that was read may stay unacknowledged before it is handed out again: because
	// its consumer died, or because its handler failed.
	claimAfter = 30 * time.Second
	// handlerTries is how often a handler is tried in a row, within about a second, before the message waits for
	// claimAfter.
	handlerTries = 3
)

// Handler does what a message asks for. It is idempotent: a message may come again, out of order, and twice at once. A
// kind that it does not know it ignores. An error makes the message come again.
type Handler func(ctx context.Context, message Message) error

// Consumer hands the messages of a stream to a handler, as a member of a consumer group: all processes of one service
// use one group, and each message goes to one of them. One message at a time in each process.
type Consumer struct {
	redis      redis.UniversalClient
	stream     string
	group      string
	handle     Handler
	claimAfter time.Duration
	tracer     trace.Tracer
	log        *slog.Logger
}

// ConsumerOptions are what a consumer is made of.
type ConsumerOptions struct {
	Redis          redis.UniversalClient
	Stream         string // its key in Redis
	Group          string // a new one starts at the oldest message kept
	Handle         Handler
	Log            *slog.Logger         // nil: the default one
	TracerProvider trace.TracerProvider // nil: the global one
	ClaimAfter     time.Duration        // how long a message stays with a consumer that died or failed; 0: 30 s
}

// NewConsumer makes a consumer of the stream.
func NewConsumer(o ConsumerOptions) *Consumer {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.ClaimAfter == 0 {
		o.ClaimAfter = claimAfter
	}
	return &Consumer{
		redis:      o.Redis,
		stream:     o.Stream,
		group:      o.Group,
		handle:     o.Handle,
		claimAfter: o.ClaimAfter,
		tracer:     o.TracerProvider.Tracer(instrumentation),
		log:        o.Log.With("stream", o.Stream, "group", o.Group),
	}
}

// Run consumes until ctx ends, then returns nil, within a second of the handler at work. While Redis is away it tries
// again with growing pauses.
func (c *Consumer) Run(ctx context.Context) error {
	idle := Unsampled(ctx)
	var nextClaim time.Time
	step := func(ctx context.Context) error {
		err := c.consumeOnce(ctx, idle, &nextClaim)
		if err != nil && isNoGroup(err) {
			return c.createGroup(idle)
		}
		return err
	}
	loop := background.New(background.Options{
		Name: "outbox consumer", Log: c.log, Step: step, Retry: firstRetry, LongestRetry: longestRetry,
	})
	return loop.Run(ctx)
}

// consumeOnce handles what comes within consumerBlock, and first, when the time for that has come, what others left
// behind.
func (c *Consumer) consumeOnce(ctx, idle context.Context, nextClaim *time.Time) error {
	if !time.Now().Before(*nextClaim) {
		if err := c.consumeStale(ctx, idle); err != nil {
			return err
		}
		*nextClaim = time.Now().Add(c.claimAfter / 2)
	}
	return c.consumeNew(ctx, idle)
}

// isNoGroup says that the stream or the group does not exist: at the first start, or after Redis lost its data.
func isNoGroup(err error) bool { return strings.HasPrefix(err.Error(), "NOGROUP") }

func (c *Consumer) createGroup(ctx context.Context) error {
	err := c.redis.XGroupCreateMkStream(ctx, c.stream, c.group, "0").Err()
	if err != nil && strings.HasPrefix(err.Error(), "BUSYGROUP") {
		return nil // another process was first
	}
	return err
}

// consumeNew waits for messages that nobody in the group has had. All processes read under one consumer name, the
// group's: Redis gives each message to one reader all the same, and no dead names pile up.
func (c *Consumer) consumeNew(ctx, idle context.Context) error {
	streams, err := c.redis.XReadGroup(idle, &redis.XReadGroupArgs{
		Group: c.group, Consumer: c.group, Streams: []string{c.stream, ">"}, Count: consumerBatch, Block: consumerBlock,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, stream := range streams {
		if err := c.consume(ctx, idle, stream.Messages); err != nil {
			return err
		}
	}
	return nil
}

// consumeStale takes over the messages that were read long ago and never acknowledged.
func (c *Consumer) consumeStale(ctx, idle context.Context) error {
	for start := "0-0"; ctx.Err() == nil; {
		entries, next, err := c.redis.XAutoClaim(idle, &redis.XAutoClaimArgs{
			Stream: c.stream, Group: c.group, Consumer: c.group, MinIdle: c.claimAfter, Start: start,
			Count: consumerBatch,
		}).Result()
		if err != nil {
			return err
		}
		if err := c.consume(ctx, idle, entries); err != nil {
			return err
		}
		if next == "0-0" {
			return nil
		}
		start = next
	}
	return nil
}

// consume handles entries one by one and acknowledges those that are done with. Its error is Redis'.
func (c *Consumer) consume(ctx, idle context.Context, entries []redis.XMessage) error {
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the process stops: the rest is claimed later
		}
		if !c.process(ctx, entry) {
			continue
		}
		if err := c.redis.XAck(context.WithoutCancel(idle), c.stream, c.group, entry.ID).Err(); err != nil {
			return err
		}
	}
	return nil
}

// process says whether the entry can be acknowledged: it was handled, or can never be.
func (c *Consumer) process(ctx context.Context, entry redis.XMessage) bool {
	if len(entry.Values) == 0 {
		c.log.ErrorContext(ctx, "a message was trimmed from the stream before it was handled", "entry", entry.ID)
		return true
	}
	message, err := parse(entry.Values)
	if err != nil {
		c.log.ErrorContext(ctx, "a message in the stream is not readable and is skipped", "entry", entry.ID, "error",
			err)
		return true
	}
	ctx, span := c.tracer.Start(ctx, "process "+message.Kind, c.spanOptions(message)...)
	defer span.End()
	if err := c.try(ctx, message); err != nil {
		span.SetAttributes(semconv.ErrorTypeOther)
		span.SetStatus(codes.Error, "")
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "a message could not be handled and comes again", "message", message.ID, "kind",
				message.Kind, "subject", message.Subject, "error", err)
		}
		return false
	}
	return true
}

// try runs the handler until it succeeds, a few times. Half of claimAfter bounds it, so that the message is not handed
// out again meanwhile.
func (c *Consumer) try(ctx context.Context, message Message) error {
	ctx, cancel := context.WithTimeout(ctx, c.claimAfter/2)
	defer cancel()
	pause := firstRetry
	for tries := 1; ; tries++ {
		err := c.handle(ctx, message)
		if err == nil || tries == handlerTries || ctx.Err() != nil {
			return err
		}
		background.Pause(ctx, pause)
		pause *= 4
	}
}

// spanOptions link the consumer's span, which begins a trace of its own, to the request that wrote the message.
func (c *Consumer) spanOptions(message Message) []trace.SpanStartOption {
	options := []trace.SpanStartOption{
		trace.WithNewRoot(),
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			attribute.String("messaging.system", "redis"),
			semconv.MessagingDestinationName(c.stream),
			semconv.MessagingConsumerGroupName(c.group),
			semconv.MessagingOperationTypeProcess,
			semconv.MessagingOperationName("process"),
			semconv.MessagingMessageID(message.ID),
		),
	}
	carrier := propagation.MapCarrier{"traceparent": message.Trace}
	producer := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	if producer.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: producer}))
	}
	return options
}
