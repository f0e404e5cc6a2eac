package outbox

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	instrumentation = "github.com/belfry-schools/belfry/pkg/journal/outbox"

	consumerBatch = 16
	// consumerBlock is how long a read waits for a message. Run may notice the end of its context that much later.
	consumerBlock = time.Second
	// claimAfter is how long a message that was read may stay unacknowledged before it is delivered again. Its
	// consumer has died then, or its handler has failed.
	claimAfter = 30 * time.Second
	// handlerTries is how often a handler is called in a row before the message waits for claimAfter.
	handlerTries = 3
)

// Handler processes a message. It must be idempotent: a message may be delivered again, out of order, and twice at
// the same time. It ignores unknown kinds. After an error the message is delivered again.
type Handler func(ctx context.Context, message Message) error

// Consumer calls a handler for the messages of a stream, as a member of a consumer group. All processes of one
// service use one group, and each message goes to one of them. Each process handles one message at a time.
type Consumer struct {
	ConsumerOptions
	tracer trace.Tracer
	delay  metric.Float64Histogram
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

// NewConsumer returns a consumer of the stream. A new group starts at the oldest message in it.
func NewConsumer(o ConsumerOptions) *Consumer {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	o.ClaimAfter = cmp.Or(o.ClaimAfter, claimAfter)
	o.Log = cmp.Or(o.Log, slog.Default()).With("stream", o.Stream, "group", o.Group)
	return &Consumer{o, o.TracerProvider.Tracer(instrumentation), noop.Float64Histogram{}}
}

// Run consumes until ctx ends. Then it returns nil, at most consumerBlock after the running handler has returned.
// While Redis is unavailable it retries with growing pauses.
func (c *Consumer) Run(ctx context.Context) error {
	var nextClaim time.Time
	step := func(ctx context.Context) error {
		err := c.consumeOnce(ctx, &nextClaim)
		if err != nil && strings.HasPrefix(err.Error(), "NOGROUP") { // at the first start, or Redis lost its data
			return c.createGroup(ctx)
		}
		return err
	}
	return background.New(background.Options{
		Name: "outbox consumer", Log: c.Log, Step: step, Retry: firstRetry, LongestRetry: longestRetry,
	}).Run(ctx)
}

// consumeOnce handles the messages that arrive within consumerBlock. Before that, when it is time to, it handles
// those that other consumers left unacknowledged.
func (c *Consumer) consumeOnce(ctx context.Context, nextClaim *time.Time) error {
	if !time.Now().Before(*nextClaim) {
		if err := c.consumeStale(ctx); err != nil {
			return err
		}
		*nextClaim = time.Now().Add(c.ClaimAfter / 2)
	}
	return c.consumeNew(ctx)
}

func (c *Consumer) createGroup(ctx context.Context) error {
	err := c.Redis.XGroupCreateMkStream(ctx, c.Stream, c.Group, "0").Err()
	if err != nil && strings.HasPrefix(err.Error(), "BUSYGROUP") {
		return nil // another process has created it
	}
	return err
}

// consumeNew waits for messages that were not yet delivered to the group. All processes read under one consumer
// name, that of the group. Redis still delivers each message to one reader, and no names of dead consumers pile up.
func (c *Consumer) consumeNew(ctx context.Context) error {
	streams, err := c.Redis.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: c.Group, Consumer: c.Group, Streams: []string{c.Stream, ">"}, Count: consumerBatch, Block: consumerBlock,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, stream := range streams {
		if err := c.consume(ctx, stream.Messages); err != nil {
			return err
		}
	}
	return nil
}

// consumeStale handles the messages that were read more than claimAfter ago and not acknowledged.
func (c *Consumer) consumeStale(ctx context.Context) error {
	for start := "0-0"; ctx.Err() == nil; {
		entries, next, trimmed, err := c.Redis.XAutoClaimWithDeleted(ctx, &redis.XAutoClaimArgs{
			Stream: c.Stream, Group: c.Group, Consumer: c.Group, MinIdle: c.ClaimAfter, Start: start,
			Count: consumerBatch,
		}).Result()
		if err != nil {
			return err
		}
		for _, entry := range trimmed { // Redis has acknowledged them
			c.Log.ErrorContext(ctx, "a message was trimmed from the stream before it was handled", "entry", entry)
			c.counted(ctx, time.Now(), lost)
		}
		if err := c.consume(ctx, entries); err != nil {
			return err
		}
		if next == "0-0" {
			return nil
		}
		start = next
	}
	return nil
}

// consume handles entries one by one and acknowledges those that need no further try. It returns errors of Redis
// only.
func (c *Consumer) consume(ctx context.Context, entries []redis.XMessage) error {
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the process stops: the rest is claimed later
		}
		if !c.process(ctx, entry) {
			continue
		}
		if err := c.Redis.XAck(context.WithoutCancel(ctx), c.Stream, c.Group, entry.ID).Err(); err != nil {
			return err
		}
	}
	return nil
}

// process handles an entry and reports whether to acknowledge it: it was handled, or cannot be parsed.
func (c *Consumer) process(ctx context.Context, entry redis.XMessage) bool {
	message, err := parse(entry.Values)
	if err != nil {
		c.Log.ErrorContext(ctx, "a message in the stream is not readable and is skipped",
			"entry", entry.ID, "error", err)
		c.counted(ctx, time.Now(), lost)
		return true
	}
	ctx, span := c.tracer.Start(ctx, "process "+message.Kind, c.spanOptions(message)...)
	defer span.End()
	if err := c.try(ctx, message); err != nil {
		span.SetAttributes(semconv.ErrorTypeOther)
		span.SetStatus(codes.Error, "")
		if ctx.Err() == nil {
			c.Log.WarnContext(ctx, "a message could not be handled and comes again",
				"message", message.ID, "kind", message.Kind, "subject", message.Subject, "error", err)
			c.counted(ctx, message.At, again)
		}
		return false
	}
	c.counted(ctx, message.At, handled)
	return true
}

// try calls the handler until it succeeds, handlerTries times at most. It ends after half of claimAfter, so that
// the message is not delivered to another consumer meanwhile.
func (c *Consumer) try(ctx context.Context, message Message) error {
	ctx, cancel := context.WithTimeout(ctx, c.ClaimAfter/2)
	defer cancel()
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.Handle(ctx, message) },
		backoff.WithMaxTries(handlerTries), backoff.WithBackOff(&backoff.ExponentialBackOff{
			InitialInterval: firstRetry, RandomizationFactor: 0.3, Multiplier: 4, MaxInterval: longestRetry}))
	return err
}

// spanOptions link the consumer's span to the request that wrote the message. The span begins a new trace.
func (c *Consumer) spanOptions(message Message) []trace.SpanStartOption {
	options := []trace.SpanStartOption{
		trace.WithNewRoot(),
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			attribute.String("messaging.system", "redis"), semconv.MessagingDestinationName(c.Stream),
			semconv.MessagingConsumerGroupName(c.Group), semconv.MessagingOperationTypeProcess,
			semconv.MessagingOperationName("process"), semconv.MessagingMessageID(message.ID),
		),
	}
	carrier := propagation.MapCarrier{"traceparent": message.Trace}
	producer := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	if producer.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: producer}))
	}
	return options
}
