package notice_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
	"github.com/belfry-schools/belfry/services/events/internal/sender"
	"github.com/belfry-schools/belfry/services/events/internal/store"
)

// certificate is the mail server's; the test process trusts its authority.
var certificate tls.Certificate

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "notice")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var file string
	if file, certificate, err = receivers.Authority(dir); err != nil {
		panic(err)
	}
	if err := os.Setenv("SSL_CERT_FILE", file); err != nil {
		panic(err)
	}
	return m.Run()
}

// The people and things of these tests. The neighbours are stood in for: the black-box tests of package api have
// the real ones.
const (
	calendar, minibuses, minibus          = 100, 200, 201
	keeper, deputy, owner, retired, asker = 1, 2, 3, 4, 5
	pupil, mate, court                    = 6, 300, 302 // a user, another pupil's element, and the user's court
	keeperMail, deputyMail, ownerMail     = "kim@school.example", "dee@school.example", "otto@school.example"
	pupilMail                             = "pia@school.example"
	soon                                  = 15 * time.Second
)

// admin may administer every webhook.
var admin = principal.Principal{Permissions: principal.All()}

type elements struct{}

func (elements) Facts(context.Context, fact.ElementsQuestion) ([]fact.Element, error) {
	return []fact.Element{
		{Element: form.Element{ID: calendar, Name: "Public <calendar>", EntityType: form.Property, EntityID: 100,
			Valid: true}, Administrators: []int64{keeper, deputy, retired}},
		{Element: form.Element{ID: minibuses, Name: "Minibuses", EntityType: form.Group, EntityID: 200, Valid: true},
			Resource: true},
		{Element: form.Element{ID: mate, Name: "Mia Mate", EntityType: form.Pupil, EntityID: 300, Valid: true},
			Administrators: []int64{keeper}},
		{Element: form.Element{ID: court, Name: "Court", EntityType: form.Location, EntityID: 302, Valid: true},
			Administrators: []int64{pupil}},
		{Element: form.Element{ID: minibus, Name: "Minibus 1", EntityType: form.Service, EntityID: 201, Valid: true}},
	}, nil
}

// Reaches of these elements are they alone: none is of a school.
func (elements) Reaches(_ context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error) {
	return sequence.Map(q.IDs, func(id int64) fact.ElementReaches {
		return fact.ElementReaches{ElementID: id, Reaches: []fact.Reach{{ElementID: id}}}
	}), nil
}

func (elements) Surroundings(context.Context, fact.SurroundingsQuestion) (fact.Surroundings, error) {
	return fact.Surroundings{}, nil
}

func (elements) Belonging(context.Context, fact.BelongingQuestion) ([]int64, error) { return nil, nil }

func (elements) Control(context.Context, fact.ControlQuestion) ([]fact.Control, error) {
	return nil, nil
}

type users struct{}

func (users) Users(_ context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	all := map[int64]fact.User{
		keeper:  {User: form.User{Name: "Kim Keeper", Email: keeperMail}, Active: true},
		deputy:  {User: form.User{Name: "Dee Deputy", Email: deputyMail}, Active: true},
		owner:   {User: form.User{Name: "Otto Owner", Email: ownerMail}, Active: true},
		retired: {User: form.User{Name: "Rita", Email: "rita@school.example"}},
		asker:   {User: form.User{Name: "Ann Asker", Email: "ann@school.example"}, Active: true},
		pupil: {User: form.User{Name: "Pia Pupil", Email: pupilMail}, Active: true, Kind: principal.Pupil,
			ElementID: 301},
	}
	var found []fact.User
	for _, id := range q.IDs {
		if u, ok := all[id]; ok {
			if u.ID = id; u.Kind == "" {
				u.Kind = principal.Staff
			}
			found = append(found, u)
		}
	}
	return found, nil
}

type categories struct{}

func (categories) Find(context.Context, []int64, []string) ([]category.Category, error) {
	return nil, nil
}

// office is a notice service on a database of its own.
type office struct {
	*notice.Service
	db  *mongo.Database
	log *output.Buffer // what the service wrote, at any level
}

type uncounted struct{}

