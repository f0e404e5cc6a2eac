// Package api is the identity service over HTTP: its settings, its routes, and the JSON of requests and answers.
package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/pkg/service/background"
	"github.com/belfry-schools/belfry/pkg/service/lifecycle"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/web/catalogue"
	"github.com/belfry-schools/belfry/services/identity/internal/attempts"
	"github.com/belfry-schools/belfry/services/identity/internal/openid"
	"github.com/belfry-schools/belfry/services/identity/internal/store"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// Settings are identity's own, beside service.Config.
type Settings struct {
	Bootstrap settings.Secret `envconfig:"BOOTSTRAP_ADMIN_UUID" desc:"uuid of the first administrator, who is created when there is no user at all: 16 to 255 printable ASCII characters; a secret"`
	SecurityTxt
	openid.Settings
}

// SecurityTxt says where weaknesses of this deployment are reported (RFC 9116).
type SecurityTxt struct {
	Contacts []string `envconfig:"BELFRY_SECURITY_CONTACTS" desc:"comma-separated addresses (https:, mailto: or tel:), at most 10, at which weaknesses are reported, the preferred one first; /.well-known/security.txt has them, and is 404 without any"`
	Expires  string   `envconfig:"BELFRY_SECURITY_EXPIRES" desc:"when the content of security.txt expires, such as 2027-06-30T00:00:00Z; needed with contacts"`
}

// Check implements settings.Checker.
func (s *Settings) Check() error {
	if err := errors.Join(s.SecurityTxt.Check(), s.Settings.Check()); err != nil || !s.Bootstrap.Set() {
		return err
	}
	if err := user.CheckUUID(s.Bootstrap.Reveal()); err != nil {
		return fmt.Errorf("BOOTSTRAP_ADMIN_UUID: %w", err)
	}
	return nil
}

// Spec is the identity service.
func Spec() service.Spec {
	own := &Settings{}
	return service.Spec{
		Name:     "identity",
		Settings: own,
		Prepare:  func(ctx context.Context, r *service.Runtime) error { return prepare(ctx, r, own) },
		Build: func(ctx context.Context, r *service.Runtime) (service.Surface, error) {
			return build(ctx, r, own)
		},
	}
}

// prepare makes the indexes and the first administrator.
func prepare(ctx context.Context, r *service.Runtime, own *Settings) error {
	if err := store.EnsureIndexes(ctx, r.DB); err != nil {
		return err
	}
	if !own.Bootstrap.Set() {
		return nil
	}
	created, err := user.EnsureFirst(ctx, store.New(r.DB, r.IDs, r.Versions, nil), own.Bootstrap.Reveal())
	if err != nil {
		return fmt.Errorf("make the first administrator: %w", err)
	}
	if created {
		r.Log.InfoContext(ctx, "made the first administrator")
	}
	return nil
}

const (
	// confirmInterval bounds the delay until sessions follow a change whose process died, or that Redis has lost.
	confirmInterval = time.Second
	forgetInterval  = time.Hour // of ended sessions
	firstRetry      = 100 * time.Millisecond
	// writeMargin is for clocks that differ, and for writes that the database finishes after their deadline.
	writeMargin = time.Minute
)

func build(ctx context.Context, r *service.Runtime, own *Settings) (service.Surface, error) {
	providers, err := newProviders(r, own.Settings)
	if err != nil {
		return service.Surface{}, err
	}
	if own.expired(time.Now()) {
		r.Log.WarnContext(ctx, "security.txt has expired: set BELFRY_SECURITY_EXPIRES")
	}
	users := user.New(user.Options{
		Store: store.New(r.DB, r.IDs, r.Versions, r.Memory), Sessions: sessions{r.Sessions}, Elements: r.Elements,
		Attempts: attempts.New(r.Redis, r.RedisPrefix), Zone: r.Zone, SessionLife: r.SessionAbsolute,
		WriteTime: 2*r.RequestTimeout + writeMargin, Elsewhere: providers.elsewhere(),
	})
	if err := r.Sessions.Measure(r.Meter); err != nil {
		return service.Surface{}, err
	}
	texts, err := catalogue.Read(pageTexts)
	if err != nil {
		return service.Surface{}, err
	}
	log := store.Audit(r.DB)
	h := handlers{
		users: users, sessions: r.Sessions, cookies: r.Cookies, trusted: r.TrustedProxies, audit: log, zone: r.Zone,
		log: r.Log, security: own.SecurityTxt, providers: providers, texts: texts,
		answers: answers.New(answers.Options{Redis: r.Redis, Keys: r.Keys, Secret: r.InternalToken}),
	}
	r.Sessions.OpenTokensBy(h.openToken)

	confirmation := background.New(background.Options{
		Name: "the confirmation of sessions", Log: r.Log, Step: users.ConfirmSessions,
		Every: confirmInterval, Retry: firstRetry, LongestRetry: confirmInterval,
	})
	forgetting := background.New(background.Options{
		Name: "the deletion of ended sessions", Log: r.Log, Step: users.ForgetEnded,
		Every: forgetInterval, Retry: time.Second, LongestRetry: time.Minute,
	})
	return service.Surface{
		Public:   h.public(),
		Internal: h.internal(),
		Components: []lifecycle.Component{
			lifecycle.Background("confirmation of sessions", confirmation.Run),
			lifecycle.Background("deletion of ended sessions", forgetting.Run),
			lifecycle.Background("audit", log.Run(r.Log)),
			lifecycle.Background("sweep of sessions", r.Sessions.RunSweep(r.Log)),
		},
	}, nil
}
