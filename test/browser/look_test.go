package browser

import (
	"fmt"
	"net/http"
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

// The pages of records that have something beside their form, the lists, the page that asks first, and a visit as
// another user.
func TestLookAfter_RecordsListsAndAnotherUserAtEachWidth(t *testing.T) {
	admin := system.Get(t).Admin(t)
	word := "Full-" + uuid.NewString()[:8]
	person := admin.Import(t, "staff", map[string]any{"key": word, "initials": "ZB", "forename": "Zoë",
		"surname": word})[word]
	group := admin.Import(t, "groups", map[string]any{"key": word, "name": word + " team"})[word]
	account := admin.Import(t, "users", map[string]any{"key": word, "name": "Zoë " + word, "can_api": true,
		"email": word + "@school.example", "element": "Staff:" + word})[word]
	at := fmt.Sprintf("/api/admin/elements/%d", group)
	admin.Post(t, at+"/members", map[string]any{"members": []map[string]any{{"element_id": person,
		"first_day": "2026-09-01", "last_day": "2027-07-20"}}}).Must(t, http.StatusCreated)
	admin.Put(t, fmt.Sprintf("%s/administrators/%d", at, account), nil).Must(t, http.StatusOK)
	admin.Post(t, fmt.Sprintf("/api/admin/users/%d/tokens", account), map[string]any{"token": map[string]any{
		"name": "Sign", "scope": "read"}}).Must(t, http.StatusCreated)
	hook := admin.Post(t, "/api/admin/webhooks", map[string]any{"webhook": map[string]any{
		"url": "https://hooks.school.example/" + word, "kinds": []string{"event.deleted"}}}).
		Must(t, http.StatusCreated).At(t, "webhook.id")
	admin.Post(t, "/api/admin/webhooks/"+hook+"/test", nil)
	kind := admin.Import(t, "eventcategories", map[string]any{"key": word, "name": word})[word]
	w := open(t, options{as: admin})
	for _, page := range []struct{ path, name, says string }{
		{fmt.Sprintf("/look-after/elements/%d", group), "members", word},
		{fmt.Sprintf("/look-after/elements/%d", person), "person", word},
		{fmt.Sprintf("/look-after/users/%d?find=%s", account, word), "account-find", "This person's account"},
		{"/look-after/webhooks/" + hook, "deliveries", "Latest messages"},
		{fmt.Sprintf("/look-after/kinds/%d", kind), "one-kind", "Save"},
		{"/look-after/list/Staff", "people", "Add"}, {"/look-after/list/Group", "groups", "Add"},
		{"/look-after/users", "accounts", "Add"}, {"/look-after/kinds", "kinds", "Add"},
		{"/look-after/webhooks", "webhooks", "Add"}, {"/look-after/history?service=events", "history-events", word},
		{"/look-after/history?service=identity", "history-accounts", "Sign"},
		{fmt.Sprintf("/look-after/history?record=Element:%d", group), "history-group", "Zoë " + word},
	} {
		w.visit(page.path)
		w.await("%s", says(page.says))
		w.everyWidth(page.name)
	}
	user := fmt.Sprintf("/look-after/users/%d", account)
	w.visit(user)
	w.click(`form[action$="/tokens/end"] button`, says("can't be brought back"))
	w.everyWidth("sure")
	w.click("button.danger", says("There are no tokens"))
	w.click(`form[action$="/switch"] button`, says("Zoë"))
	w.everyWidth("switched")
}
