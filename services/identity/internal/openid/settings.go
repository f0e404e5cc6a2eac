// Package openid is the login at OpenID Connect providers: what is set about them, what is asked of them, and the
// logins under way. It knows no users: it says which address a provider answers for.
package openid

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/service/settings"
)

// maxProviders is how many providers there are at most.
const maxProviders = 20

// secretPrefix begins the name of the variable with a provider's client secret; its name in upper case follows.
const secretPrefix = "BELFRY_OIDC_SECRET_" //nolint:gosec // the name of a secret

// Who may log in by uuid.
const (
	UUIDAll    = "all"
	UUIDOthers = "others" // whose address is in no domain of a provider
)

// Settings are those of logins at providers, beside service.Config.
type Settings struct {
	PublicURL string `envconfig:"BELFRY_PUBLIC_URL" desc:"address at which browsers reach this deployment, such as https://belfry.school.example; needed with BELFRY_OIDC_PROVIDERS"`
	List      string `envconfig:"BELFRY_OIDC_PROVIDERS" desc:"OpenID Connect providers at which users log in: a list in JSON, see docs/operate.md; the client secret of each is in BELFRY_OIDC_SECRET_ and its name in upper case"`
	UUIDLogin string `envconfig:"BELFRY_UUID_LOGIN" default:"all" desc:"who may log in by uuid: all, or others, users whose e-mail address is in none of the providers' domains"`
}

// Provider is what is set about one provider.
type Provider struct {
	Name     string `json:"name"`  // in paths
	Title    string `json:"title"` // for people
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientId"`
	// Domains are those of the addresses that it answers for; needed with several providers, with Create, and where not
	// everybody may log in by uuid. Empty: all addresses.
	Domains []string `json:"domains"`
	// HostedDomain demands the claim hd, and that it is one of Domains.
	HostedDomain bool `json:"hostedDomain"`
	// EmailClaim names the claim that has the address; "email" when empty.
	EmailClaim string `json:"emailClaim"`
	// TrustEmail takes an address without email_verified for verified.
	TrustEmail bool `json:"trustEmail"`
	// Create has, for some of Domains, the kind of users that are created for unknown addresses.
	Create map[string]principal.Kind `json:"create"`

	secret settings.Secret
}

// namePattern is what names of providers are: parts of paths and, in upper case, of variables.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9]{0,19}$`)

// domainPattern is a DNS name in lower case.
var domainPattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)

// Check implements settings.Checker.
func (s *Settings) Check() error {
	_, err := s.Providers()
	return err
}

// Providers returns the providers with their secrets, or all that is wrong with them.
func (s *Settings) Providers() ([]Provider, error) {
	fault := func(format string, values ...any) error {
		return fmt.Errorf("BELFRY_OIDC_PROVIDERS: "+format, values...)
	}
	var faults []error
	if s.UUIDLogin != UUIDAll && s.UUIDLogin != UUIDOthers {
		faults = append(faults, errors.New("BELFRY_UUID_LOGIN: must be all or others"))
	}
	if s.List == "" {
		return nil, errors.Join(faults...)
	}
	if u, err := url.Parse(s.PublicURL); err != nil || !reachable(u) || u.RawQuery != "" ||
		strings.Trim(u.Path, "/") != "" {
		faults = append(faults, errors.New("BELFRY_PUBLIC_URL: must be an https address without a path"))
	}
	var list []Provider
	decoder := json.NewDecoder(bytes.NewReader([]byte(s.List)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		return nil, errors.Join(append(faults, fault("not a list of providers in JSON: %w", err))...)
	}
	if len(list) > maxProviders {
		return nil, errors.Join(append(faults, fault("has more than %d providers", maxProviders))...)
	}
	names := map[string]bool{}
	for i := range list {
		p := &list[i]
		if names[p.Name] {
			faults = append(faults, fault("two providers are named %q", p.Name))
		}
		names[p.Name] = true
		needed := len(list) > 1 || s.UUIDLogin == UUIDOthers
		for _, problem := range p.check(needed) {
			faults = append(faults, fault("provider %q: %s", p.Name, problem))
		}
		p.secret = settings.NewSecret(os.Getenv(secretPrefix + strings.ToUpper(p.Name)))
	}
	return list, errors.Join(faults...)
}

// check returns what is wrong with the provider; domains says whether it must have some.
func (p *Provider) check(domains bool) (faults []string) {
	if !namePattern.MatchString(p.Name) {
		faults = append(faults, "name must be a letter and up to 19 letters or digits, in lower case")
	}
	if p.Title == "" || p.ClientID == "" {
		faults = append(faults, "title and clientId are needed")
	}
	if u, err := url.Parse(p.Issuer); err != nil || !reachable(u) || u.RawQuery != "" {
		faults = append(faults, "issuer must be an https address")
	}
	if p.EmailClaim != "" && p.EmailClaim != ordinaryClaim && !p.TrustEmail {
		faults = append(faults, "another emailClaim needs trustEmail: email_verified does not cover it")
	}
	if len(p.Domains) == 0 && (domains || p.HostedDomain) {
		faults = append(faults, "domains are needed with several providers, with hostedDomain, "+
			"and where not all users may log in by uuid")
	}
	for _, domain := range p.Domains {
		if !domainPattern.MatchString(domain) {
			faults = append(faults, fmt.Sprintf("%q is not a domain in lower case", domain))
		}
	}
	for domain, kind := range p.Create {
		if !slices.Contains(p.Domains, domain) || !kind.Known() {
			faults = append(faults,
				fmt.Sprintf("create: %q must be one of domains, and its value staff, pupil or guest", domain))
		}
	}
	return faults
}

// reachable says whether u is an address for browsers: https, or http on this machine alone.
func reachable(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip.IsLoopback()
	return u.Host != "" && u.User == nil && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http" && here)
}

// domainOf is the domain of an address in lower case; empty where it has none.
func domainOf(email string) string {
	return strings.ToLower(email[strings.LastIndexByte(email, '@')+1:])
}
