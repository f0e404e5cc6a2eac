// Package api is the notes service over HTTP: its routes, the JSON of requests and answers, and what runs in the
// background.
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
	stored := store.New(r.DB, r.IDs)
	notes := note.New(note.Options{
		Store: stored, Events: r.Events, Users: r.Identity, Markdown: markdown.NewRenderer(),
	})
	h := handlers{notes: notes, audit: stored.Audit(), zone: r.Zone}
	return service.Surface{
		Public:   h.public(),
		Internal: h.internal(),
		Components: []lifecycle.Component{
			lifecycle.Background("consumer of events", consumer(r, notes).Run),
			lifecycle.Background("sweep of deleted events", sweep(r, notes)),
			lifecycle.Background("audit", stored.Audit().Run(r.Log)),
			lifecycle.Background("sweep of idempotency keys", idempotency.Sweep(r.Log, notes.ForgetIdempotencyKeys)),
		},
	}, nil
}

// consumer deletes the notes of deleted events.
func consumer(r *service.Runtime, notes *note.Service) *outbox.Consumer {
	handle := func(ctx context.Context, m outbox.Message) error {
		if m.Kind != fact.EventDeleted {
			return nil
		}
		return notes.DeleteOfEvent(ctx, m.Subject)
	}
	return outbox.NewConsumer(outbox.ConsumerOptions{
		Redis: r.Redis, Stream: outbox.Stream(r.RedisPrefix, fact.EventsStream), Group: "notes", Handle: handle,
		Log: r.Log, TracerProvider: r.Tracer,
	})
}

const (
	sweepEvery = time.Minute
	// sweepMargin is for clocks that differ, and for writes that the database finishes after their deadline.
	sweepMargin = time.Minute
)

// sweep deletes the notes that were added to an event while it was being deleted. A client's request to events, and
// that of events to this service, have a deadline each: after both no note can be added.
func sweep(r *service.Runtime, notes *note.Service) func(context.Context) error {
	grace := 2*r.RequestTimeout + sweepMargin
	step := func(ctx context.Context) error {
		swept, err := notes.Sweep(ctx, time.Now().Add(-grace))
		if swept > 0 {
			r.Log.DebugContext(ctx, "swept deleted events", "events", swept)
		}
		return err
	}
	loop := background.New(background.Options{Name: "the sweep of deleted events", Log: r.Log, Step: step,
		Every: sweepEvery})
	return loop.Run
}
