// Package api is the notes service as others see it: its routes on the public and the internal listener, and what runs besides.
package api

import (
	"context"
	"time"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/outbox"
	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/service/lifecycle"
	"github.com/belfry-schools/belfry/services/notes/internal/markdown"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
	"github.com/belfry-schools/belfry/services/notes/internal/store"
)

// Spec is the notes service.
func Spec() service.Spec {
	return service.Spec{
		Name:    "notes",
		Prepare: func(ctx context.Context, r *service.Runtime) error { return store.New(r.DB, r.IDs).Prepare(ctx) },
		Build:   build,
	}
}

func build(_ context.Context, r *service.Runtime) (service.Surface, error) {
	kept := store.New(r.DB, r.IDs)
	notes := &note.Service{Store: kept, Events: r.Events, Users: r.Identity, Markdown: markdown.NewRenderer()}
	h := handlers{notes, kept.Audit(), r.Zone}
	return service.Surface{
		Public:   h.public(),
		Internal: h.internal(),
		Components: []lifecycle.Component{
			lifecycle.Background("consumer of events", consumer(r, notes).Run),
			lifecycle.Background("sweep of deleted events", sweep(r, notes)),
			lifecycle.Background("audit", kept.Audit().Run(r.Log)),
			lifecycle.Background("sweep of idempotency keys", idempotency.Sweep(r.Log, notes.ForgetIdempotencyKeys)),
		},
	}, nil
}

// consumer hears of deleted events.
func consumer(r *service.Runtime, notes *note.Service) *outbox.Consumer {
	handle := func(ctx context.Context, m outbox.Message) error {
		if m.Kind != fact.EventDeleted {
			return nil
		}
		return notes.EventDeleted(ctx, m.Subject)
	}
	return outbox.NewConsumer(r.Redis, outbox.Stream(r.RedisPrefix, fact.EventsStream), "notes", handle, outbox.ConsumerOptions{Log: r.Log, TracerProvider: r.Tracer})
}

const (
	sweepEvery = time.Minute
	// sweepMargin is for clocks that differ and for writes that the store still ends after their asker has given up.
	sweepMargin = time.Minute
)

// sweep removes what was added to an event while it was being deleted. A note is added by a request to events and, within its deadline, one to
// this service: after two deadlines nothing can come.
func sweep(r *service.Runtime, notes *note.Service) func(context.Context) error {
	grace := 2*r.RequestTimeout + sweepMargin
	step := func(ctx context.Context) error {
		swept, err := notes.Sweep(ctx, time.Now().Add(-grace))
		if swept > 0 {
			r.Log.DebugContext(ctx, "swept deleted events", "events", swept)
		}
		return err
	}
	return background.New(background.Options{Name: "the sweep of deleted events", Log: r.Log, Step: step, Every: sweepEvery}).Run
}
