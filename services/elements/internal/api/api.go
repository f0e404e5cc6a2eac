// Package api has the routes of the elements service, public and internal, and its background work.
package api

import (
	"context"
	"time"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit/accesslog"
	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/service/lifecycle"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
	"github.com/belfry-schools/belfry/services/elements/internal/store"
)

// Spec is the elements service.
func Spec() service.Spec {
	return service.Spec{
		Name:    "elements",
		Prepare: func(ctx context.Context, r *service.Runtime) error { return store.Prepare(ctx, r.DB) },
		Build:   build,
	}
}

func build(_ context.Context, r *service.Runtime) (service.Surface, error) {
	stores := store.New(store.Options{
		DB: r.DB, IDs: r.IDs, Directory: r.Versions, Memory: r.Memory, Keep: r.ChangesKept,
	})
	if err := stores.Changes.Measure(r.Meter); err != nil {
		return service.Surface{}, err
	}
	accesses, err := accesslog.New(accesslog.Options{
		DB: r.DB, Service: "elements", Days: r.AccessLogDays, Meter: r.Meter,
	})
	if err != nil {
		return service.Surface{}, err
	}
	elements := element.New(element.Options{
		Store: stores.Elements, Memberships: stores.Memberships, Feeds: stores.Feeds, Erasures: stores.Erasures,
		EraseOwn: []func(erasure.Person) erasure.Part{stores.Audit.Erase, accesses.Erase},
		Erasers: []element.Eraser{
			{Service: "identity", Erase: r.Identity.Erase}, {Service: "events", Erase: r.Events.Erase},
			{Service: "notes", Erase: r.Notes.Erase},
		},
		Events: r.Events, Users: r.Identity, Accesses: accesses, Sights: r.Sights, Zone: r.Zone, Now: time.Now,
	})
	h := handlers{
		elements: elements, audit: stores.Audit, accesses: accesses, changes: stores.Changes,
		trusted: r.TrustedProxies, zone: r.Zone, now: time.Now,
	}
	return service.Surface{
		Public:   h.public(),
		Internal: h.internal(),
		Components: []lifecycle.Component{
			lifecycle.Background("audit", stores.Audit.Run(r.Log)),
			lifecycle.Background("log of changes", stores.Changes.Run(r.Log)),
			lifecycle.Background("access log", accesses.Run(r.Log)),
			lifecycle.Background("erasures", erasures(r, elements)),
		},
	}, nil
}

const (
	// erasureEvery bounds how long an erasure waits until it begins.
	erasureEvery = time.Second
	// erasureRetry is the first pause while a service or a store is away, and longestErasureRetry the longest.
	erasureRetry, longestErasureRetry = time.Second, 30 * time.Second
)

// erasures continues unfinished erasures, in one replica at a time.
func erasures(r *service.Runtime, elements *element.Service) func(context.Context) error {
	var leading *background.Loop
	lead := func(ctx context.Context) error {
		leading.Works(ctx)
		return background.New(background.Options{
			Name: "the erasure of persons", Log: r.Log, Step: elements.EraseNext, Every: erasureEvery,
			Retry: erasureRetry, LongestRetry: longestErasureRetry,
		}).Run(ctx)
	}
	leading = background.New(background.Options{
		Name: "leading the erasure of persons", Log: r.Log, Every: erasureEvery,
		Step: func(ctx context.Context) error { return store.LeadErasures(ctx, r.DB, lead) },
	})
	return leading.Run
}
