package api

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"

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

// failure explains a failed login to a person.
type failure struct {
	of      error
	code    int
	counted bool   // towards the limit of failed logins
	again   bool   // another attempt may succeed
	key     string // of its texts
}

// failures are in no order: a failed login is one of them.
var failures = []failure{
	{errNoProvider, 404, false, false, "provider"},
	{errReturn, 400, false, false, "return"},
	{errEmbedded, 403, false, true, "embedded"},
	{errCancelled, 403, false, true, "cancelled"},
	{errStillThere, 503, false, false, "still-there"},
	{openid.ErrState, 400, true, true, "state"},
	{openid.ErrCode, 400, true, true, "code"},
	{openid.ErrNonce, 400, true, true, "nonce"},
	{openid.ErrToken, 502, true, true, "token"},
	{openid.ErrRefused, 502, false, true, "refused"},
	{openid.ErrAway, 503, false, true, "away"},
	{openid.ErrNoAddress, 403, true, true, "no-address"},
	{openid.ErrUnverified, 403, true, true, "unverified"},
	{openid.ErrDomain, 403, true, true, "domain"},
	{user.ErrUnknown, 403, true, true, "unknown"},
	{user.ErrInactive, 403, true, true, "inactive"},
	{user.ErrWithout, 403, true, true, "without"},
	{user.ErrAmbiguous, 403, true, true, "ambiguous"},
}

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed texts
	pageTexts embed.FS

	page       = template.Must(template.New("page").Parse(pageText))
	pagePolicy = "default-src 'none'; style-src " + web.HashSource(pageStyle) +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// refuse answers a failed login or logout of a browser with a page, logs why, and counts it if the client caused it.
// The log has neither address nor token. Another attempt returns to the given path; "" if it is not known.
func (h handlers) refuse(c *fiber.Ctx, err error, returning string) error {
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
	in := h.texts.For(c.Get(fiber.HeaderAcceptLanguage))
	t := in.ByKey
	shown := struct {
		Language, Title, Text, Link, ID, Again, Request string
		Style                                           template.CSS
	}{in.Language, t[f.key+".title"], f.text(t), t["link"], t["id"], "", web.RequestID(c),
		template.CSS(pageStyle)} //nolint:gosec // it is ours
	if f.again && h.providers.named(c) != nil {
		shown.Again = loginPath(c.Params("provider"))
		if returning != "" {
			shown.Again += "?" + url.Values{"return": {returning}}.Encode()
		}
	}
	var text bytes.Buffer
	if err := page.Execute(&text, shown); err != nil {
		return fmt.Errorf("write a page: %w", err)
	}
	c.Set(fiber.HeaderContentSecurityPolicy, pagePolicy)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentLanguage, in.Language)
	c.Vary(fiber.HeaderAcceptLanguage)
	return c.Status(f.code).Send(text.Bytes())
}

// failureOf is the page of an error.
func failureOf(err error) failure {
	for _, f := range failures {
		if errors.Is(err, f.of) {
			return f
		}
	}
	f := failure{code: problem.As(err).Kind.Code(), again: true, key: "other"}
	if problem.Is(err, problem.TooManyRequests) {
		f.key = "many"
	}
	return f
}

// text explains a failure to a person. {ask} and {again} stand for the texts with these keys.
func (f failure) text(texts map[string]string) string {
	return strings.NewReplacer("{ask}", texts["ask"], "{again}", texts["again"]).Replace(texts[f.key+".text"])
}

// nameOf is the name of the provider that the path names; empty when there is none, whatever the path has.
func (p providers) nameOf(c *fiber.Ctx) string {
	if client := p.named(c); client != nil {
		return client.Name
	}
	return ""
}
