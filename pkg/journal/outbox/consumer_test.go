package outbox

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// logged keeps what is logged at Info and above.
type logged struct{ output.Buffer }

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
func (l *logged) count() int           { return strings.Count(l.String(), "\n") }

// publish adds a message to the stream as a relay does.
func publish(t *testing.T, client redis.UniversalClient, stream string, m Message) {
	t.Helper()
	errortest.None(t, client.XAdd(t.Context(), &redis.XAddArgs{Stream: stream, Values: m.values()}).Err())
}

// acknowledged waits until the group notes has no pending message.
func acknowledged(t *testing.T, client redis.UniversalClient, stream string) {
	t.Helper()
	eventually(t, "all acknowledged", func() bool {
		pending, err := client.XPending(t.Context(), stream, "notes").Result()
		return err == nil && pending.Count == 0
	})
}

func TestConsumer_GetsWhatWasPublishedBeforeAndAfterItStarted(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t)
	stream := Stream(prefix, "records")
	sent := NewMessage(t.Context(), "early", 7)
	publish(t, client, stream, sent)
	var b inbox
	start(t, b.consumer(client, stream, 0).Run)
	eventually(t, "the early one", func() bool { return b.times()["early 7"] == 1 })
	publish(t, client, stream, NewMessage(t.Context(), "late", 8))
	eventually(t, "the late one", func() bool { return b.times()["late 8"] == 1 })
	acknowledged(t, client, stream)
	if m := b.got[0]; m.ID != sent.ID || !m.At.Equal(sent.At) {
		t.Errorf("got %+v, want %+v", m, sent)
	}
}

func TestConsumer_ARestartGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t)
	stream := Stream(prefix, "records")
	var b inbox
	publish(t, client, stream, NewMessage(t.Context(), "first", 1))
	stop := start(t, b.consumer(client, stream, 0).Run)
	eventually(t, "the first", func() bool { return b.times()["first 1"] == 1 })
	stop()
	publish(t, client, stream, NewMessage(t.Context(), "second", 2))
	start(t, b.consumer(client, stream, 0).Run)
	eventually(t, "the second", func() bool { return b.times()["second 2"] == 1 })
	valuetest.Same(t, b.times()["first 1"], 1, "times that the first came")
}

func TestConsumer_ReplicasShareTheMessagesAndGroupsDoNot(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t)
	stream := Stream(prefix, "records")
	var notes, mail inbox
	for range 3 {
		start(t, notes.consumer(client, stream, 0).Run)
	}
	start(t, NewConsumer(ConsumerOptions{Redis: client, Stream: stream, Group: "mail", Handle: mail.handle,
		Log: silent()}).Run)
	const n = 100
	for id := range int64(n) {
		publish(t, client, stream, NewMessage(t.Context(), "made", id))
	}
	eventually(t, "all of both groups", func() bool { return len(notes.times()) == n && len(mail.times()) == n })
	acknowledged(t, client, stream)
	for message, times := range notes.times() {
		valuetest.Same(t, times, 1, "%s came %d times", message, times)
	}
}

func TestConsumer_AFailureIsTriedAgainAtOnceAndThenLater(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t)
	stream := Stream(prefix, "records")
	left := handlerTries + 1 // more than the tries in a row
	b := inbox{fail: func(m Message) error {
		if m.Kind == "hard" && left > 0 {
			left--
			return errors.New("not yet")
		}
		return nil
	}}
	publish(t, client, stream, NewMessage(t.Context(), "hard", 1))
	publish(t, client, stream, NewMessage(t.Context(), "easy", 2))
	start(t, b.consumer(client, stream, 2*time.Second).Run)
	eventually(t, "the easy one, behind the hard one", func() bool { return b.times()["easy 2"] == 1 })
	valuetest.Same(t, b.times()["hard 1"], handlerTries, "times that the hard one was tried before the next")
	eventually(t, "the hard one to succeed", func() bool { return b.times()["hard 1"] == handlerTries+2 })
	acknowledged(t, client, stream)
}

// readByADeadProcess returns a stream with a message that was read, and neither handled nor acknowledged.
func readByADeadProcess(t *testing.T) (*redis.Client, string) {
	t.Helper()
	client, prefix := storetest.Redis(t)
	stream := Stream(prefix, "records")
	publish(t, client, stream, NewMessage(t.Context(), "made", 1))
	errortest.None(t, client.XGroupCreateMkStream(t.Context(), stream, "notes", "0").Err())
	err := client.XReadGroup(t.Context(),
		&redis.XReadGroupArgs{Group: "notes", Consumer: "notes", Streams: []string{stream, ">"}}).Err()
	errortest.None(t, err)
	return client, stream
}

// A process may die after reading a message, before or after handling it. Then another process gets the message.
func TestConsumer_TakesOverWhatADeadProcessHadRead(t *testing.T) {
	t.Parallel()
	client, stream := readByADeadProcess(t)
	var b inbox
	start(t, b.consumer(client, stream, time.Second).Run)
	eventually(t, "the message", func() bool { return b.times()["made 1"] == 1 })
	acknowledged(t, client, stream)
}

