package api

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// administrator is a visitor who has signed in as the admin, and a word that no other test uses.
func administrator(t *testing.T) (b *browser, word string) {
	t.Helper()
	return signedIn(t, shared.Get(t).AdminUUID), "Look" + uuid.NewString()[:8]
}

// newUser adds a user who may use the interface, with an address of the word.
func newUser(t *testing.T, name, word string) int64 {
	t.Helper()
	var made struct{ User struct{ ID int64 } }
	shared.Get(t).Admin(t).Post(t, "/api/admin/users", map[string]any{"user": map[string]any{"name": name,
		"email": word + "@school.example", "permissions": map[string]any{"can_api": true}}}).
		Must(t, http.StatusCreated).Decode(t, &made)
	return made.User.ID
}

func TestLookAfter_AddsChangesFindsAndRetiresARoom(t *testing.T) {
	b, word := administrator(t)
	b.open("/look-after", 200, "/look-after/list/Location", "/look-after/users", `aria-current="page">Look after`)
	key := values(b.open("/look-after/new/Location", 200), "key")
	b.send("/look-after/new/Location", url.Values{"is.short_name": {word}}, 422, `aria-invalid="true"`, word)
	added := url.Values{"is.name": {word + " <hall>"}, "is.short_name": {"H"}, "key": key}
	at := b.send("/look-after/new/Location", added, 200, "Added", word+" &lt;hall&gt;")
	again := b.send("/look-after/new/Location", added, 200)
	valuetest.Same(t, again, at, "the page to which a second click leads") // it added a second room
	at, _, _ = strings.Cut(at, "?")
	b.open("/look-after/list/Location?q="+word, 200, `href="`+at+`"`)
	b.open("/look-after/list/Staff?q="+word, 200, "Nothing matches")
	// Another has changed the short name meanwhile: a form that was open before changes the name alone.
	b.send(at, url.Values{"is.name": {word}, "was.name": {word}, "is.short_name": {"HL"}, "was.short_name": {"H"}}, 200)
	b.send(at, url.Values{"is.name": {word + " 2"}, "was.name": {word}, "is.short_name": {"H"},
		"was.short_name": {"H"}}, 200, "Saved", `value="HL"`)
	b.send(at, url.Values{"was.name": {word}}, 422, `aria-invalid="true"`)
	b.open(strings.Replace(at, "/look-after/elements/", "/look-after/history?record=Element:", 1), 200, "added",
		"<dt>Short name</dt><dd><del>H</del> <ins>HL</ins></dd>")
	b.sendSure(at+"/retire", url.Values{"of": {word}}, word, "no longer be found", "Bring back")
	b.open("/look-after/list/Location?q="+word, 200, "Nothing matches")
	b.open("/look-after/list/Location?old=1", 200, word)
	b.open("/look-after/history", 200, "Person or thing: "+word+" 2</a>",
		"<dt>Is here</dt><dd><del>yes</del> <ins>no</ins>")
	b.send(at+"/return", url.Values{}, 200, "found again")
	for path, code := range map[string]int{"/look-after/list/Planet": 404, "/look-after/new/Planet": 404,
		"/look-after/elements/x": 404, "/look-after/elements/999999999": 404, "/look-after/kinds/x": 404,
		"/look-after/kinds/999999999": 404, "/look-after/users/999999999": 404, "/look-after/users?after=x": 400,
		"/look-after/history?record=!": 400} {
		b.open(path, code)
	}
}

