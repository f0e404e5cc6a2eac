package api

import (
	"cmp"
	"log/slog"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/web/sealed"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/page"
)

// handlers answer the requests.
type handlers struct {
	pages   *page.Pages
	zone    wiretime.Zone
	cookies web.Cookies
	log     *slog.Logger
	trusted []netip.Prefix
	forms   sealed.Box
	wire    wire
	sights  principal.Sights
	guest   *client.Client // calls by BELFRY_PUBLIC_TOKEN; nil: there is no public calendar
}

// form is the media type of what browsers send.
const form = "application/x-www-form-urlencoded"

// formAtMost bounds a form in bytes.
const formAtMost = 64 << 10

// public are the pages, and what their forms are sent to.
func (h handlers) public() []web.Route {
	routes := []web.Route{
		kept(page.StylePath, "text/css; charset=utf-8", page.Style()),
		h.open("/sign-in", "to", h.signIn),
		h.openForm("/sign-in", h.signInSent),
		h.page("/", "date days", h.home),
		h.page("/week/:element", "date with days", h.weekOf),
		h.page("/search", "q beside date", h.search),
		h.page("/events/:id", "undo", h.event),
		h.form("/events/:id/notes", h.noteSent),
		h.form("/events/:id/remove", h.removeSent),
		h.page("/events/:id/cancel", "which undo", h.cancel),
		h.page("/events/:id/edit", "date from to", h.edit),
		h.form("/events/:id/edit", h.editSent),
		h.page("/book", "date from to who what", h.book),
		h.form("/book", h.bookSent),
		h.form("/events/:id/cancel", h.cancelSent),
		h.page("/rooms", "type date days find from to school", h.rooms),
		h.page("/inbox", "show past commitments requests", h.inbox),
		h.form("/inbox", h.inboxSent),
		h.page("/cover", "date who pupils undo school", h.cover),
		h.form("/cover", h.coverSent),
		h.page("/subscribe/:element", "", h.subscribe),
		h.form("/subscribe/:element", h.subscribeSent),
		h.form("/subscribe/:element/end", h.unsubscribeSent),
		h.page("/events/:id/people", "q instead", h.people),
		h.form("/events/:id/people", h.peopleSent),
		h.page("/keys", "", h.keys),
		h.open("/screen", "rooms name", h.screen),
		h.openForm("/screen", h.screenSent),
		h.open("/public", "date", h.publicCalendar),

		// Pages for administrators, and everyone's own tokens.
		h.page("/account", "done", h.ownAccount),
		h.form("/account/tokens", h.ownAccount),
		h.form("/account/tokens/end", sure("look.revoke", end(ownTokens, "", "id", "ended"))),
		h.form("/back", h.backSent),
		h.page("/look-after", "", h.lookAfter),
		h.page("/look-after/list/:type", "q after old", h.lookList),
		h.form("/look-after/elements/:id/retire", sure("look.retire", end(elements.path, "", "", "retired"))),
		h.form("/look-after/elements/:id/return", h.returnSent),
		h.form("/look-after/elements/:id/members", h.memberSent),
		h.form("/look-after/elements/:id/members/end", h.memberEndSent),
		h.form("/look-after/elements/:id/deciders", h.deciderSent),
		h.form("/look-after/elements/:id/deciders/end", end(elements.path, "/administrators/", "user", "changed")),
		h.page("/look-after/users", "q after", h.lookUsers),
		h.form("/look-after/users/:id/pupils", h.pupilsSent),
		h.form("/look-after/users/:id/key", sure("look.key", h.keySent)),
		h.form("/look-after/users/:id/sessions", sure("look.sessions", end(users.path, "/sessions", "", "ended"))),
		h.form("/look-after/users/:id/switch", h.switchSent),
		h.form("/look-after/users/:id/tokens", h.userTokenSent),
		h.form("/look-after/users/:id/tokens/end", sure("look.revoke", end(users.path, "/tokens/", "id", "ended"))),
		h.page(kinds.at, "after", listed(kinds, "look.kinds")),
		h.page(webhooks.at, "after", listed(webhooks, "look.webhooks")),
		h.form("/look-after/webhooks/:id/test", h.webhookTestSent),
		h.form("/look-after/webhooks/:id/secret", h.webhookSecretSent),
		h.form("/look-after/webhooks/:id/end", sure("look.hook.end", h.webhookEndSent)),
		h.page(importPath, "", h.importPage),
		h.importRoute(),
		h.page("/look-after/history", "record service after", h.history),
	}
	for _, k := range []recordKind{elements, users, kinds, webhooks} {
		one := k.at + "/:id"
		routes = append(routes, h.page(k.add, "person", newRecord(k)), h.form(k.add, newRecord(k)),
			h.page(one, "after done find", oneRecord(k)), h.form(one, oneRecord(k)))
	}
	for _, name := range page.Scripts() {
		routes = append(routes, kept(page.ScriptPath(name), "text/javascript; charset=utf-8", page.Script(name)))
	}
	// An unknown path: a page for people, and for programs the answer of any service.
	return append(routes, web.Route{Path: "/*", Handler: h.show(func(v *visit) error {
		if wantsPage(v.c) && v.cookie() != "" {
			_ = v.identify() // else the page lacks the navigation
		}
		return problem.New(problem.NotFound, "")
	})})
}