func (uncounted) Tried(context.Context, string, string) {}

// allowLocal lets webhooks go to this machine.
func allowLocal(s *sender.Settings) {
	s.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// mailBy lets mail go to the server, over STARTTLS and logged in.
func mailBy(m *receivers.MailServer) func(*sender.Settings) {
	return func(s *sender.Settings) {
		s.SMTPHost, s.SMTPPort, s.SMTPTLS, s.MailFrom = m.Host, m.Port, "mandatory", "Belfry <belfry@school.example>"
		s.SMTPUsername, s.SMTPPassword = receivers.Username, settings.NewSecret(receivers.Password)
	}
}

// open makes a service that does not run yet.
func open(t *testing.T, db *mongo.Database, change ...func(*sender.Settings)) *office {
	t.Helper()
	s := &sender.Settings{SMTPPort: 587, SMTPTLS: "mandatory", PublicURL: "https://belfry.school.example"}
	for _, c := range change {
		c(s)
	}
	errortest.None(t, s.Check())
	notices := store.NewNotices(db, mongostore.NewIDs(db))
	errortest.None(t, notices.Prepare(t.Context()))
	zone := timetest.London(t)
	written := &output.Buffer{}
	mail, err := sender.NewMail(s)
	errortest.None(t, err)
	service := notice.New(notice.Options{
		Mail: mail, Webhooks: sender.NewWebhooks(s.WebhookNetworks), PublicURL: s.PublicURL,
		MailDigest: s.MailDigest, Store: notices, Elements: elements{}, Users: users{},
		Categories: categories{}, Zone: zone,
		Sights:  principal.Sights{Pupils: principal.SeesOwn, Guests: principal.SeesPublic},
		Metrics: uncounted{},
		Log:     slog.New(slog.NewTextHandler(written, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	return &office{service, db, written}
}

// start makes the service work, and returns how to make it stop.
func (o *office) start(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		errortest.Report(t, o.Run(ctx))
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
	})
	t.Cleanup(stop)
	return stop
}

// running makes a service and starts it.
func running(t *testing.T, change ...func(*sender.Settings)) *office {
	t.Helper()
	o := open(t, storetest.Mongo(t), change...)
	o.start(t)
	return o
}

// webhook registers an endpoint.
func (o *office) webhook(t *testing.T, url string) notice.Webhook {
	t.Helper()
	w, err := o.CreateWebhook(t.Context(), admin, notice.WebhookFields{URL: &url, Faults: map[string][]string{}})
	errortest.None(t, err)
	return w
}

// tell records notices of one event, as its outbox's relay does.
func (o *office) tell(t *testing.T, notices ...event.Notice) {
	t.Helper()
	recorded := sequence.Map(notices, func(n event.Notice) notice.Notice {
		return notice.Notice{ID: rand.Text(), At: time.Now().UTC(), Notice: n}
	})
	errortest.None(t, o.Record(t.Context(), recorded))
}

// about is an event of the owner's.
func about(id int64) event.NoticeEvent {
	return event.NoticeEvent{
		ID: id, Body: fmt.Sprintf("Concert %d", id), OwnerID: owner,
		Starts: time.Date(2026, 9, 7, 18, 0, 0, 0, time.UTC), Ends: time.Date(2026, 9, 7, 20, 0, 0, 0, time.UTC),
	}
}

// pending is the nth notice of an event: the calendar was asked for.
func pending(id, n int64) event.Notice {
	return event.Notice{Kind: event.CommitmentRequested, Position: n, Event: about(id), Actor: owner,
		Entries: []event.Entry{{CommitmentID: id*10 + 1, ElementID: calendar, Status: event.Requested, AddedBy: owner}}}
}

// confirmed is the nth notice of an event: the keeper confirmed the calendar.
func confirmed(id, n int64) event.Notice {
	return event.Notice{Kind: event.CommitmentDecided, Position: n, Event: about(id), Actor: keeper,
		Entries: []event.Entry{{CommitmentID: id*10 + 1, ElementID: calendar, Status: event.Confirmed,
			Reason: "Fine & <good>", AddedBy: asker, DecidedBy: keeper}}}
}
