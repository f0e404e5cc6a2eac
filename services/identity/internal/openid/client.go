package openid

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/session"
)

// Why a login at a provider fails, or a logout by it is refused.
var (
	ErrState      = errors.New("openid: no login with that state is under way in this browser")
	ErrCode       = errors.New("openid: the provider refuses the code")
	ErrNonce      = errors.New("openid: the token belongs to another login")
	ErrToken      = errors.New("openid: the token is not valid")
	ErrAway       = errors.New("openid: the provider does not answer")
	ErrRefused    = errors.New("openid: the provider refuses")
	ErrNoAddress  = errors.New("openid: the provider names no address")
	ErrUnverified = errors.New("openid: the provider has not verified the address")
	ErrDomain     = errors.New("openid: the domain is not allowed")
)

const (
	// patience bounds each request to a provider, and maxAnswer the bytes of its answer.
	patience  = 5 * time.Second
	maxAnswer = 1 << 20
)

// ordinaryClaim has the address unless the settings name another claim.
const ordinaryClaim = "email"

// Client asks one provider. It is safe for concurrent use.
type Client struct {
	Provider
	home  string // the address of this deployment
	http  *http.Client
	once  singleflight.Group
	found atomic.Pointer[found]
}

// found is the provider's description of itself. It is fetched at the first login, so that a provider that is away does
// not prevent a start, and kept until the process ends; its keys are fetched again when a token has an unknown one.
type found struct {
	*oidc.Provider
	verifier   *oidc.IDTokenVerifier
	endSession string // where browsers log out; empty: nowhere
}

// NewClient returns a client of a provider, for the deployment at that address.
func NewClient(p Provider, publicURL string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &Client{
		Provider: p, home: strings.TrimSuffix(publicURL, "/"),
		http: &http.Client{Timeout: patience, Transport: bounded{transport}},
	}
}

// bounded cuts answers that are too long.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}

// discover fetches the provider's description, once for all waiting requests.
func (c *Client) discover() (*found, error) {
	if f := c.found.Load(); f != nil {
		return f, nil
	}
	f, err, _ := c.once.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		p, err := oidc.NewProvider(oidc.ClientContext(ctx, c.http), c.Issuer)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", ErrAway, brief(err))
		}
		var more struct {
			EndSession string `json:"end_session_endpoint"`
		}
		if err := p.Claims(&more); err != nil {
			return nil, fmt.Errorf("%w: %s", ErrAway, brief(err))
		}
		f := &found{p, p.Verifier(&oidc.Config{ClientID: c.ClientID}), more.EndSession}
		c.found.Store(f)
		return f, nil
	})
	if err != nil {
		return nil, err
	}
	return f.(*found), nil
}

// brief is the beginning of an error, which may repeat a provider's whole answer.
func brief(err error) string {
	const most = 300
	text := err.Error()
	return text[:min(len(text), most)]
}

