package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/console/internal/page"
)

// visit is one request of a browser.
type visit struct {
	handlers
	c      *fiber.Ctx
	ctx    context.Context
	api    *client.Client // calls as the visitor
	now    time.Time
	texts  *page.Texts
	me     *page.Me // nil: not signed in
	typed  url.Values
	again  string      // the token of a form that was sent after its session, "" for none
	header http.Header // with which the interface is called
}

// show answers with what a page or form does. Each error becomes a page that says what to do.
func (h handlers) show(do func(*visit) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		v, err := h.visit(c)
		if err != nil {
			return err
		}
		if err := do(v); err != nil {
			return v.fail(err)
		}
		return nil
	}
}

func (h handlers) visit(c *fiber.Ctx) (*visit, error) {
	header := http.Header{"X-Request-Id": {web.RequestID(c)}, "X-Forwarded-For": {web.ClientAddress(c, h.trusted)}}
	if token, ok := h.cookies.Token(c); ok {
		header.Set("Cookie", h.cookies.Name()+"="+token.Reveal())
	}
	asked, err := h.wire.client(header, tries)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	v := &visit{
		handlers: h, c: c, ctx: c.UserContext(), api: asked, header: header, now: now, typed: url.Values{},
		texts: h.pages.Texts(c.Get(fiber.HeaderAcceptLanguage), now),
	}
	if c.Method() == fiber.MethodPost && !c.Request().IsBodyStream() { // else it would be read here, without a bound
		for name, value := range c.Request().PostArgs().All() {
			v.typed.Add(string(name), string(value))
		}
	}
	return v, nil
}

// enter finds out who visits, and checks a form's token.
func (v *visit) enter() error {
	if err := v.identify(); err != nil || v.c.Method() != fiber.MethodPost {
		return err
	}
	for _, context := range []string{v.cookie(), v.content()} {
		if user, ok := v.forms.Open(v.typed.Get("token"), context); ok && string(user) == v.formToken() {
			return nil
		}
	}
	return problem.New(problem.Forbidden, "the form's token is neither of this session nor of what it sends")
}

// identify finds out who visits.
func (v *visit) identify() error {
	answer, err := v.api.Get(v.ctx, "/api/me", "")
	if err != nil {
		return err
	}
	me := client.As[page.Me](answer)
	me.Switched = v.switched()
	v.me = &me
	return nil
}

// sees is how much the visitor sees of people and things.
func (v *visit) sees() principal.Scope {
	return v.sights.Of(principal.Kind(v.me.Kind), v.me.Permissions.Admin)
}

// formToken is sealed for the session that a form belongs to, or for what was typed when the session had ended.
func (v *visit) formToken() string {
	if v.me == nil {
		return "form"
	}
	return fmt.Sprintf("form of %d", v.me.User.ID)
}

// content is the form without its token.
func (v *visit) content() string {
	typed := maps.Clone(v.typed)
	typed.Del("token")
	return v.c.Path() + "?" + typed.Encode()
}

// cookie is the session's id, "" without one.
func (v *visit) cookie() string {
	token, ok := v.cookies.Token(v.c)
	if !ok {
		return ""
	}
	return token.Reveal()
}

// answer writes a page.
func (v *visit) answer(code int, name, title string, body any) error {
	text, err := v.pages.Render(name, v.begin(code, title, body))
	if err != nil {
		return err
	}
	return v.c.Send(text)
}

// begin sets the status and the headers of a page, and returns its frame.
func (v *visit) begin(code int, title string, body any) page.Frame {
	nonce := rand.Text()
	v.c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; style-src 'self' 'nonce-"+nonce+
		"'; img-src 'self' data:; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "+
		"frame-ancestors 'none'")
	v.c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	v.c.Set(fiber.HeaderCacheControl, "private, no-store")
	v.c.Set(fiber.HeaderContentType, "text/html; charset=utf-8")
	v.c.Set(fiber.HeaderContentLanguage, v.texts.Language)
	v.c.Vary(fiber.HeaderAcceptLanguage, fiber.HeaderCookie)
	v.c.Status(code)
	return page.Frame{
		Texts: v.texts, Title: title, Me: v.me, Path: strings.Clone(v.c.OriginalURL()), Nonce: nonce, Now: v.now,
		Token: cmp.Or(v.again, v.forms.Seal([]byte(v.formToken()), v.cookie())), Body: body,
	}
}

// show answers with a page of a use.
func (v *visit) show(name, title string, body any) error {
	return v.answer(fiber.StatusOK, name, title, body)
}