func TestLookAfter_MembersByDateAndWhoDecides(t *testing.T) {
	b, word := administrator(t)
	admin := shared.Get(t).Admin(t)
	group := admin.Import(t, "groups", map[string]any{"key": word, "name": word + " team"})[word]
	var people []map[string]any
	for i := range 51 { // one more than a page has
		people = append(people, map[string]any{"key": fmt.Sprint(word, i), "forename": "Ann",
			"surname": fmt.Sprintf("%s%02d", word, i)})
	}
	ids := admin.Import(t, "pupils", people...)
	at := fmt.Sprintf("/look-after/elements/%d", group)
	b.open(at+"?find="+word+"00", 200, fmt.Sprintf(`name="who" value="%d"`, ids[word+"0"]))
	who := url.Values{"first_day": {"2026-09-01"}, "last_day": {"2027-07-20"}}
	for i := range 50 {
		who.Add("who", fmt.Sprint(ids[fmt.Sprint(word, i)]))
	}
	b.send(at+"/members", who, 200, "from 1 Sep 2026 to 20 Jul 2027")
	who.Add("who", fmt.Sprint(ids[word+"50"]))
	b.send(at+"/members", who, 400)
	b.send(at+"/members", url.Values{"who": {fmt.Sprint(ids[word+"50"])}}, 200)
	page := b.open(at, 200, ">More<")
	next := regexp.MustCompile(`href="([^"]+)#members"`).FindStringSubmatch(page)
	valuetest.MustHold(t, next != nil && !strings.Contains(page, word+"50"), "the first page has all members")
	b.open(next[1], 200, word+"50")
	member := url.Values{"member": {fmt.Sprint(ids[word+"50"])}, "from": {"2020-01-01"}}
	b.send(at+"/members", url.Values{"who": {fmt.Sprint(ids[word+"0"])}, "first_day": {"2027-09-01"},
		"last_day": {"2027-08-01"}}, 422, "2027-08-01")
	b.send(at+"/members/end", member, 200, "Saved")
	// The history showed days as 2026-09-01/2027-07-20.
	b.open("/look-after/history", 200, "<dt>Days</dt><dd><ins>from 1 Sep 2026 to 20 Jul 2027</ins></dd>",
		"<dt>Days</dt><dd><ins>always</ins></dd>")

	decides := newUser(t, "Dee Cider", word)
	b.send(at+"/deciders", url.Values{"email": {"none-" + word + "@school.example"}}, 422, "0 accounts")
	b.send(at+"/deciders", url.Values{"email": {word + "@school.example"}}, 200, "Dee Cider")
	b.open(fmt.Sprintf("/look-after/history?record=Element:%d", group), 200,
		"<dt>Who decides</dt><dd><ins>Dee Cider</ins></dd>")
	for range 2 { // clicks, the second of which was 404
		b.send(at+"/deciders/end", url.Values{"user": {fmt.Sprint(decides)}}, 200)
	}
	valuetest.Lacks(t, b.open(at, 200), "Dee Cider", "who no longer decides is still there")
}

func TestLookAfter_AccountsWithTokensOfPrograms(t *testing.T) {
	b, word := administrator(t)
	form := b.open("/look-after/users/new", 200, `name="is.can_api" value="true" checked`)
	for _, name := range principal.PermissionNames() {
		valuetest.Has(t, form, `name="is.`+name+`"`)
	}
	valuetest.Lacks(t, form, "look.field.", "a permission without a text is shown by its name")
	b.send("/look-after/users/new", url.Values{"is.name": {word}, "is.email": {"none"}, "is.kind": {"staff"}}, 422,
		word)
	code, _, page := b.do(http.MethodPost, "/look-after/users/new", url.Values{"token": {b.token}, "is.name": {word},
		"is.email": {word + "@school.example"}, "is.kind": {"staff"}, "is.active": {"true"}, "is.can_api": {"true"}})
	key := secret.FindStringSubmatch(page)
	valuetest.MustHold(t, code == http.StatusCreated && key != nil, "a new account: %d %s", code, page)
	at := regexp.MustCompile(`action="(/look-after/users/\d+)"`).FindStringSubmatch(page)[1]
	b.open("/look-after/users?q="+strings.ToUpper(word), 200, `href="`+at+`"`)
	valuetest.Lacks(t, b.open(at, 200), key[1], "the key is shown again")
	checkTokens(t, b, at, at+"/tokens")

	own := signedIn(t, key[1])
	valuetest.Lacks(t, own.open("/account", 200), `href="/look-after`, "a user who administers nothing is led there")
	checkTokens(t, own, "/account", "/account/tokens")
	for _, path := range []string{"/look-after", "/look-after/users", at, "/look-after/kinds", "/look-after/history"} {
		own.open(path, 403, "You may not do that")
	}
	own.send(at+"/switch", url.Values{}, 403)
	b.sendSure(at+"/sessions", url.Values{"of": {word}}, word, "This has ended")
	_, landed, _ := own.do(http.MethodGet, "/account", nil)
	valuetest.Same(t, landed, "/sign-in?to=%2Faccount", "a session that was ended shows")
	_, _, page = b.do(http.MethodPost, at+"/key", url.Values{"token": {b.token}})
	valuetest.Holds(t, !secret.MatchString(page), "the key is renewed unasked")
	_, _, page = b.do(http.MethodPost, at+"/key", url.Values{"token": {b.token}, "sure": {"1"}})
	if renewed := secret.FindStringSubmatch(page); renewed == nil || renewed[1] == key[1] {
		t.Errorf("no other key: %s", page)
	}
	b.send(at, url.Values{"was.active": {"true"}}, 200, "Saved")
	b.open("/look-after/users?q="+word, 200, "can&#39;t sign in")
}

