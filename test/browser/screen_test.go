package browser

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// now books something in a room from a minute ago on, or from now on by hours.
func (w wing) now(t *testing.T, room int, title string, from, to time.Duration) {
	t.Helper()
	at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	w.book(t, room, title, at(from), at(to))
}

func TestScreen_ShowsNowAndNextAtEachWidth(t *testing.T) {
	school := newWing(t, 2)
	school.now(t, 0, "Choir", -time.Minute, time.Hour)
	for _, noScript := range []bool{false, true} {
		w := open(t, options{noScript: noScript, as: school.admin})
		w.visit("/rooms?find=" + url.QueryEscape(school.word+" 000")) // the board leads to the screen of its rooms
		w.do(chromedp.Click(chromedp.CSS(`a[href^="/screen"]`)))
		w.await(`document.querySelector(".screen")`)
		shown := ask[string](w, `document.querySelector(".taken .current").textContent`)
		valuetest.Has(t, shown, "Choir", "now")
		w.everyWidth("one")
		w.visit(fmt.Sprintf("/screen?rooms=%d,%d", school.rooms[0], school.rooms[1]))
		valuetest.Same(t, ask[int](w, `document.querySelectorAll(".screen .empty").length`), 1, "rooms are free")
		w.everyWidth("many")
		w.visit("/screen")
		w.everyWidth("form")
	}
}

func TestScreen_SurvivesALostNetworkAndARestart(t *testing.T) {
	school := newWing(t, 1)
	s := system.Get(t)
	w := open(t, options{as: school.admin})
	w.visit(fmt.Sprintf("/screen?rooms=%d", school.rooms[0]))
	shown := func(title string) bool {
		return strings.Contains(ask[string](w, `document.querySelector(".screen").textContent`), title)
	}
	refresh := func() { w.t.Helper(); ask[chromedp.Void](w, "refresh()") } // what its timer does
	valuetest.MustHold(t, !shown("Choir"), "there is something already")
	school.now(t, 0, "Choir", -time.Minute, time.Hour)
	refresh()
	valuetest.Holds(t, shown("Choir"), "what was booked is not shown")
	offline := func(is bool) {
		t.Helper()
		_, err := chromedp.Call(w.ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: is,
			DownloadThroughput: -1, UploadThroughput: -1})
		w.must(err)
		all := network.Conditions{Offline: is, DownloadThroughput: -1, UploadThroughput: -1}
		_, err = chromedp.Call(w.ctx, network.EmulateNetworkConditionsByRule,
			network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&all}})
		w.must(err)
	}
	offline(true)
	refresh()
	const old = `!document.querySelector(".screen .old").hidden`
	valuetest.Holds(t, shown("Choir") && !ask[bool](w, old), "without a network the screen has changed at once")
	ask[chromedp.Void](w, "came -= old; tick()") // five minutes go by
	valuetest.Holds(t, shown("Choir") && ask[bool](w, old), "the screen does not say how old it is")
	w.keep("old")
	offline(false)
	s.Kill(t, "console")
	refresh()
	valuetest.Holds(t, shown("Choir") && ask[bool](w, old), "an answer without the screen has taken its place")
	s.Restart(t, "console")
	refresh()
	valuetest.Holds(t, shown("Choir") && !ask[bool](w, old), "the screen does not come back")
}

func TestScreen_RefusesWhatItMayNotShow(t *testing.T) {
	w := open(t, options{})
	for _, query := range []string{"rooms=x", "rooms=" + strings.Repeat("1,", 20) + "1", "rooms=999999999"} {
		w.visit("/screen?" + query)
		w.await(`document.querySelector("[role=alert]")`)
	}
	w.everyWidth("refused")
}

// The browser on the wall is started with an address that may end with the token. It is kept as a cookie that no script
// reads, and sent to the interface with each refresh.
func TestScreen_KeepsATokenOutOfTheAddress(t *testing.T) {
	w := open(t, options{})
	w.visit("/screen?rooms=1#token=belfry_no_such_token")
	w.await(`performance.getEntriesByType("navigation")[0].redirectCount > 0 && location.hash === "" &&
		document.querySelector("[role=alert]")`) // the answer to the form, whose page is like the first
	cookies, err := chromedp.Call(w.ctx, network.GetCookies, network.GetCookiesParams{})
	w.must(err)
	if len(cookies.Cookies) != 1 || cookies.Cookies[0].Value != "belfry_no_such_token" || !cookies.Cookies[0].HTTPOnly {
		t.Errorf("the cookies are %v", cookies.Cookies)
	}
	sent, _ := w.seen()
	if !slices.Contains(sent, "POST /screen") || strings.Contains(strings.Join(sent, " "), "no_such") ||
		strings.Contains(system.Get(t).Logs(), "no_such_token") {
		t.Errorf("sent %q", sent)
	}
}