// none is what a page without parameters reads. Its name stands for the empty query, which would mean the document's.
var none = web.Reads{Query: "-"}

// page is the route of a page for those who are signed in; query names its parameters, separated by spaces.
func (h handlers) page(path, query string, shown func(*visit) error) web.Route {
	return h.open(path, query, known(path, shown))
}

// known lets only those who are signed in see a page or send a form, and below /look-after only those who look after
// the school, or a school. What they may do there is decided by each service.
func known(path string, shown func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if err := v.enter(); err != nil {
			return err
		}
		if strings.HasPrefix(path, "/look-after") && !v.me.LooksAfter() {
			return v.refuse(fiber.StatusForbidden, "forbidden")
		}
		return shown(v)
	}
}

// open is the route of a page for anyone.
func (h handlers) open(path, query string, shown func(*visit) error) web.Route {
	return web.Route{
		Method: fiber.MethodGet, Path: path, Access: web.Anyone, Reads: web.Reads{Query: cmp.Or(query, none.Query)},
		Handler: h.show(shown),
	}
}

// form is the route that a form of those who are signed in is sent to.
func (h handlers) form(path string, sent func(*visit) error) web.Route {
	return h.openForm(path, known(path, sent))
}

// openForm is the route that a form for anyone is sent to. Where its body is refused, that is a page too.
func (h handlers) openForm(path string, sent func(*visit) error) web.Route {
	return web.Route{
		Method: fiber.MethodPost, Path: path, Access: web.Anyone, Body: form, Reads: none, MaxBody: formAtMost,
		Admit: h.show(func(v *visit) error { return v.c.Next() }), Handler: h.show(sent),
	}
}

// wantsPage says whether the request is a browser's for a page.
func wantsPage(c *fiber.Ctx) bool {
	return strings.Contains(c.Get(fiber.HeaderAccept), "text/html")
}

// kept is the route of the stylesheet or a script. Its address changes with it, so browsers may keep it.
func kept(path, media, text string) web.Route {
	serve := func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, media)
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
		return c.SendString(text)
	}
	return web.Route{Method: fiber.MethodGet, Path: path, Access: web.Anyone, Reads: none, Handler: serve}
}

// keys lists the keys, in the order of the page.
func (h handlers) keys(v *visit) error {
	return v.show("keys", v.texts.T("keys.title"), []string{"/", "t", "←", "→", "r", "b", "i", "y", "n", "m", "?"})
}
