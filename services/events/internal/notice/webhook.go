package notice

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/principal/authority"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	// maxWebhooks bounds the webhooks of a deployment, and so the concurrent deliveries; maxOfSchool those of one
	// school, so that no school takes all of them.
	maxWebhooks = 100
	maxOfSchool = 10
	// maxURL bounds an endpoint's address, in bytes.
	maxURL = 2048
	// secretOverlap is how long a replaced secret still signs, and maxOldSecrets how many do.
	secretOverlap = 24 * time.Hour
	maxOldSecrets = 4
)

// Webhook is an endpoint of a program that wants notices. The tags name its fields in the API and as they
// are stored.
type Webhook struct {
	ID     int64              `bson:"-" json:"-"`
	URL    string             `bson:"url" json:"url"`
	Kinds  []event.NoticeKind `bson:"kinds" json:"kinds"`   // those that it wants; never empty
	Active bool               `bson:"active" json:"active"` // what waits for an inactive one goes on waiting
	// SchoolID is the school to whose elements' entries it is limited; 0: it gets all entries.
	SchoolID  int64           `bson:"school_id,omitempty" json:"school_id,omitempty"`
	Secret    settings.Secret `bson:"-" json:"-"` // signs what it is sent
	Before    []OldSecret     `bson:"-" json:"-"` // sign along; the newest first
	CreatedAt time.Time       `bson:"created_at" json:"-"`
}

// OldSecret is a secret of a webhook that was renewed.
type OldSecret struct {
	Secret settings.Secret
	Until  time.Time // when it signs no more
}

// WebhookStore keeps webhooks. Methods that get, change or delete one return record.ErrNotFound when there is none.
type WebhookStore interface {
	// ListWebhooks returns all, by id.
	ListWebhooks(ctx context.Context) ([]Webhook, error)
	GetWebhook(ctx context.Context, id int64) (Webhook, error)
	// AloneWithWebhooks runs work while no other process does.
	AloneWithWebhooks(ctx context.Context, work func(context.Context) error) error
	// InsertWebhook stores a new one and returns the id that it got.
	InsertWebhook(ctx context.Context, w Webhook) (int64, error)
	// ChangeWebhook lets change decide on the one of that id and stores what it leaves, as one atomic step.
	ChangeWebhook(ctx context.Context, id int64, change func(*Webhook) error) (Webhook, error)
	// DeleteWebhook removes the one of that id with its deliveries.
	DeleteWebhook(ctx context.Context, id int64) error
	// ListDeliveries returns deliveries to a webhook, newest first, at most limit, those with an id below before if
	// that is not 0.
	ListDeliveries(ctx context.Context, webhookID, before int64, limit int) ([]Delivery, error)
}

// WebhookFields are the fields of a webhook in a request; nil is a field not given.
type WebhookFields struct {
	URL      *string
	Kinds    *[]string
	Active   *bool
	SchoolID *int64         // 0: none
	Faults   problem.Fields // what could not be read; never nil
}

// WebhookRecord is the type's name in exception bodies.
const WebhookRecord = "Webhook"

// ListWebhooks returns the webhooks that p administers, by id.
func (s *Service) ListWebhooks(ctx context.Context, p principal.Principal) ([]Webhook, error) {
	all, err := s.Store.ListWebhooks(ctx)
	if err != nil || p.Permissions.Admin {
		return all, err
	}
	own, err := authority.Administered(ctx, p, schoolsOf(all), s.Elements)
	return slices.DeleteFunc(all, func(w Webhook) bool { return !slices.Contains(own, w.SchoolID) }), err
}

// GetWebhook returns a webhook. Missing; Forbidden when it is not p's.
func (s *Service) GetWebhook(ctx context.Context, p principal.Principal, id int64) (Webhook, error) {
	w, err := s.Store.GetWebhook(ctx, id)
	if err != nil {
		return Webhook{}, record.Missing(err, WebhookRecord, id)
	}
	return w, s.mustAdminister(ctx, p, w.SchoolID)
}