// leave answers a form: the browser goes to a page.
func (v *visit) leave(to string) error {
	v.c.Set(fiber.HeaderCacheControl, "private, no-store")
	return v.c.Redirect(to, fiber.StatusSeeOther)
}

// failure is what the page of an error says.
type failure struct {
	Why     string // the texts error.WHY.title and error.WHY.text
	Message string // of the service, "" for none
	ID      string // of the request, for administrators
	Typed   url.Values
	Again   string // where the form was sent to; "" for what was no form
}

// Plain is what people read of a value: of what is booked, the name without the id.
func (failure) Plain(name, value string) string {
	if _, title, found := strings.Cut(value, ":"); found && name == "who" {
		return title
	}
	return value
}

// after is leave for what was done without an error.
func (v *visit) after(err error, to string) error {
	if err != nil {
		return err
	}
	return v.leave(to)
}

// refuse answers with the page of an error.
func (v *visit) refuse(code int, why string) error { return v.failed(code, why, "") }

func (v *visit) failed(code int, why, message string) error {
	f := failure{Why: why, Message: message, ID: web.RequestID(v.c)}
	if at := v.c.Path(); v.typed.Has("token") && at != importPath && at != "/sign-in" {
		f.Again, f.Typed = at, v.typed // files, and a key, are not in the page
		f.Typed.Del("token")
	}
	return v.answer(code, "error", v.texts.T("error."+why+".title"), f)
}

// fail answers an error. Programs, which ask for no page, get the envelope of all services.
func (v *visit) fail(err error) error {
	if own, is := errors.AsType[*problem.Error](err); is {
		if !wantsPage(v.c) {
			return err
		}
		switch own.Kind {
		case problem.Forbidden:
			return v.refuse(fiber.StatusForbidden, "stale")
		case problem.NotFound:
			return v.refuse(fiber.StatusNotFound, "missing")
		case problem.TooManyRequests, problem.Unavailable:
			return v.refuse(fiber.StatusTooManyRequests, "busy")
		case problem.Malformed, problem.TooLarge, problem.UnsupportedMediaType:
			return v.refuse(own.Kind.Code(), "invalid")
		}
		return err
	}
	if errors.Is(err, errIDs) {
		return v.refuse(fiber.StatusBadRequest, "invalid")
	}
	failed, answered := errors.AsType[*client.Error](err)
	if !answered {
		failed = &client.Error{} // none of the codes
	}
	switch failed.Code {
	case fiber.StatusUnauthorized:
		return v.sendToSignIn()
	case fiber.StatusForbidden:
		return v.failed(failed.Code, "forbidden", failed.Message)
	case fiber.StatusNotFound:
		return v.refuse(failed.Code, "missing")
	case fiber.StatusConflict, fiber.StatusPreconditionFailed:
		return v.failed(fiber.StatusConflict, "conflict", failed.Message)
	case fiber.StatusBadRequest, fiber.StatusUnprocessableEntity:
		return v.failed(failed.Code, "invalid", failed.Problems())
	case fiber.StatusTooManyRequests:
		return v.refuse(failed.Code, "busy")
	}
	v.log.WarnContext(v.ctx, "the interface failed", "request", web.RequestID(v.c), "error", err.Error())
	return v.refuse(fiber.StatusServiceUnavailable, "away")
}

// sendToSignIn remembers the page that was asked for. What a form sent is kept on the page that says so, and can be
// sent again from there: by the user whose page it came from, and unchanged, for no other session vouches for it.
func (v *visit) sendToSignIn() error {
	if v.c.Method() == fiber.MethodPost {
		if user, ok := v.forms.Open(v.typed.Get("token"), v.cookie()); ok {
			v.again = v.forms.Seal(user, v.content())
		}
		return v.refuse(fiber.StatusUnauthorized, "ended")
	}
	to := "/sign-in"
	if asked := v.c.OriginalURL(); asked != "/" {
		to += "?" + url.Values{"to": {asked}}.Encode()
	}
	return v.leave(to)
}

// keep gives the browser the session that the client has begun, and returns its id.
func (v *visit) keep() (string, error) {
	cookie, err := v.api.Cookie()
	if err != nil {
		return "", err
	}
	_, value, _ := strings.Cut(cookie, "=")
	token, ok := session.ParseToken(value)
	if !ok {
		return "", errors.New("the interface gave a cookie that is no session's")
	}
	v.cookies.Set(v.c, token)
	return value, nil
}
