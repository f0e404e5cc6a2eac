package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/web/room"
)

const mostListed = 8 << 20

type listed struct {
	ID   int64  `json:"id"`
	Text string `json:"text"`
}

// TestHardToBreak_Row02_APageHasAtMostEightMiB turns the pages of lists of small and of large items.
func TestHardToBreak_Row02_APageHasAtMostEightMiB(t *testing.T) {
	for name, c := range map[string]struct{ items, length, sameID, pages int }{
		"none":                   {items: 0, sameID: 1, pages: 1},
		"small":                  {items: 1000, length: 10, sameID: 1, pages: 1},
		"large":                  {items: 1000, length: 4096, sameID: 1, pages: 3}, // 24 KiB each
		"large, three of one id": {items: 999, length: 4096, sameID: 3, pages: 3},
		"each a page":            {items: 3, length: 1 << 20, sameID: 1, pages: 3},
	} {
		t.Run(name, func(t *testing.T) {
			all := make([]listed, c.items)
			for i := range all {
				all[i] = listed{int64(1 + i/c.sameID), strings.Repeat("<", c.length)}
			}
			list := route(http.MethodGet, "/list", func(c *fiber.Ctx) error {
				after, _, err := web.Page(c)
				if err != nil {
					return err
				}
				rest := all
				for len(rest) > 0 && rest[0].ID <= after {
					rest = rest[1:]
				}
				return web.OKPage(c, "items", rest, web.Next(c, 0),
					func(i int) web.Field { return web.Next(c, rest[i].ID) })
			})
			list.Reads.Query = "after limit"
			base := serveOptions(t, web.Options{Sessions: user(principal.All()), Timeout: time.Minute}, list)
			var got []listed
			pages := 0
			for query := ""; ; {
				code, body, header := ask(t, http.MethodGet, base+"/list"+query, "")
				var page struct {
					Items []listed
					Next  *string
				}
				if err := json.Unmarshal([]byte(body), &page); err != nil || code != 200 || len(body) > mostListed {
					t.Fatalf("%d, %d bytes, %v", code, len(body), err)
				}
				got, pages = append(got, page.Items...), pages+1
				if page.Next == nil {
					break
				}
				query = "?after=" + *page.Next
				valuetest.MustSame(t, header.Get("Link"), "</list"+query+`>; rel="next"`, "the link")
			}
			if len(got) != len(all) || pages != c.pages {
				t.Fatalf("%d items on %d pages, want %d on %d", len(got), pages, len(all), c.pages)
			}
			for i := range got {
				valuetest.MustSame(t, got[i], all[i], "item %d is %d", i, got[i].ID)
			}
		})
	}
}

const refusedList = `{"status":"Bad request","message":"the list would have more than 8388608 bytes: ask for less"}`

// around is what an answer of text has around it.
const around = len(`{"status":"OK","text":""}`)

// serveTexts serves answers of text at /text/LENGTH: words, up to that length.
func serveTexts(t *testing.T, word string) string {
	t.Helper()
	return serveOptions(t, web.Options{Sessions: user(principal.All()), Timeout: time.Minute}, web.Route{
		Method: http.MethodGet, Path: "/text/:length", Access: web.SignedIn,
		Handler: func(c *fiber.Ctx) error {
			length, err := c.ParamsInt("length")
			if err != nil {
				return err
			}
			if err := room.Of(c.UserContext()).Take(c.UserContext(), int64(length)); err != nil {
				return err
			}
			return web.OK(c, web.Field{Name: "text", Value: strings.Repeat(word, length/len(word))})
		},
	})
}

// TestHardToBreak_Row02_AnAnswerThatIsTooLongIsRefused asks for answers around the bound, more at once than there is
// room for.
func TestHardToBreak_Row02_AnAnswerThatIsTooLongIsRefused(t *testing.T) {
	base := serveTexts(t, "a")
	var wg sync.WaitGroup
	one := func(i int) {
		length := mostListed - around + i%2
		code, body, _ := ask(t, http.MethodGet, fmt.Sprint(base, "/text/", length), "", "Cookie", cookie)
		want, size := 200, mostListed
		if i%2 > 0 {
			want, size = 400, len(refusedList)
		}
		if code != want || len(body) != size {
			t.Errorf("%d bytes: %d, %d bytes %.200s", length, code, len(body), body)
		}
	}
	for i := range 20 {
		wg.Go(func() { one(i) })
	}
	wg.Wait()
	if code, _, header := ask(t, http.MethodHead, base+"/text/100000", "", "Cookie", cookie); code != 200 ||
		header.Get("Content-Length") != fmt.Sprint(100000+around) {
		t.Errorf("HEAD: %d %v", code, header)
	}
}

