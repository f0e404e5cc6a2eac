// Package api has the console's pages and forms. It keeps no data: pages read and change everything through the
// documented interface as the visitor, so that rights are decided there.
package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/neighbour"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/web/sealed"
	"github.com/belfry-schools/belfry/services/console/internal/page"
)

// Settings are those of the console, beside service.Config.
type Settings struct {
	Routes routes.Addresses `envconfig:"BELFRY_API_ROUTES" required:"true" desc:"where the documented interface is: comma-separated PREFIX=URL, the longest prefix wins; /=http://frontdoor:8080 is one address for all"`
	Name   string           `envconfig:"BELFRY_SCHOOL_NAME" desc:"name of the school or district, which pages show beside Belfry"`

	PublicToken settings.Secret `envconfig:"BELFRY_PUBLIC_TOKEN" desc:"token of scope read of a guest account, as whom /public shows a calendar without a login; without it there is none; a secret"`
}

// Check implements settings.Checker.
func (s *Settings) Check() error {
	if len([]rune(s.Name)) > 60 {
		return errors.New("BELFRY_SCHOOL_NAME: has more than 60 characters")
	}
	if s.PublicToken.Set() && !principal.IsToken(s.PublicToken.Reveal()) {
		return errors.New("BELFRY_PUBLIC_TOKEN: is no token for programs")
	}
	return nil
}

// Spec is the console.
func Spec() service.Spec {
	own := &Settings{}
	return service.Spec{
		Name: "console", Settings: own, Stateless: true,
		Build: func(_ context.Context, r *service.Runtime) (service.Surface, error) {
			pages, err := page.New(page.Options{Zone: r.Zone, School: own.Name})
			if err != nil {
				return service.Surface{}, err
			}
			h := handlers{
				pages: pages, zone: r.Zone, cookies: r.Cookies, log: r.Log, trusted: r.TrustedProxies,
				forms: sealed.New(r.InternalToken.Reveal(), "forms of the console"), sights: r.Sights,
				wire: wire{propagator: r.Propagator, through: routes.Transport{Addresses: own.Routes,
					Through: &http.Transport{DialContext: neighbour.Dial, IdleConnTimeout: time.Minute,
						MaxIdleConnsPerHost: 64}}}, // that are kept open to each service
			}
			if own.PublicToken.Set() { // with one try: a token that has ended must not let each visitor wait
				h.guest, err = h.wire.client(http.Header{"Authorization": {"Bearer " + own.PublicToken.Reveal()}}, 1)
			}
			return service.Surface{Public: h.public()}, err
		},
	}
}