// sendSure sends a form that asks first, with the name of what it ends, and sends it again from the page that asks.
func (b *browser) sendSure(path string, typed url.Values, name string, texts ...string) {
	b.t.Helper()
	if b.send(path, typed, 200, "<strong>"+name, "Leave it as it is") != path {
		b.t.Errorf("%s does not ask", path)
	}
	typed.Set("sure", "1")
	for range 2 { // clicks, the second of which was 404
		b.send(path, typed, 200, texts...)
	}
}

// secret is what a page shows once.
var secret = regexp.MustCompile(`id="secret" readonly value="([^"]+)"`)

// checkTokens makes a token on a page, uses it, and revokes it.
func checkTokens(t *testing.T, b *browser, page, forms string) {
	t.Helper()
	b.open(page, 200, "There are no tokens")
	b.send(forms, url.Values{"name": {"Sign"}, "scope": {"read_element"}}, 422, "Sign")
	b.open(page, 200)
	code, _, made := b.do(http.MethodPost, forms, url.Values{"token": {b.token}, "name": {"Sign"}, "scope": {"read"},
		"end_date": {""}})
	text := secret.FindStringSubmatch(made)
	if code != http.StatusCreated || text == nil || !strings.Contains(made, "never used") {
		t.Fatalf("a new token: %d %s", code, made)
	}
	program, err := client.New(b.base, client.Options{Token: text[1]})
	errortest.None(t, err)
	errortest.Report(t, errortest.Of(program.WhoAmI(t.Context())))
	id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(b.open(page, 200, "last used"))
	valuetest.Lacks(t, b.open(page, 200), text[1], "the token is shown again")
	b.sendSure(forms+"/end", url.Values{"id": {id[1]}, "of": {"Sign"}}, "Sign", "This has ended", "There are no tokens")
	errortest.Some(t, errortest.Of(program.WhoAmI(t.Context())), "a token that was revoked is taken")
}

func TestLookAfter_UsesBelfryAsSomebodyAndComesBack(t *testing.T) {
	b, word := administrator(t)
	at := fmt.Sprintf("/look-after/users/%d", newUser(t, word, word))
	b.open(at, 200, "Use Belfry as this person")
	valuetest.Same(t, b.send(at+"/switch", url.Values{}, 200, "You use Belfry as "+word,
		"Back to your own account"), "/",
		"after the switch it shows")
	b.open("/search?q=x", 200, "You use Belfry as "+word)
	b.open("/look-after", 403, "You use Belfry as "+word)
	valuetest.Lacks(t, b.open("/account", 200), "New token", "while switched, no token is made")
	hall := shared.Get(t).Admin(t).Import(t, "locations", map[string]any{"key": word, "name": word})[word]
	valuetest.Lacks(t, b.open(fmt.Sprintf("/week/%d", hall), 200), "Subscribe", "while switched, no feed is made")
	b.send("/account/tokens", url.Values{"name": {"x"}, "scope": {"read"}}, 403)
	b.open("/account", 200)
	valuetest.Same(t, b.send("/back", url.Values{}, 200, word), at, "back, it shows")
	valuetest.Lacks(t, b.open("/look-after", 200), "Back to your own account", "the band stays")
	b.send("/back", url.Values{}, 200) // once more changes nothing
	b.open("/look-after", 200)
}

func TestLookAfter_KindsOfEvents(t *testing.T) {
	b, word := administrator(t)
	b.open("/look-after/kinds/new", 200)
	b.send("/look-after/kinds/new", url.Values{"is.name": {word}, "is.pecking_order": {"x"}}, 422, word)
	at := b.send("/look-after/kinds/new", url.Values{"is.name": {word}, "is.busy": {"true"}, "is.pecking_order": {"7"}},
		200, "Added", `value="7"`, `name="is.busy" value="true" checked`)
	at, _, _ = strings.Cut(at, "?")
	b.send(at, url.Values{"is.name": {word + " 2"}, "was.name": {word}, "was.busy": {"true"}}, 200, word+" 2",
		"Saved")
	valuetest.Lacks(t, b.open(at, 200), `name="is.busy" value="true" checked`, "the box stays ticked")
	b.send(at, url.Values{"was.name": {word}}, 422)
	b.open(strings.Replace(at, "/look-after/kinds/", "/look-after/history?record=EventCategory:", 1), 200, word)
	a := shared.Get(t).Admin(t).Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Play",
		"category": path.Base(at), "starts_at_text": "2031-03-04 09:00", "ends_at_text": "2031-03-04 09:30"}}).
		Must(t, http.StatusOK)
	b.open("/look-after/history?service=events", 200, word, "Event "+a.At(t, "event.id"),
		"<dt>From</dt><dd><ins>4 Mar 2031, 09:00</ins>", "<dt>Kind of event</dt><dd><ins>"+word+" 2</ins>")
}

