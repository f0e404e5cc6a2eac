package api

import (
	"net/url"
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// provider is a way to sign in at the school's own login.
type provider struct {
	Title, Login string
}

// signInBody is what the page for signing in shows.
type signInBody struct {
	Providers []provider
	To        string
	Why       string // the text of what went wrong, "" at first
	Public    bool   // there is a public calendar
}

// signIn shows the ways to sign in.
func (h handlers) signIn(v *visit) error { return v.signInPage(fiber.StatusOK, v.c.Query("to"), "") }

func (v *visit) signInPage(code int, to, why string) error {
	body := signInBody{To: local(to), Why: why, Public: v.guest != nil}
	answer, err := v.api.Get(v.ctx, "/api/login/providers", "")
	switch {
	case err == nil:
		for _, p := range answer.Records("providers") {
			if login := p.Text("login"); strings.HasPrefix(login, "/api/login/") {
				body.Providers = append(body.Providers, provider{p.Text("title"), login})
			}
		}
	case refused(err, fiber.StatusNotFound) == nil:
		return err
	}
	return v.answer(code, "sign-in", v.texts.T("sign-in.title"), body)
}

// signInSent signs in by uuid.
func (h handlers) signInSent(v *visit) error {
	to := v.typed.Get("to")
	err := v.api.Login(v.ctx, strings.TrimSpace(v.typed.Get("uuid")))
	switch {
	case err == nil:
		_, err = v.keep()
	case refused(err, fiber.StatusUnauthorized, fiber.StatusBadRequest, fiber.StatusUnprocessableEntity,
		fiber.StatusForbidden) != nil:
		return v.signInPage(fiber.StatusUnauthorized, to, "sign-in.wrong")
	case refused(err, fiber.StatusTooManyRequests) != nil:
		return v.signInPage(fiber.StatusTooManyRequests, to, "sign-in.wait")
	}
	return v.after(err, local(to))
}

// local returns the path of a page of this address, / for any other text: a call of the interface could log in, or out.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || len(to) > 1024 || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.ContainsAny(to, "\\\r\n\t") || strings.HasPrefix(strings.ToLower(path.Clean(u.Path)), "/api") {
		return "/"
	}
	return to
}
