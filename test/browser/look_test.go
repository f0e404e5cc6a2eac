package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
)

// An administrator adds a room by keyboard, finds it, looks at what was done, and uses Belfry as another user.
func TestLookAfter_ByKeyboardAtEachWidth(t *testing.T) {
	admin := system.Get(t).Admin(t)
	word := "Look-" + uuid.NewString()[:8]
	group := admin.Import(t, "groups", map[string]any{"key": word, "name": word + " team"})[word]
	for _, noScript := range []bool{false, true} {
		w := open(t, options{noScript: noScript, as: admin})
		w.visit("/look-after")
		w.everyWidth("index")
		w.visit("/look-after/new/Location")
		w.do(chromedp.Focus(chromedp.CSS(`[name="is.name"]`)),
			chromedp.KeyEvent(fmt.Sprintf("%s %t\r", word, noScript)))
		w.await(`document.querySelector("main [role=status]") && document.title.startsWith(%q)`, word)
		w.everyWidth("room")
		w.do(chromedp.Click(chromedp.CSS(`a[href^="/look-after/history"]`)))
		w.await(`document.querySelector(".past li")`)
		w.everyWidth("history")
		w.visit("/look-after/list/Location?q=" + word)
		w.await(`document.querySelector("ul.plain a")`)
		w.everyWidth("list")
		w.visit(fmt.Sprintf("/look-after/elements/%d?find=%s", group, word))
		w.everyWidth("group")
		w.visit("/look-after/users/new")
		w.everyWidth("account")
		w.visit("/look-after/kinds/new")
		w.everyWidth("kind")
		w.visit("/look-after/webhooks/new")
		w.everyWidth("webhook")
		w.visit("/account")
		w.everyWidth("own")
	}
}
