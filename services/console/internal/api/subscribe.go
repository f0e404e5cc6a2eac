package api

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/png"
	"net/url"
	"strings"

	"github.com/boombuler/barcode/qr"
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/web"
)

// subscribeBody is what the page of a calendar's subscriptions shows.
type subscribeBody struct {
	Of      api.Element
	Feeds   []api.Feed
	Name    string // of a device, as it was typed
	Full    bool   // there are as many as there may be
	Address string // of the calendar that was just made, shown this once; "" for none
	App     template.URL
	Code    template.URL // of App as a picture that cameras read
	attempt
}

// subscribe lists the visitor's own calendar feeds of a person or thing, each for one device.
func (h handlers) subscribe(v *visit) error { return v.showFeeds(fiber.StatusOK, subscribeBody{}) }

// feedsPath is that of the interface for the feeds of the page's element.
func (v *visit) feedsPath() string {
	return "/api/elements/" + url.PathEscape(v.c.Params("element")) + "/feeds"
}

func (v *visit) showFeeds(code int, b subscribeBody) error {
	id, err := web.PathID(v.c, "element")
	if err != nil {
		return err
	}
	element, err := v.api.Get(v.ctx, fmt.Sprintf("/api/elements/%d", id), "element")
	if err != nil {
		return err
	}
	b.Of = client.As[api.Element](element)
	if b.Feeds, err = list[api.Feed](v, v.feedsPath(), "feeds", nil); err != nil {
		return err
	}
	return v.answer(code, "subscribe", v.texts.T("subscribe.title", b.Of.Name), b)
}

// subscribeSent makes a feed. Its address is on this page alone: only its hash is kept.
func (h handlers) subscribeSent(v *visit) error {
	b := subscribeBody{Name: strings.TrimSpace(v.typed.Get("name"))}
	made, err := v.api.Create(v.ctx, v.feedsPath(), "feed", map[string]any{"name": b.Name})
	switch b.Full = refused(err, fiber.StatusConflict) != nil; {
	case b.Full:
		return v.showFeeds(fiber.StatusConflict, b)
	case v.invalid(err, &b.attempt):
		return v.showFeeds(fiber.StatusUnprocessableEntity, b)
	case err != nil:
		return err
	}
	scheme := "http://"
	if v.cookies.Secure {
		scheme = "https://"
	}
	rest := string(v.c.Context().Host()) + made.Text("path")
	b.Name, b.Address, b.App = "", scheme+rest, template.URL("webcal://"+rest) //nolint:gosec // a path of the interface
	if b.Code, err = picture(string(b.App)); err != nil {
		return err
	}
	return v.showFeeds(fiber.StatusCreated, b)
}

// unsubscribeSent ends a feed, wherever it is still used.
func (h handlers) unsubscribeSent(v *visit) error {
	err := v.remove(v.feedsPath() + "/" + url.PathEscape(v.typed.Get("feed")))
	return v.after(err, "/subscribe/"+url.PathEscape(v.c.Params("element")))
}

// picture is a text as a QR code, a pixel for each module.
func picture(text string) (template.URL, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", fmt.Errorf("make the code of an address: %w", err)
	}
	var b bytes.Buffer
	err = png.Encode(&b, code)
	text = "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
	return template.URL(text), err //nolint:gosec // a picture
}