// TestHardToBreak_Row02_AListThatIsTooLongIsNotMade has a list without end, and others, asked for by more at once than
// there is room for: each waits for its turn and has it.
func TestHardToBreak_Row02_AListThatIsTooLongIsNotMade(t *testing.T) {
	const each = 1 << 20
	base := serveOptions(t, web.Options{Sessions: user(principal.All()), Timeout: time.Minute},
		web.Route{
			Method: http.MethodGet, Path: "/list/:items", Access: web.SignedIn,
			Handler: func(c *fiber.Ctx) error {
				items, err := c.ParamsInt("items")
				if err != nil {
					return err
				}
				if err := web.TakeRoom(c); err != nil {
					return err
				}
				return web.OKEach(c, "items", func(yield func(string) bool) {
					for i := 0; i != items && yield(strings.Repeat("a", each)); i++ {
						if i > mostListed/each {
							t.Errorf("item %d is made", i)
							return
						}
					}
				})
			},
		})
	var wg sync.WaitGroup
	for _, c := range []struct{ items, code, size int }{
		{0, 200, len(`{"status":"OK","items":[]}`)}, {1, 200, len(`{"status":"OK","items":[""]}`) + each},
		{7, 200, len(`{"status":"OK","items":["","","","","","",""]}`) + 7*each},
		{8, 400, len(refusedList)}, {-1, 400, len(refusedList)},
	} {
		for range 4 {
			wg.Go(func() {
				code, body, _ := ask(t, http.MethodGet, fmt.Sprint(base, "/list/", c.items), "", "Cookie", cookie)
				if code != c.code || len(body) != c.size {
					t.Errorf("%d items: %d, %d bytes %.200s", c.items, code, len(body), body)
				}
			})
		}
	}
	wg.Wait()
}

// TestHardToBreak_Row02_WhoReadsNothingHoldsNoRoomForLong has clients that take no byte of large answers.
func TestHardToBreak_Row02_WhoReadsNothingHoldsNoRoomForLong(t *testing.T) {
	t.Parallel()
	base := serveOptions(t, web.Options{Sessions: user(principal.All()), Timeout: time.Minute},
		web.Route{
			Method: http.MethodGet, Path: "/large", Access: web.Anyone,
			Handler: func(c *fiber.Ctx) error {
				if err := room.Of(c.UserContext()).Take(c.UserContext(), mostListed); err != nil {
					return err
				}
				return web.OK(c, web.Field{Name: "text", Value: strings.Repeat("a", mostListed-100)})
			},
		})
	for range 6 { // twice as many as there is room for
		connection := dial(t, base)
		errortest.None(t, connection.SetReadBuffer(4096))
		errortest.None(t, errortest.Of(io.WriteString(connection, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n")))
	}
	if code, body, _ := ask(t, http.MethodGet, base+"/large", ""); code != 200 || len(body) < mostListed-100 {
		t.Errorf("%d, %d bytes", code, len(body))
	}
}

// Only lists were counted among the large answers: a series has up to 8 MiB, and could be asked for by any number at
// once. What anyone may read is not counted, as no user's share bounds it.
func TestHardToBreak_Row01_AnyLargeAnswerToAUserTakesRoom(t *testing.T) {
	for access, want := range map[web.Access]int{web.SignedIn: 503, web.Anyone: 200} {
		base := serveOptions(t, web.Options{Sessions: user(principal.All()), Timeout: 2 * time.Second}, web.Route{
			Method: http.MethodGet, Path: "/large", Access: access,
			Handler: func(c *fiber.Ctx) error {
				return web.OK(c, web.Field{Name: "text", Value: strings.Repeat("a", mostListed-100)})
			},
		})
		connection := dial(t, base) // takes all that the user may have
		errortest.None(t, connection.SetReadBuffer(4096))
		_, err := io.WriteString(connection, "GET /large HTTP/1.1\r\nHost: x\r\nCookie: "+cookie+"\r\n\r\n")
		errortest.None(t, err)
		errortest.None(t, errortest.Of(connection.Read(make([]byte, 1))))
		code, _, _ := ask(t, http.MethodGet, base+"/large", "", "Cookie", cookie)
		valuetest.Same(t, code, want, "access %v", access)
	}
}

// Pages were not counted among the large answers: one user with 40 connections that read nothing could hold 320 MB.
func TestHardToBreak_Row01_PagesTakeRoom(t *testing.T) {
	held := make(chan int64, 1)
	base := serveOptions(t, web.Options{Sessions: user(principal.All()), Timeout: time.Minute},
		route("GET", "/list/:items", func(c *fiber.Ctx) error {
			items, err := c.ParamsInt("items")
			if err != nil {
				return err
			}
			err = web.OKPage(c, "items", slices.Repeat([]string{strings.Repeat("a", 1000)}, items), web.Next(c, 0),
				func(i int) web.Field { return web.Next(c, int64(i+1)) })
			held <- room.Of(c.UserContext()).Size()
			return err
		}))
	for items, want := range map[int]int64{10: 0, 60: 0, 1000: 1000 * 1003, 5000: 5000 * 1003} {
		code, _, _ := ask(t, http.MethodGet, fmt.Sprint(base, "/list/", items), "", "Cookie", cookie)
		valuetest.Same(t, code, 200, "%d items", items)
		valuetest.Same(t, <-held, want, "%d items: bytes are held", items)
	}
}