func TestLookAfter_Webhooks(t *testing.T) {
	b, word := administrator(t)
	page := "/look-after/webhooks/"
	b.open(page+"new", 200, `name="is.event.deleted" value="true" checked`)
	address := "https://hooks.school.example/" + word
	b.send(page+"new", url.Values{"is.url": {"ftp://" + word}, "is.active": {"true"}, "is.event.deleted": {"true"}},
		422, "ftp://"+word, `role="alert"`)
	code, _, made := b.do(http.MethodPost, page+"new", url.Values{"token": {b.token}, "is.url": {address},
		"is.event.deleted": {"true"}})
	if code != http.StatusCreated || !strings.Contains(made, `value="whsec_`) {
		t.Fatalf("a new webhook: %d %s", code, made)
	}
	list := b.open("/look-after/webhooks", 200, address, "paused")
	link := regexp.MustCompile(`href="(/look-after/webhooks/\d+)">` + regexp.QuoteMeta(address))
	at := link.FindStringSubmatch(list)[1]
	valuetest.Lacks(t, b.open(at, 200, address), "whsec_", "the secret is shown again")
	b.send(at, url.Values{"is.url": {address}, "was.url": {address}, "is.commitment.decided": {"true"},
		"was.commitment.decided": {"false"}, "was.event.deleted": {"true"}, "was.active": {"false"}}, 200,
		"Saved",
		`name="is.commitment.decided" value="true" checked`)
	valuetest.Lacks(t, b.open(at, 200), `name="is.event.deleted" value="true" checked`, "the box stays ticked")
	b.send(at+"/test", url.Values{}, 200, "A test has been sent", "Latest messages")
	b.send(at+"/secret", url.Values{}, 201, "whsec_")
	b.open(strings.Replace(at, "/look-after/webhooks/", "/look-after/history?record=Webhook:", 1), 200, "added",
		"<dt>Secret</dt><dd>(not shown)</dd>")
	b.open(at, 200)
	b.sendSure(at+"/end", url.Values{"of": {address}}, address, "Webhooks")
	b.open(at, 404)
}

// The later of two who ticked different kinds of a webhook undid what the earlier had done.
func TestLookAfter_TwoTickKindsOfAWebhook(t *testing.T) {
	b, word := administrator(t)
	address := "https://hooks.school.example/" + word
	b.open("/look-after/webhooks/new", 200)
	b.send("/look-after/webhooks/new", url.Values{"is.url": {address}, "is.event.deleted": {"true"},
		"is.request.allocated": {"true"}}, 201)
	link := regexp.MustCompile(`href="(/look-after/webhooks/\d+)">` + regexp.QuoteMeta(address))
	at := link.FindStringSubmatch(b.open("/look-after/webhooks", 200))[1]
	form := func() url.Values {
		return url.Values{"is.url": {address}, "was.url": {address}, "was.active": {"false"},
			"is.event.deleted": {"true"}, "was.event.deleted": {"true"},
			"is.request.allocated": {"true"}, "was.request.allocated": {"true"},
			"was.commitment.decided": {"false"}, "was.commitment.requested": {"false"}}
	}
	one, other := with(form(), "is.commitment.decided", "true"), with(form(), "is.commitment.requested", "true")
	one.Del("is.event.deleted")
	b.send(at, one, 200, "Saved")
	b.send(at, other, 200, "Saved")
	page := b.open(at, 200)
	for kind, ticked := range map[string]bool{"commitment.decided": true, "commitment.requested": true,
		"request.allocated": true, "event.deleted": false} {
		valuetest.Same(t, strings.Contains(page, `name="is.`+kind+`" value="true" checked`), ticked, "%s", kind)
	}
}
