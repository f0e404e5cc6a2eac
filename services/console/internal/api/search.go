package api

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client/api"
)

const (
	// foundAtMost bounds each list of a search.
	foundAtMost = "50"
	// mostText bounds the text, in characters.
	mostText = 200
)

// searchBody is what the page of a search shows.
type searchBody struct {
	Query    string
	Elements []api.Element
	Events   []api.EventSummary
	Beside   string // ids that a found element is to be shown beside; "" for none
	Date     string
	Short    bool // the text is too short for the titles of events, as the interface counts
}

// search finds people, rooms and events.
func (h handlers) search(v *visit) error {
	b := searchBody{Query: strings.TrimSpace(v.c.Query("q")), Date: v.c.Query("date")}
	if ids, err := readIDs(v.c.Query("beside")); err == nil {
		b.Beside = joinIDs(ids)
	}
	length := utf8.RuneCountInString(b.Query)
	if length == 0 || length > mostText {
		return v.show("search", v.texts.T("search"), b)
	}
	var err error
	if b.Elements, err = v.elements(b.Query); err != nil {
		return err
	}
	if b.Beside == "" {
		b.Events, err = find[api.EventSummary](v, "/api/events", "events", url.Values{
			"text": {b.Query}, "start_date": {v.zone.DayOf(v.now).String()}, "limit": {foundAtMost},
		})
		b.Short = refused(err, fiber.StatusBadRequest) != nil
		if err != nil && !b.Short {
			return err
		}
	}
	return v.show("search", v.texts.T("search"), b)
}

// elements finds people and things by a part of their names: of a type, or of all. No name finds none.
func (v *visit) elements(name string, of ...string) ([]api.Element, error) {
	if name == "" {
		return nil, nil
	}
	query := url.Values{"namelike": {name}, "limit": {foundAtMost}, "type": of}
	return find[api.Element](v, "/api/elements", "elements", query)
}
