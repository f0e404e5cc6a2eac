// Package api has the routes of the events service, public and internal, and its background work.
package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/journal/outbox"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/pkg/service/lifecycle"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/absence"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/clash"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/follow"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
	"github.com/belfry-schools/belfry/services/events/internal/sender"
	"github.com/belfry-schools/belfry/services/events/internal/series"
	"github.com/belfry-schools/belfry/services/events/internal/store"
)

// settings are those of the events service, beside service.Config.
type settings struct {
	sender.Settings
	absence.Nightly
	Streams      int                `envconfig:"BELFRY_STREAMS" default:"500" desc:"how many streams of changes a replica holds open"`
	StreamsOfOne int                `envconfig:"BELFRY_STREAMS_OF_ONE" default:"5" desc:"how many of those one user may have"`
	DateOrder    wiretime.DateOrder `envconfig:"BELFRY_DATE_ORDER" default:"dmy" desc:"how dates with slashes are read in the fields of events: dmy (1/4/2019 is the first of April), mdy, or iso for none, and hours of two digits alone"`
}

// Check implements settings.Checker.
func (s *settings) Check() error {
	faults := []error{s.Settings.Check(), s.Nightly.Check()}
	if s.Streams < 1 || s.Streams > maxStreams {
		faults = append(faults, fmt.Errorf("BELFRY_STREAMS: must be from 1 to %d", maxStreams))
	}
	if s.StreamsOfOne < 1 || s.StreamsOfOne > maxStreams {
		faults = append(faults, fmt.Errorf("BELFRY_STREAMS_OF_ONE: must be from 1 to %d", maxStreams))
	}
	return errors.Join(faults...)
}

// maxStreams bounds the streams, so that the listener has connections left for other requests.
const maxStreams = 1000

// Spec is the events service.
func Spec() service.Spec {
	own := &settings{}
	return service.Spec{
		Name:     "events",
		Settings: own,
		Prepare: func(ctx context.Context, r *service.Runtime) error {
			return errors.Join(store.Prepare(ctx, r.DB, r.Zone), store.NewNotices(r.DB, r.IDs).Prepare(ctx))
		},
		Build: func(_ context.Context, r *service.Runtime) (service.Surface, error) { return build(r, own) },
	}
}

func build(r *service.Runtime, own *settings) (service.Surface, error) {
	categoryStore := store.NewCategories(store.CategoriesOptions{
		DB: r.DB, IDs: r.IDs, Directory: r.Versions, Memory: r.Memory,
	})
	categories := category.New(category.Options{Store: categoryStore, Elements: r.Elements, Zone: r.Zone})
	mail, err := sender.NewMail(&own.Settings)
	if err != nil {
		return service.Surface{}, err
	}
	attempts, err := newNoticeMetrics(r.Meter)
	if err != nil {
		return service.Surface{}, err
	}
	notices := notice.New(notice.Options{
		Mail: mail, Webhooks: sender.NewWebhooks(own.WebhookNetworks),
		PublicURL: strings.TrimSuffix(own.PublicURL, "/"), MailDigest: own.MailDigest,
		Store: store.NewNotices(r.DB, r.IDs), Elements: r.Elements, Users: r.Identity, Categories: categories,
		Sights: r.Sights, Zone: r.Zone, Log: r.Log, Metrics: attempts,
	})
	relay := outbox.NewRelay(outbox.RelayOptions{
		Collection: store.EventsCollection(r.DB),
		Redis:      r.Redis,
		Stream:     outbox.Stream(r.RedisPrefix, fact.EventsStream),
		Log:        r.Log,
		Record: func(ctx context.Context, messages []outbox.Message) error {
			return notices.Record(ctx, store.NoticesOf(ctx, r.Log, messages))
		},
	})
	if err := relay.Measure(r.Meter); err != nil {
		return service.Surface{}, err
	}
	events := store.NewEvents(r.DB, r.IDs, r.Zone, relay.Nudge)
	clashes := clash.New(clash.Options{
		Events: events, Reservations: store.NewReservations(r.DB), Categories: categories, Elements: r.Elements,
		Zone: r.Zone,
	})
	useCases := event.New(event.Options{
		Store: events, Clashes: clashes, Categories: categories, Elements: r.Elements, Users: r.Identity,
		Notes: r.Notes, Sights: r.Sights, Zone: r.Zone,
	})
	seriesStore := store.NewSeries(r.DB, r.IDs, events)
	allSeries := series.New(series.Options{
		Store: seriesStore, EventStore: events, Events: useCases, Clashes: clashes, Categories: categories,
		Zone: r.Zone, Log: r.Log,
	})
	metrics, err := newAbsenceMetrics(r.Meter)
	if err != nil {
		return service.Surface{}, err
	}
	absences := absence.New(absence.Options{
		Nightly: own.Nightly, Clashes: clashes, Store: events, Categories: categoryStore, Nights: store.NewNights(r.DB),
		Elements: r.Elements, Notes: r.Notes, Audit: store.Audit(r.DB), Zone: r.Zone, Now: time.Now, Log: r.Log,
		Metrics: metrics,
	})
	forget := func(ctx context.Context, before time.Time) error {
		return errors.Join(events.ForgetIdempotencyRecords(ctx, before), seriesStore.ForgetKeys(ctx, before))
	}
	changes := store.Changes(r.DB, r.ChangesKept)
	if err := changes.Measure(r.Meter); err != nil {
		return service.Surface{}, err
	}
	follows := follow.New(follow.Options{
		Events: changes.Answer, Elements: r.Elements.Changes, Notes: r.Notes.Changes,
		Secret: r.InternalToken.Reveal(), Zone: r.Zone.String(), Sights: r.Sights, Redacted: useCases.Redacted,
	})
	hub := follow.NewHub(follows)
	if err := measureStreams(r); err != nil {
		return service.Surface{}, err
	}
	h := handlers{
		events: useCases, dateOrder: own.DateOrder, clashes: clashes, categories: categories, series: allSeries,
		follow: follows, hub: hub, streams: web.StreamBounds{All: own.Streams, Each: own.StreamsOfOne},
		shape: shape{r.Zone}, notices: notices, absences: absences,
		audit: store.Audit(r.DB), eraseRest: func(p erasure.Person) []erasure.Part { return store.Erase(r.DB, p) },
	}
	return service.Surface{
		Public:   h.public(),
		Internal: h.internal(),
		Components: []lifecycle.Component{
			lifecycle.Background("sweep of idempotency records", idempotency.Sweep(r.Log, forget)),
			lifecycle.Background("sweep of unfinished series", allSeries.Run),
			lifecycle.Background("relay of events' messages", relay.Run),
			lifecycle.Background("notices", notices.Run),
			lifecycle.Background("nightly check of absences", absences.Run),
			lifecycle.Background("audit", h.audit.Run(r.Log)),
			lifecycle.Background("log of changes", changes.Run(r.Log)),
			lifecycle.Background("look for changes", look(r.Log, hub)),
		},
	}, nil
}
