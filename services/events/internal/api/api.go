// Package api is the events service as others see it: its routes on the public and the internal listener, and what runs besides.
package api

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/lifecycle"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/outbox"
	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/store"
)

// Spec is the events service.
func Spec() service.Spec {
	return service.Spec{
		Name:    "events",
		Prepare: func(ctx context.Context, r *service.Runtime) error { return store.Prepare(ctx, r.DB, r.Zone) },
		Build:   build,
	}
}

func build(_ context.Context, r *service.Runtime) (service.Surface, error) {
	relay := outbox.NewRelay(store.EventsCollection(r.DB), r.Redis, outbox.Stream(r.RedisPrefix, neighbour.EventsStream), outbox.RelayOptions{Log: r.Log})
	categories := store.NewCategories(r.DB, r.IDs)
	h := handlers{
		events:     event.NewService(store.NewEvents(r.DB, r.IDs, r.Zone, relay.Nudge), categories, r.Elements, r.Identity, r.Notes, r.Zone),
		categories: event.NewCategories(categories),
		shape:      shape{r.Zone},
		audit:      store.Audit(r.DB),
	}
	return service.Surface{
		Public:   h.public(),
		Internal: h.internal(),
		Parts: []lifecycle.Part{
			lifecycle.Background("relay of events' messages", relay.Run),
			lifecycle.Background("audit", h.audit.Run(r.Log)),
		},
	}, nil
}
