// Package api is the notes service over HTTP: its routes, the JSON of requests and answers, and what runs in the
// background.
package api

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/service/lifecycle"
	"github.com/belfry-schools/belfry/services/notes/internal/markdown"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
	"github.com/belfry-schools/belfry/services/notes/internal/store"
)

// settings are those of the notes service, beside service.Config.
type settings struct {
	ImageHosts   []string      `envconfig:"BELFRY_NOTES_IMAGE_HOSTS" desc:"comma-separated hosts (img.school.example) from which readers of notes load images over https; images from elsewhere are links"`
	OrphansEvery time.Duration `envconfig:"BELFRY_ORPHANED_NOTES_EVERY" default:"1m" desc:"pause between two searches for notes whose event is deleted; the second that finds them so deletes them"`
}

func (s *settings) Check() error {
	if s.OrphansEvery <= 0 {
		return errors.New("BELFRY_ORPHANED_NOTES_EVERY: must be positive")
	}
	for _, host := range s.ImageHosts {
		if !markdown.CheckImageHost(host) {
			return errors.New("BELFRY_NOTES_IMAGE_HOSTS: not the name of a host, such as img.school.example, in ASCII")
		}
	}
	return nil
}

// leadPause is the pause before trying for the lead again after an error of the store.
const leadPause = 2 * time.Second

// Spec is the notes service.
func Spec() service.Spec {
	own := &settings{}
	return service.Spec{
		Name:     "notes",
		Settings: own,
		Prepare: func(ctx context.Context, r *service.Runtime) error {
			return store.New(r.DB, r.IDs, r.ChangesKept).Prepare(ctx)
		},
		Build: func(_ context.Context, r *service.Runtime) (service.Surface, error) { return build(r, own) },
	}
}

func build(r *service.Runtime, own *settings) (service.Surface, error) {
	stored := store.New(r.DB, r.IDs, r.ChangesKept)
	if err := stored.Changes().Measure(r.Meter); err != nil {
		return service.Surface{}, err
	}
	notes := note.New(note.Options{
		Store: stored, Events: r.Events, Users: r.Identity, Sights: r.Sights,
		Markdown: markdown.NewRenderer(own.ImageHosts...),
	})
	consumer := consumer(r, notes)
	if err := consumer.Measure(r.Meter); err != nil {
		return service.Surface{}, err
	}
	h := handlers{notes: notes, audit: stored.Audit(), log: stored.Changes(), zone: r.Zone}
	return service.Surface{
		Public:   h.public(),
		Internal: h.internal(),
		Components: []lifecycle.Component{
			lifecycle.Background("consumer of events", consumer.Run),
			lifecycle.Background("search for orphaned notes", orphans(r, notes, own.OrphansEvery)),
			lifecycle.Background("audit", stored.Audit().Run(r.Log)),
			lifecycle.Background("log of changes", stored.Changes().Run(r.Log)),
			lifecycle.Background("sweep of idempotency keys", idempotency.Sweep(r.Log, stored.ForgetIdempotencyKeys)),
		},
	}, nil
}

// consumer deletes the notes of deleted events as soon as their messages come.
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

// orphans deletes the notes of deleted events whose message never came. One replica at a time searches for them.
func orphans(r *service.Runtime, notes *note.Service, every time.Duration) func(context.Context) error {
	var leading *background.Loop
	lead := func(ctx context.Context) error {
		search := notes.Orphans()
		step := func(ctx context.Context) error {
			deleted, err := search.Sweep(ctx)
			if deleted > 0 {
				r.Log.InfoContext(ctx, "deleted the notes of deleted events", "events", deleted)
			}
			return err
		}
		leading.Works(ctx)
		return background.New(background.Options{Name: "the search for orphaned notes", Log: r.Log, Step: step,
			Every: every}).Run(ctx)
	}
	leading = background.New(background.Options{
		Name: "leading the search for orphaned notes", Log: r.Log, Every: leadPause,
		Step: func(ctx context.Context) error { return store.LeadOrphans(ctx, r.DB, lead) },
	})
	return leading.Run
}
