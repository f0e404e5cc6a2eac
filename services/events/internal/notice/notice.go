// Package notice sends notices of what was done to entries: to the administrators of an element and the user who
// asked for it, by e-mail, and to any program by webhook. Each channel is off until it is configured.
//
// A notice begins in the outbox of its event, written with the change that it is about. The relay records it in the
// store; from there one replica at a time, which holds a lease, spreads it: one item of mail for each person and one
// delivery for each webhook. Items and deliveries wait in the store until they are sent, so a process may die at any
// point and nothing is lost. Every step may be repeated: notices, items and deliveries have ids by which repeats are
// recognised, here and by the receivers.
package notice

import (
	"context"
	"log/slog"
	netmail "net/mail"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Notice is a recorded notice.
type Notice struct {
	ID string // that of the outbox's message
	At time.Time
	event.Notice
}

// Store keeps notices, and the items and deliveries made of them. Adding one again changes nothing.
type Store interface {
	WebhookStore

	// AddNotice records a notice, to be spread.
	AddNotice(ctx context.Context, n Notice) error
	// EventsToSpread returns some of the events that have notices to be spread.
	EventsToSpread(ctx context.Context) ([]int64, error)
	// ToSpread returns the notices of an event that are to be spread, in the order of their positions.
	ToSpread(ctx context.Context, eventID int64) ([]Notice, error)
	// Spread marks a notice as spread.
	Spread(ctx context.Context, id string) error

	// AddItems adds items of mail.
	AddItems(ctx context.Context, items []Item) error
	// Readers returns users for whom an item is due, at most limit, those who have waited longest first.
	Readers(ctx context.Context, now time.Time, limit int) ([]int64, error)
	// NextMail returns the items of the user's next mail, in their order, at most limit: those of a mail that was begun
	// or else all that wait, which it marks as that mail's.
	NextMail(ctx context.Context, userID int64, limit int) ([]Item, error)
	// Postpone sets the time until which nothing is sent to a user, after a failed mail.
	Postpone(ctx context.Context, userID int64, until time.Time) error
	// EndMail records that a user's mail was sent or, with a fault, that it never will be.
	EndMail(ctx context.Context, userID int64, mail, fault string) error

	// AddDeliveries adds deliveries and returns them with the ids that it gave them.
	AddDeliveries(ctx context.Context, deliveries []Delivery) ([]Delivery, error)
	// NextDelivery returns a due delivery to a webhook for whose event no earlier one waits; false when there is none.
	// With tests it returns only tests.
	NextDelivery(ctx context.Context, webhookID int64, now time.Time, tests bool) (Delivery, bool, error)
	// KeepDelivery stores the state of a delivery.
	KeepDelivery(ctx context.Context, d Delivery) error

	// CategoriesOf returns the categories that those of the events that exist are in now, by event.
	CategoriesOf(ctx context.Context, eventIDs []int64) (map[int64]int64, error)

	// Forget removes notices, items and deliveries from before a time.
	Forget(ctx context.Context, before time.Time) error
	// Lead runs work while no other replica does, as mongostore.WithLease does.
	Lead(ctx context.Context, work func(context.Context) error) error
}

// Elements is what notice asks of the elements service.
type Elements interface {
	Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error)
	Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error)
	Belonging(ctx context.Context, q fact.BelongingQuestion) ([]int64, error)
	Control(ctx context.Context, q fact.ControlQuestion) ([]fact.Control, error)
	Surroundings(ctx context.Context, q fact.SurroundingsQuestion) (fact.Surroundings, error)
}

// Users is what notice asks of the identity service.
type Users interface {
	Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error)
}

// Categories is what notice asks of category.Service.
type Categories interface {
	Find(ctx context.Context, ids []int64, keys []string) ([]category.Category, error)
}

// Mail gives mails to a mail server.
type Mail interface {
	// Send sends items as one mail, the same for each attempt. A RefusedError has the server's answer; any other error
	// says that the server can't be reached. Neither contains an address.
	Send(ctx context.Context, to netmail.Address, items []Item) error
}

// RefusedError is a mail server's refusal of a mail.
type RefusedError struct {
	Text  string
	Final bool // it will never take a mail for this reader
}

func (e RefusedError) Error() string { return e.Text }

// Webhooks sends deliveries.
type Webhooks interface {
	// CheckURL returns the fault of an endpoint; "" when there is none.
	CheckURL(ctx context.Context, url string) string
	// Attempt sends a delivery once. Code is the receiver's status, 0 when it did not answer; fault is "" for 2xx.
	Attempt(ctx context.Context, w Webhook, d Delivery) (code int, fault string)
}

// Metrics counts attempts by channel, mail or webhook, and outcome, which is sent, again or failed.
type Metrics interface {
	Tried(ctx context.Context, channel, outcome string)
}

// Options of a Service; all but Mail are needed.
type Options struct {
	Mail       Mail // nil: no mail is sent
	Webhooks   Webhooks
	PublicURL  string        // address of the deployment, without a slash at its end; "" where none is configured
	MailDigest time.Duration // how long items for one person are gathered; 0: they are sent at once
	Store      Store
	Elements   Elements
	Users      Users
	Categories Categories
	Sights     principal.Sights
	Zone       wiretime.Zone
	Log        *slog.Logger
	Metrics    Metrics
}

// Service records, spreads and sends notices. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service; it does nothing until Run.
func New(o Options) *Service { return &Service{o} }

// Record stores notices of an event, given in their order; none while all channels are off.
func (s *Service) Record(ctx context.Context, notices []Notice) error {
	if len(notices) == 0 {
		return nil
	}
	hooks, err := s.Store.ListWebhooks(ctx)
	if err != nil {
		return err
	}
	if s.Mail == nil && !slices.ContainsFunc(hooks, func(w Webhook) bool { return w.Active }) {
		return nil
	}
	for _, n := range notices {
		if err := s.Store.AddNotice(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

const (
	// look is the pause between two steps of each part of the work.
	look = 500 * time.Millisecond
	// keep is how long sent notices stay.
	keep = 30 * 24 * time.Hour
	// leadPause is the pause before trying for the lead again after an error of the store.
	leadPause = 2 * time.Second
)

// Run works, in one replica at a time, until ctx ends, then returns nil.
func (s *Service) Run(ctx context.Context) error {
	var leading *background.Loop
	leading = background.New(background.Options{
		Name: "leading the notices", Log: s.Log, Every: leadPause,
		Step: func(ctx context.Context) error {
			return s.Store.Lead(ctx, func(ctx context.Context) error {
				leading.Works(ctx)
				return s.work(ctx)
			})
		},
	})
	return leading.Run(ctx)
}

// work runs the parts side by side, so that none waits for another's receivers.
func (s *Service) work(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.repeat(ctx, "spreading notices", look, s.spread) })
	g.Go(func() error { return s.repeat(ctx, "forgetting old notices", time.Hour, s.forget) })
	g.Go(func() error { return s.deliver(ctx) })
	if s.Mail != nil {
		g.Go(func() error { return s.repeat(ctx, "sending mail", look, s.sendMail) })
	}
	return g.Wait()
}

// repeat does a step again and again until ctx ends, then returns nil.
func (s *Service) repeat(
	ctx context.Context, name string, every time.Duration, step func(context.Context) error,
) error {
	return background.New(background.Options{Name: name, Log: s.Log, Step: step, Every: every}).Run(ctx)
}

func (s *Service) forget(ctx context.Context) error {
	return s.Store.Forget(ctx, time.Now().Add(-keep))
}

// lastWord returns a context in which a receiver's answer can still be stored while the work is being stopped.
func lastWord(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
}
