package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"math"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/identity/internal/openid"
	"github.com/belfry-schools/belfry/services/identity/internal/user"
)

// Failures of a login that are neither the provider's nor the user's.
var (
	errNoProvider = errors.New("no provider has that name")
	errReturn     = errors.New("return is not a path of this host")
	errEmbedded   = errors.New("the answer of a provider came into a part of a page")
	errCancelled  = errors.New("cancelled at the provider")
	errStillThere = errors.New("the provider does not say where to log out")
)

// failure is what a person is told of a failed login.
type failure struct {
	of      error
	code    int
	counted bool // towards the limit of failed logins
	again   bool // another attempt may succeed
	title   string
	text    string
}

const (
	asksAdministrator = " If this is wrong, give the id below to the school's administrator."
	signInAgain       = "Sign in again from the beginning."
)

// failures are in no order: a failed login is one of them.
var failures = []failure{
	{errNoProvider, 404, false, false, "No such sign-in", "This address does not belong to a way to sign in."},
	{errReturn, 400, false, false, "The link is not valid",
		"It leads to another site after the sign-in. Open Belfry itself and sign in there."},
	{errEmbedded, 403, false, true, "Not from here", "Belfry can't be signed in to from within another page."},
	{errCancelled, 403, false, true, "You have cancelled", "The sign-in was cancelled, and nothing has changed."},
	{errStillThere, 503, false, false, "Signed out of Belfry only",
		"You are signed out of Belfry, but the school's account may still be signed in in this browser. " +
			"Sign out there too, or close the browser."},
	{openid.ErrState, 400, true, true, "The sign-in has expired",
		"It was used already, took longer than ten minutes, or began in another browser. " + signInAgain},
	{openid.ErrCode, 400, true, true, "The sign-in has expired",
		"The provider takes each sign-in once. " + signInAgain},
	{openid.ErrNonce, 400, true, true, "The sign-in does not belong here",
		"The answer is that of another sign-in. " + signInAgain},
	{openid.ErrToken, 502, true, true, "The answer can't be trusted",
		"The provider's answer is not valid for Belfry." + asksAdministrator},
	{openid.ErrRefused, 502, false, true, "The provider refuses",
		"The provider does not let Belfry sign anyone in at the moment." + asksAdministrator},
	{openid.ErrAway, 503, false, true, "The provider does not answer", "Try again in a few minutes."},
	{openid.ErrNoAddress, 403, true, true, "No e-mail address",
		"The account has no e-mail address that Belfry may see." + asksAdministrator},
	{openid.ErrUnverified, 403, true, true, "The e-mail address is not verified",
		"Verify the address of the account at the provider, then sign in again."},
	{openid.ErrDomain, 403, true, true, "Not an account of the school",
		"Sign in with the account that the school gave you, not with a private one." + asksAdministrator},
	{user.ErrUnknown, 403, true, true, "Belfry does not know you",
		"No user of Belfry has the address of this account." + asksAdministrator},
	{user.ErrInactive, 403, true, true, "Your access has ended",
		"The user with this address is not active." + asksAdministrator},
	{user.ErrWithout, 403, true, true, "You may not use Belfry",
		"The user with this address has no permission to use it." + asksAdministrator},
	{user.ErrAmbiguous, 403, true, true, "Several users have this address",
		"Belfry can't tell which of them you are." + asksAdministrator},
}

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string

	page       = template.Must(template.New("page").Parse(pageText))
	pagePolicy = "default-src 'none'; style-src 'sha256-" + hashOf(pageStyle) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// refuse answers a failed login or logout of a browser with a page, logs why, and counts it where it was the client's
// doing. The log has neither address nor token.
func (h handlers) refuse(c *fiber.Ctx, err error) error {
	f := failureOf(err)
	if f.counted {
		address := web.ClientAddress(c, h.trusted)
		if counted := h.users.CountFailure(c.UserContext(), address, err); !errors.Is(counted, err) {
			err, f = counted, failureOf(counted)
		}
	}
	if wait := problem.As(err).RetryAfter; wait > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	h.log.WarnContext(c.UserContext(), "a login at a provider failed", "provider", h.providers.nameOf(c),
		"why", err.Error(), "code", f.code, "request", web.RequestID(c))
	shown := struct {
		Title, Text, Again, Request string
		Style                       template.CSS
	}{f.title, f.text, "", web.RequestID(c), template.CSS(pageStyle)} //nolint:gosec // it is ours
	if f.again && h.providers.named(c) != nil {
		shown.Again = loginPath(c.Params("provider"))
	}
	var text bytes.Buffer
	if err := page.Execute(&text, shown); err != nil {
		return fmt.Errorf("write a page: %w", err)
	}
	c.Set(fiber.HeaderContentSecurityPolicy, pagePolicy)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Status(f.code).Send(text.Bytes())
}

// failureOf is the page of an error.
func failureOf(err error) failure {
	for _, f := range failures {
		if errors.Is(err, f.of) {
			return f
		}
	}
	f := failure{code: problem.As(err).Kind.Code(), again: true, title: "Belfry can't sign you in now",
		text: "Try again in a few minutes." + asksAdministrator}
	if problem.Is(err, problem.TooManyRequests) {
		f.title = "Too many failed sign-ins"
		f.text = "Too many sign-ins from your network have failed. Try again in a minute."
	}
	return f
}

// nameOf is the name of the provider that the path names; empty when there is none, whatever the path has.
func (p providers) nameOf(c *fiber.Ctx) string {
	if client := p.named(c); client != nil {
		return client.Name
	}
	return ""
}
