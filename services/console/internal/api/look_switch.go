package api

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
)

const (
	// switchCookie says that the session has switched. The interface does not show it to the user whom one has
	// switched to, so the console remembers it beside the session's cookie, sealed for that session alone.
	switchCookie = "belfry_switched"
	// switched is the sealed text. It differs from that of a form's token, which is sealed for the session as well.
	switched = "switched"
)

// switched says whether the visitor has switched to another user by the console.
func (v *visit) switched() bool {
	text, ok := v.forms.Open(v.c.Cookies(switchCookie), v.cookie())
	return ok && string(text) == switched
}

// remember keeps the client's session after a switch or its end, and whether it has switched.
func (v *visit) remember(is bool) error {
	token, err := v.keep()
	if err != nil {
		return err
	}
	cookie := &fiber.Cookie{
		Name: switchCookie, Value: v.forms.Seal([]byte(switched), token), Path: "/", Secure: v.cookies.Secure,
		HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, SessionOnly: true,
	}
	if !is {
		cookie.Value, cookie.SessionOnly, cookie.MaxAge, cookie.Expires = "", false, -1, time.Unix(0, 0)
	}
	v.c.Cookie(cookie)
	return nil
}

// switchSent makes the visitor's session that of another user.
func (h handlers) switchSent(v *visit) error {
	id, err := web.PathID(v.c, "id")
	if err == nil {
		err = v.api.Switch(v.ctx, id)
	}
	if err == nil {
		err = v.remember(true)
	}
	return v.after(err, "/")
}

// backSent makes the session the visitor's own again.
func (h handlers) backSent(v *visit) error {
	user := v.me.User.ID
	err := v.api.Revert(v.ctx)
	if _, none := v.api.Cookie(); err == nil && none == nil { // else there was no switch, and the session stays
		err = v.remember(false)
	}
	return v.after(err, users.at+"/"+id(user))
}