// DeleteWebhook removes a webhook with its deliveries. Missing; Forbidden when it is not p's.
func (s *Service) DeleteWebhook(ctx context.Context, p principal.Principal, id int64) error {
	if err := s.mustHold(ctx, p, id); err != nil {
		return err
	}
	return record.Missing(s.Store.DeleteWebhook(ctx, id), WebhookRecord, id)
}

// ListDeliveries returns a page of the deliveries to a webhook, newest first: at most limit, those with an id below
// before if that is not 0, and the id after which the next page begins, 0 after the last page. Missing; Forbidden when
// it is not p's.
func (s *Service) ListDeliveries(
	ctx context.Context, p principal.Principal, id, before int64, limit int,
) (page []Delivery, next int64, err error) {
	if _, err := s.GetWebhook(ctx, p, id); err != nil {
		return nil, 0, err
	}
	page, err = s.Store.ListDeliveries(ctx, id, before, limit+1)
	page, next = sequence.Page(page, limit, false, func(d Delivery) int64 { return d.ID })
	return page, next, err
}

// CreateWebhook makes a webhook with a new secret, of the school that p administers unless p is an admin or names one.
// Invalid for a field with a fault, Forbidden when the school is not p's, Conflict when there are too many.
func (s *Service) CreateWebhook(ctx context.Context, p principal.Principal, f WebhookFields) (Webhook, error) {
	w := Webhook{Kinds: event.NoticeKinds(), Active: true, CreatedAt: time.Now().UTC().Truncate(time.Second)}
	if f.URL == nil && f.Faults["url"] == nil {
		f.Faults.Add("url", problem.Blank)
	}
	school, err := s.schoolOfNew(ctx, p, f)
	if err != nil {
		return Webhook{}, err
	}
	w.SchoolID = school
	if faults := s.applyFields(ctx, &w, f); len(faults) > 0 {
		return Webhook{}, record.Invalid(w, faults)
	}
	w.Secret = newSecret()
	all, err := s.Store.ListWebhooks(ctx)
	if err != nil {
		return Webhook{}, err
	}
	// Far from the bound no creation waits for others: only as many at once as there is room could exceed it.
	if len(all) < maxWebhooks/2 && w.SchoolID == 0 {
		w.ID, err = s.Store.InsertWebhook(ctx, w)
		return w, err
	}
	err = s.Store.AloneWithWebhooks(ctx, func(ctx context.Context) error {
		all, err := s.Store.ListWebhooks(ctx)
		if err != nil {
			return err
		}
		if len(all) >= maxWebhooks {
			return problem.New(problem.Conflict, "there are %d webhooks already", maxWebhooks)
		}
		others := slices.DeleteFunc(all, func(other Webhook) bool { return other.SchoolID != w.SchoolID })
		if w.SchoolID != 0 && len(others) >= maxOfSchool {
			return problem.New(problem.Conflict, "the school has %d webhooks already", maxOfSchool)
		}
		w.ID, err = s.Store.InsertWebhook(ctx, w)
		return err
	})
	return w, err
}

// RenewSecret gives a webhook a new secret. For a day the previous secret also signs, so that nothing is refused until
// the receiver has the new one; after several renewals in a day, the previous four do. Missing; Forbidden when it is
// not p's.
func (s *Service) RenewSecret(ctx context.Context, p principal.Principal, id int64) (Webhook, error) {
	if err := s.mustHold(ctx, p, id); err != nil {
		return Webhook{}, err
	}
	secret := newSecret()
	w, err := s.Store.ChangeWebhook(ctx, id, func(w *Webhook) error {
		now := time.Now().UTC()
		before := append([]OldSecret{{w.Secret, now.Add(secretOverlap)}}, w.Before...)
		before = slices.DeleteFunc(before, func(old OldSecret) bool { return old.Until.Before(now) })
		w.Secret, w.Before = secret, before[:min(len(before), maxOldSecrets)]
		return nil
	})
	return w, record.Missing(err, WebhookRecord, id)
}

