// Package provider is an OpenID Connect provider for a local run and for tests: that of github.com/zitadel/oidc, with
// its users in memory and a page on which one chooses a user instead of a password. It is never part of an
// installation.
package provider

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"html/template"
	"net/http"

	jose "github.com/go-jose/go-jose/v4"
	memory "github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// KeyID names the key of all tokens.
const KeyID = "key"

// Options of New.
type Options struct {
	Issuer   string // address at which browsers and the client reach it
	ClientID string
	Secret   string
	Callback string // where browsers are sent back to
	Home     string // where they are sent after a logout
	Users    []User
	Key      *rsa.PrivateKey // of all tokens; nil: a new one
	// ClaimsInToken puts the address into the ID token; otherwise it is only on the page about the user.
	ClaimsInToken bool
}

// User is a person whom the provider lets in.
type User struct {
	Subject    string
	Name       string
	Email      string
	Unverified bool
	Claims     map[string]any // further ones in the ID token, such as sid and hd
}

// login is the page on which one chooses a user.
var login = template.Must(template.New("login").Parse(`<!doctype html><html lang="en"><meta charset="utf-8">
<title>Sign in</title><h1>Sign in as</h1><form method="post"><input type="hidden" name="id" value="{{.ID}}">
{{range .Users}}<p><button name="user" value="{{.Subject}}">{{.Name}}</button> {{.Email}}</p>
{{end}}<p><button name="user" value="">Cancel</button></p></form></html>`))

// New returns the provider's pages.
func New(o Options) (http.Handler, error) {
	if o.Key == nil {
		var err error
		if o.Key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			return nil, err
		}
	}
	s := &storage{o: o, users: users{}}
	for _, u := range o.Users {
		s.users[u.Subject] = u
	}
	web := memory.WebClient(o.ClientID, o.Secret, o.Callback)
	s.Storage = memory.NewStorageWithClients(s.users, map[string]*memory.Client{o.ClientID: web})
	var crypt [32]byte
	_, _ = rand.Read(crypt[:]) // never fails, says its documentation
	p, err := op.NewProvider(&op.Config{
		CryptoKey: crypt, CryptoKeyId: KeyID, CodeMethodS256: true, AuthMethodPost: true,
		DefaultLogoutRedirectURI: "/",
	}, s, op.StaticIssuer(o.Issuer), op.WithAllowInsecure())
	if err != nil {
		return nil, fmt.Errorf("make the provider: %w", err)
	}
	pages := http.NewServeMux()
	pages.HandleFunc("GET /login/username", func(w http.ResponseWriter, r *http.Request) {
		_ = login.Execute(w, map[string]any{"ID": r.FormValue("authRequestID"), "Users": o.Users}) // to the browser
	})
	back := op.AuthCallbackURL(p)
	choose := op.NewIssuerInterceptor(p.IssuerFromRequest).HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { s.choose(w, r, p, back) })
	pages.HandleFunc("POST /login/username", choose)
	pages.Handle("/", p)
	return pages, nil
}

// choose lets the user in that was chosen.
func (s *storage) choose(w http.ResponseWriter, r *http.Request, p *op.Provider,
	back func(context.Context, string) string) {
	id, subject := r.FormValue("id"), r.FormValue("user")
	if subject == "" {
		asked, err := s.AuthRequestByID(r.Context(), id)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		op.AuthRequestError(w, r, asked, oidc.ErrAccessDenied(), p)
		return
	}
	if err := s.CheckUsernamePassword(subject, "", id); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	http.Redirect(w, r, back(r.Context(), id), http.StatusFound)
}

// users are those of the provider, by subject, which is their name at the login too; their passwords are empty.
type users map[string]User

func (u users) GetUserByID(subject string) *memory.User {
	one, known := u[subject]
	if !known {
		return nil
	}
	return &memory.User{ID: subject, Username: subject, FirstName: one.Name, Email: one.Email,
		EmailVerified: !one.Unverified}
}

func (u users) GetUserByUsername(subject string) *memory.User { return u.GetUserByID(subject) }

func (u users) ExampleClientID() string { return "" }

// storage is the library's storage in memory, with a key and a client of our own.
type storage struct {
	*memory.Storage
	o     Options
	users users
}

// SigningKey implements op.Storage.
func (s *storage) SigningKey(context.Context) (op.SigningKey, error) { return private{s.o.Key}, nil }

// KeySet implements op.Storage.
func (s *storage) KeySet(context.Context) ([]op.Key, error) { return []op.Key{public{s.o.Key}}, nil }

// GetClientByClientID implements op.Storage.
func (s *storage) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	c, err := s.Storage.GetClientByClientID(ctx, id)
	return client{c, s.o}, err
}

// SetUserinfoFromRequest implements op.CanSetUserinfoFromRequest.
func (s *storage) SetUserinfoFromRequest(ctx context.Context, info *oidc.UserInfo, r op.IDTokenRequest,
	scopes []string) error {
	for name, value := range s.users[r.GetSubject()].Claims {
		info.AppendClaims(name, value)
	}
	return s.Storage.SetUserinfoFromRequest(ctx, info, r, scopes)
}

type client struct {
	op.Client
	o Options
}

func (c client) PostLogoutRedirectURIs() []string     { return []string{c.o.Home} }
func (c client) IDTokenUserinfoClaimsAssertion() bool { return c.o.ClaimsInToken }

type private struct{ key *rsa.PrivateKey }

func (private) ID() string                                  { return KeyID }
func (private) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k private) Key() any                                  { return k.key }

type public struct{ key *rsa.PrivateKey }

func (public) ID() string                         { return KeyID }
func (public) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (public) Use() string                        { return "sig" }
func (k public) Key() any                         { return &k.key.PublicKey }
