package api

import (
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/console/internal/board"
)

const (
	// screenRooms bounds the rooms of a corridor screen.
	screenRooms = 20
	// screenCookie keeps a screen's token, for screenAge: the browser on the wall is started with the address alone,
	// which has no secret in it.
	screenCookie = "belfry_screen"
	screenAge    = 400 * 24 * time.Hour
	longestToken = 200
)

// screenBody is what a corridor screen shows, or where Signs is nil, the form that sets it up.
type screenBody struct {
	Rooms, Name string // as they were asked for
	Fault       string // a text; "" for none
	Signs       []board.Sign
	Zone        string
}

// screenOf is the address of the corridor screen of some rooms, "" for no rooms or too many.
func screenOf(things []board.Thing) string {
	if len(things) == 0 || len(things) > screenRooms {
		return ""
	}
	ids := sequence.Map(things, func(t board.Thing) int64 { return t.ID })
	query := url.Values{"rooms": {joinIDs(ids)}}
	if len(things) == 1 {
		query.Set("name", things[0].Name)
	}
	return "/screen?" + query.Encode()
}

// screen shows what is in some rooms now, with the screen's own token or else the visitor's session, until the browser
// is closed. It asks for no user: a token for one room can do nothing else.
func (h handlers) screen(v *visit) error {
	body, code := screenBody{Rooms: v.c.Query("rooms"), Name: v.c.Query("name"), Zone: v.zone.String()}, fiber.StatusOK
	ids, err := readEach(strings.Split(body.Rooms, ","), screenRooms)
	switch {
	case body.Rooms == "":
	case err != nil:
		body.Fault, code = "screen.fault.rooms", fiber.StatusBadRequest
	default:
		things, err := v.onScreen(ids, body.Name)
		if failed := refused(err, fiber.StatusUnauthorized, fiber.StatusForbidden); failed != nil {
			things, err = nil, nil
			body.Fault, code = "screen.fault.token", failed.Code
		}
		if err != nil {
			return err
		}
		for _, thing := range things {
			body.Signs = append(body.Signs, board.NewSign(thing, v.zone, v.now))
		}
	}
	return v.answer(code, "screen", v.texts.T("screen"), body)
}

// onScreen asks for the bookings of today. Of one room with a name it asks what a token for one element may.
func (v *visit) onScreen(ids []int64, name string) ([]board.Thing, error) {
	own := *v
	if token := v.c.Cookies(screenCookie); token != "" {
		header := v.header.Clone()
		header.Del("Cookie")
		header.Set("Authorization", "Bearer "+token)
		var err error
		if own.api, err = v.wire.client(header, tries); err != nil {
			return nil, err
		}
	}
	query := url.Values{"start_date": {v.zone.DayOf(v.now).String()}, "include": {"staff"}}
	if len(ids) == 1 && name != "" {
		path := "/api/elements/" + id(ids[0]) + "/commitments"
		booked, err := list[api.ListedCommitment](&own, path, "commitments", query)
		return thingsOf([]timetable{{api.Element{ID: ids[0], Name: name}, booked}}), err
	}
	query.Set("elements", joinIDs(ids))
	found, err := own.timetables(query)
	return thingsOf(found), err
}

// screenSent keeps a token for the screen, and leads to what it shows.
func (h handlers) screenSent(v *visit) error {
	query := url.Values{"rooms": {strings.TrimSpace(v.typed.Get("rooms"))}}
	if name := strings.TrimSpace(v.typed.Get("name")); name != "" {
		query.Set("name", name)
	}
	cookie := &fiber.Cookie{
		Name: screenCookie, Value: strings.TrimSpace(v.typed.Get("token")), Path: "/screen",
		MaxAge: int(screenAge / time.Second), Secure: v.cookies.Secure, HTTPOnly: true,
		SameSite: fiber.CookieSameSiteLaxMode,
	}
	switch {
	case len(cookie.Value) > longestToken || strings.ContainsFunc(cookie.Value, func(r rune) bool {
		return r <= ' ' || r > '~' || r == ';' // a cookie could not carry it
	}):
		return v.answer(fiber.StatusBadRequest, "screen", v.texts.T("screen"), screenBody{
			Rooms: query.Get("rooms"), Name: query.Get("name"), Fault: "screen.fault.token"})
	case cookie.Value == "":
		cookie.MaxAge, cookie.Expires = -1, time.Unix(0, 0)
	}
	v.c.Cookie(cookie)
	return v.leave("/screen?" + query.Encode())
}