// ChangeWebhook changes the fields given; the school stays. Missing; Forbidden when it is not p's; Invalid as for
// CreateWebhook.
func (s *Service) ChangeWebhook(
	ctx context.Context, p principal.Principal, id int64, f WebhookFields,
) (Webhook, error) {
	if err := s.mustHold(ctx, p, id); err != nil {
		return Webhook{}, err
	}
	var checked Webhook // outside the change, which must not ask where the endpoint is
	faults := s.applyFields(ctx, &checked, f)
	w, err := s.Store.ChangeWebhook(ctx, id, func(w *Webhook) error {
		if f.SchoolID != nil && *f.SchoolID != w.SchoolID && faults["school_id"] == nil {
			faults.Add("school_id", problem.Fixed)
		}
		if len(faults) > 0 {
			return record.Invalid(*w, faults)
		}
		before := *w
		if f.URL != nil {
			w.URL = checked.URL
		}
		if f.Kinds != nil {
			w.Kinds = checked.Kinds
		}
		if f.Active != nil {
			w.Active = checked.Active
		}
		if w.URL == before.URL && slices.Equal(w.Kinds, before.Kinds) && w.Active == before.Active {
			return record.ErrUnchanged
		}
		return nil
	})
	return w, record.Missing(err, WebhookRecord, id)
}

// applyFields writes the fields into w and returns their faults.
func (s *Service) applyFields(ctx context.Context, w *Webhook, f WebhookFields) problem.Fields {
	faults := f.Faults
	if f.URL != nil {
		switch wrong := s.Webhooks.CheckURL(ctx, *f.URL); {
		case *f.URL == "":
			faults.Add("url", problem.Blank)
		case len(*f.URL) > maxURL:
			faults.Add("url", problem.TooLong(maxURL))
		case wrong != "":
			faults.Add("url", wrong)
		default:
			w.URL = *f.URL
		}
	}
	if f.Kinds != nil {
		if kinds := readKinds(*f.Kinds, faults); faults["kinds"] == nil {
			w.Kinds = kinds
		}
	}
	form.Set(&w.Active, f.Active)
	return faults
}

func readKinds(texts []string, faults problem.Fields) []event.NoticeKind {
	var kinds []event.NoticeKind
	for _, text := range texts {
		kind := event.NoticeKind(text)
		if !slices.Contains(event.NoticeKinds(), kind) {
			faults.Add("kinds", fmt.Sprintf("%q "+problem.NotIncluded, text))
		} else if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if len(texts) == 0 {
		faults.Add("kinds", problem.Blank)
	}
	return kinds
}

// TestWebhook adds a test to the deliveries of a webhook, active or not; it is tried once. Missing; Forbidden when it
// is not p's.
func (s *Service) TestWebhook(ctx context.Context, p principal.Principal, id int64) (Delivery, error) {
	if _, err := s.GetWebhook(ctx, p, id); err != nil {
		return Delivery{}, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	d := Delivery{WebhookID: id, NoticeID: rand.Text(), Kind: testKind, At: now, DueAt: now, State: Waiting, Once: true}
	d.Body = s.envelope(d, nil)
	added, err := s.Store.AddDeliveries(ctx, []Delivery{d})
	if err != nil {
		return Delivery{}, err
	}
	return added[0], nil
}

const (
	// secretBytes is how much randomness a webhook's secret has.
	secretBytes = 32
	// SecretPrefix begins each secret, as in Standard Webhooks. The key follows in Base64.
	SecretPrefix = "whsec_"
)

// newSecret makes a secret in the form that the libraries of Standard Webhooks take.
func newSecret() settings.Secret {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails
	return settings.NewSecret(SecretPrefix + base64.StdEncoding.EncodeToString(random))
}

// SecretsAt returns the secrets that sign at a time: the current one, then the previous ones that still sign, the
// newest first.
func (w Webhook) SecretsAt(at time.Time) []settings.Secret {
	secrets := []settings.Secret{w.Secret}
	for _, old := range w.Before {
		if at.Before(old.Until) {
			secrets = append(secrets, old.Secret)
		}
	}
	return secrets
}