// Redis 7 leaves out what is trimmed and names it, where Redis 6 gave it without values: nothing told of its loss.
func TestConsumer_TellsWhatWasTrimmedBeforeItWasHandled(t *testing.T) {
	t.Parallel()
	client, stream := readByADeadProcess(t)
	errortest.None(t, client.XTrimMaxLen(t.Context(), stream, 0).Err())
	var b inbox
	var log logged
	start(t, NewConsumer(ConsumerOptions{Redis: client, Stream: stream, Group: "notes", Handle: b.handle,
		Log: log.logger(), ClaimAfter: time.Second}).Run)
	eventually(t, "a line", func() bool { return log.count() > 0 })
	acknowledged(t, client, stream)
	valuetest.Same(t, log.count(), 1, "log lines")
	valuetest.Has(t, log.String(), `msg="a message was trimmed from the stream before it was handled"`)
}

func TestConsumer_AnUnreadableMessageHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t)
	stream := Stream(prefix, "records")
	good := NewMessage(t.Context(), "good", 1)
	whole := good.values()
	for _, field := range []string{"id", "kind", "subject", "at"} {
		broken := map[string]any{field: "", "other": "x"}
		for key, value := range whole {
			if key != field {
				broken[key] = value
			}
		}
		errortest.None(t, client.XAdd(t.Context(), &redis.XAddArgs{Stream: stream, Values: broken}).Err())
	}
	publish(t, client, stream, good)
	var b inbox
	var log logged
	start(t, NewConsumer(ConsumerOptions{Redis: client, Stream: stream, Group: "notes", Handle: b.handle,
		Log: log.logger()}).Run)
	eventually(t, "the good one", func() bool { return b.times()["good 1"] == 1 })
	acknowledged(t, client, stream)
	if len(b.times()) != 1 {
		t.Errorf("handled %v", b.times())
	}
	unreadable := strings.Count(log.String(), `msg="a message in the stream is not readable and is skipped"`)
	valuetest.Same(t, unreadable, 4, "lines of unreadable messages: %s", log.String())
}

func TestConsumer_RedisAwayOrEmptiedDelaysOnlyAndLogsOnce(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t)
	stream := Stream(prefix, "records")
	_, line, _, redisURL := storetest.Lines(t)
	var b inbox
	var log logged
	// A message that was lost with the connection is delivered again after ClaimAfter.
	start(t, NewConsumer(ConsumerOptions{Redis: storetest.RedisAt(t, redisURL), Stream: stream, Group: "notes",
		Handle: b.handle, Log: log.logger(), ClaimAfter: 2 * time.Second}).Run)
	publish(t, client, stream, NewMessage(t.Context(), "before", 1))
	eventually(t, "the one before", func() bool { return b.times()["before 1"] == 1 })
	acknowledged(t, client, stream)

	before := log.count()
	line.Cut()
	publish(t, client, stream, NewMessage(t.Context(), "meanwhile", 2))
	eventually(t, "a warning", func() bool { return log.count() == before+1 })
	time.Sleep(2 * time.Second)
	n := log.count()
	valuetest.Same(t, n, before+1, "%d log lines while it is away, want 1", n-before)
	errortest.None(t, line.Mend())
	eventually(t, "the one meanwhile", func() bool { return b.times()["meanwhile 2"] == 1 })

	if err := client.Del(t.Context(), stream).Err(); err != nil { // Redis lost its data
		t.Fatal(err)
	}
	publish(t, client, stream, NewMessage(t.Context(), "after", 3))
	eventually(t, "the one after", func() bool { return b.times()["after 3"] == 1 })
}

func TestConsumer_TheSpanLinksToTheRequestThatWroteTheMessage(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t)
	stream := Stream(prefix, "records")
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	ctx, request := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "request")
	publish(t, client, stream, NewMessage(ctx, "made", 1))
	publish(t, client, stream, NewMessage(t.Context(), "untraced", 2))
	b := inbox{fail: func(m Message) error {
		if m.Kind == "untraced" {
			return errors.New("secret words")
		}
		return nil
	}}
	start(t, NewConsumer(ConsumerOptions{Redis: client, Stream: stream, Group: "notes", Handle: b.handle, Log: silent(),
		TracerProvider: provider}).Run)
	eventually(t, "both spans", func() bool { return len(spans.Ended()) == 2 })
	made, untraced := spans.Ended()[0], spans.Ended()[1]
	if made.Name() != "process made" || len(made.Links()) != 1 ||
		made.Links()[0].SpanContext.TraceID() != request.SpanContext().TraceID() ||
		made.SpanContext().TraceID() == request.SpanContext().TraceID() || made.Parent().IsValid() ||
		made.Status().Code != codes.Unset {
		t.Errorf("span %+v", made)
	}
	if len(untraced.Links()) != 0 || untraced.Status().Code != codes.Error || untraced.Status().Description != "" ||
		len(untraced.Events()) != 0 {
		t.Errorf("span %+v", untraced)
	}
}

// The whole way, with a relay and a consumer that are stopped and started at random moments.
func TestOutbox_NothingIsLostWhileProcessesComeAndGo(t *testing.T) {
	t.Parallel()
	collection, client, stream := open(t)
	var b inbox
	run := func() (stop func()) {
		stopRelay := start(t,
			NewRelay(RelayOptions{Collection: collection, Redis: client, Stream: stream, Log: silent()}).Run)
		stopConsumer := start(t, b.consumer(client, stream, time.Second).Run)
		return func() { stopRelay(); stopConsumer() }
	}
	const n = 60
	for id := range int64(n) {
		if id%20 == 0 {
			defer run()()
		}
		put(t, collection, id+1, "made")
		if id%20 == 10 {
			stop := run()
			stop()
		}
	}
	emptied(t, collection)
	eventually(t, "every message", func() bool { return len(b.times()) == n })
	acknowledged(t, client, stream)
}