func (c *Client) config(f *found) oauth2.Config {
	return oauth2.Config{
		ClientID: c.ClientID, ClientSecret: c.secret.Reveal(), Endpoint: f.Endpoint(),
		RedirectURL: c.home + "/api/login/oidc/" + c.Name + "/callback",
		Scopes:      []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// Login returns where the browser logs in.
func (c *Client) Login(a Attempt) (string, error) {
	f, err := c.discover()
	if err != nil {
		return "", err
	}
	config := c.config(f)
	return config.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// Logout returns where the browser logs out of the provider too; empty where it has no such address.
func (c *Client) Logout() (string, error) {
	f, err := c.discover()
	if err != nil || f.endSession == "" {
		return "", err
	}
	u, err := url.Parse(f.endSession)
	if err != nil || !reachable(u) {
		return "", fmt.Errorf("%w: no address to log out at", ErrAway)
	}
	query := u.Query()
	query.Set("client_id", c.ClientID)
	query.Set("post_logout_redirect_uri", c.home+"/")
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// Identity is a person as a provider that answers for the address knows it.
type Identity struct {
	Email string
	Name  string // empty: unknown
	// Kind is that of a user who is created for an unknown address; empty: none is created.
	Kind principal.Kind
	From session.Origin
}

// claims are those of an ID token or of the provider's page about a user.
type claims map[string]json.RawMessage

// text is the claim as a text; empty where it is not one.
func (k claims) text(name string) string {
	var text string
	_ = json.Unmarshal(k[name], &text) // then it stays empty
	return text
}

// Finish gives the code to the provider, and returns the person whose token it gets. All errors are ours, such as
// ErrCode, with a cause for the log.
func (c *Client) Finish(ctx context.Context, a Attempt, code string) (Identity, error) {
	f, err := c.discover()
	if err != nil {
		return Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, c.http)
	config := c.config(f)
	tokens, err := config.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return Identity{}, refusal(err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := f.verifier.Verify(ctx, raw)
	if err != nil {
		return Identity{}, unverified(err)
	}
	if token.Nonce != a.Nonce {
		return Identity{}, ErrNonce
	}
	said := claims{}
	if err := token.Claims(&said); err != nil {
		return Identity{}, fmt.Errorf("%w: %s", ErrToken, brief(err))
	}
	if _, named := said["azp"]; named && said.text("azp") != c.ClientID {
		return Identity{}, fmt.Errorf("%w: it is for another client", ErrToken)
	}
	if token.Subject == "" { // then no logout at the provider could end the session
		return Identity{}, fmt.Errorf("%w: it names no subject", ErrToken)
	}
	if said.text(c.emailClaim()) == "" && f.UserInfoEndpoint() != "" {
		if err := c.ask(ctx, f, tokens, token.Subject, said); err != nil {
			return Identity{}, err
		}
	}
	i, err := c.identify(said)
	i.From = session.Origin{Provider: c.Name, Subject: token.Subject, SID: said.text("sid")}
	return i, err
}

// refusal is the error of a code that was not taken.
func refusal(err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case !errors.As(err, &refused):
		return fmt.Errorf("%w: %s", ErrAway, brief(err))
	case refused.ErrorCode == "invalid_grant":
		return ErrCode
	case refused.Response != nil && refused.Response.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("%w: it answers %d", ErrAway, refused.Response.StatusCode)
	}
	return fmt.Errorf("%w: %.60q", ErrRefused, refused.ErrorCode)
}

// unverified is the error of a token that could not be verified: ErrAway when the provider gave no keys, which only the
// text of the library's error says. That text has nothing of the token.
func unverified(err error) error {
	kind := ErrToken
	if strings.HasPrefix(err.Error(), "failed to verify signature: fetching keys ") {
		kind = ErrAway
	}
	return fmt.Errorf("%w: %s", kind, brief(err))
}

// ask adds what the provider's page about the user says to the claims, for providers whose tokens have no address.
func (c *Client) ask(ctx context.Context, f *found, t *oauth2.Token, subject string, said claims) error {
	info, err := f.UserInfo(ctx, oauth2.StaticTokenSource(t))
	if err != nil {
		return fmt.Errorf("%w: %s", ErrAway, brief(err))
	}
	if info.Subject != subject {
		return fmt.Errorf("%w: the page about the user is of another", ErrToken)
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return fmt.Errorf("%w: %s", ErrToken, brief(err))
	}
	if more.text(c.emailClaim()) != "" {
		delete(said, "email_verified") // it is said of the address that is there
	}
	for name, value := range more {
		if _, signed := said[name]; !signed {
			said[name] = value
		}
	}
	return nil
}

func (c *Client) emailClaim() string {
	return cmp.Or(c.EmailClaim, ordinaryClaim)
}

// identify says who the person with these claims is, or why the provider does not answer for its address.
func (c *Client) identify(said claims) (Identity, error) {
	email := strings.TrimSpace(said.text(c.emailClaim()))
	domain := domainOf(email)
	if !strings.Contains(email, "@") || domain == "" {
		return Identity{}, ErrNoAddress
	}
	verified := strings.Trim(string(said["email_verified"]), `"`) // some providers write it as a text
	if c.emailClaim() != ordinaryClaim {
		verified = "" // it says nothing of that claim
	}
	if verified != "true" && (verified != "" || !c.TrustEmail) {
		return Identity{}, ErrUnverified
	}
	if len(c.Domains) > 0 && !slices.Contains(c.Domains, domain) {
		return Identity{}, ErrDomain
	}
	if c.HostedDomain && !slices.Contains(c.Domains, strings.ToLower(said.text("hd"))) {
		return Identity{}, ErrDomain
	}
	return Identity{Email: email, Name: said.text("name"), Kind: c.Create[domain]}, nil
}

// Logout is what a logout token says.
type Logout struct {
	From  session.Origin // of the sessions that it ends
	ID    string         // of the token, at its provider; one token can be spelled in several ways
	Until time.Time      // when it is no longer valid
}

// Ended returns what a logout token says. ErrToken when it is not one of the provider for this client, or not valid any
// more; ErrAway when that can't be known.
func (c *Client) Ended(ctx context.Context, raw string) (Logout, error) {
	f, err := c.discover()
	if err != nil {
		return Logout{}, err
	}
	token, err := f.verifier.VerifyLogout(oidc.ClientContext(ctx, c.http), raw)
	if err != nil {
		return Logout{}, unverified(err)
	}
	from := session.Origin{Provider: c.Name, Subject: token.Subject, SID: token.SessionID}
	return Logout{From: from, ID: token.TokenID, Until: token.Expiry}, nil
}

// AnswersFor says whether the address is in one of the provider's domains.
func (c *Client) AnswersFor(email string) bool { return slices.Contains(c.Domains, domainOf(email)) }
