// Package belfry is all that the six programs beside it need of a client: a session or token, JSON in and out, and a
// count of the calls. It uses nothing but Go's own library, so that it is easily translated into another language.
package belfry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/signal"
	"time"
)

// Client acts as a user, in a session or by a token. It is for one goroutine.
type Client struct {
	Calls int   // made so far, login and logout included
	Bytes int64 // of the newest answer's body

	address, token string
	http           http.Client
}

// Element is a person, a room, a group or a thing.
type Element struct {
	ID   int64
	Name string
}

// Event is what lists show of an event.
type Event struct {
	ID       int64
	Body     string
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	AllDay   bool      `json:"all_day"`
	Staff    string    // with include=staff
}

// Lines are the records of an import: a body of a line for each.
type Lines []any

// logoutTimeout bounds the logout, which is made when the program was interrupted, too.
const logoutTimeout = 5 * time.Second

// Main runs a program at BELFRY_URL until it ends or is interrupted, and prints on standard error how many calls it
// made. The program acts by the token BELFRY_TOKEN; without one, Main logs in as the user of BELFRY_UUID and out again
// at the end. A user has 20 sessions at most: one more login would end another.
func Main(program func(context.Context, *Client) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c := &Client{
		address: os.Getenv("BELFRY_URL"), token: os.Getenv("BELFRY_TOKEN"), http: http.Client{Timeout: time.Minute},
	}
	err := c.login(ctx, os.Getenv("BELFRY_UUID"))
	if err == nil {
		err = program(ctx, c)
		err = errors.Join(err, c.logout(context.WithoutCancel(ctx)))
		fmt.Fprintf(os.Stderr, "%d calls\n", c.Calls)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c *Client) login(ctx context.Context, uuid string) (err error) {
	switch {
	case c.address == "" || c.token == "" && uuid == "":
		return errors.New("BELFRY_URL is needed, and BELFRY_TOKEN or BELFRY_UUID")
	case c.token != "":
		return nil
	}
	if c.http.Jar, err = cookiejar.New(nil); err != nil { // it keeps the session
		return err
	}
	return c.Call(ctx, http.MethodPost, "/api/login", map[string]string{"uuid": uuid}, nil)
}

func (c *Client) logout(ctx context.Context) error {
	if c.token != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
	defer cancel()
	return c.Call(ctx, http.MethodGet, "/api/logout", nil, nil)
}

// Get asks, and decodes the answer.
func (c *Client) Get(ctx context.Context, path string, query url.Values, answer any) error {
	return c.Call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, answer)
}

// Call sends a body, if there is one, and decodes the answer into answer, unless that is nil. An error answer is an
// error with what Belfry says.
func (c *Client) Call(ctx context.Context, method, path string, body, answer any) error {
	text, kind, err := encode(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.address+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	if body == nil {
		request.Body, request.ContentLength = http.NoBody, 0
	} else {
		request.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	c.Calls++
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	text, err = io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	c.Bytes = int64(len(text))
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s %s", method, path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// encode returns a body and its content type.
func encode(body any) ([]byte, string, error) {
	lines, are := body.(Lines)
	if !are {
		text, err := json.Marshal(body)
		return text, "application/json", err
	}
	var text bytes.Buffer
	for _, line := range lines {
		if err := json.NewEncoder(&text).Encode(line); err != nil {
			return nil, "", err
		}
	}
	return text.Bytes(), "application/x-ndjson", nil
}

// Named returns the element with that whole name. It makes one call.
func (c *Client) Named(ctx context.Context, name string) (Element, error) {
	var found struct{ Elements []Element }
	if err := c.Get(ctx, "/api/elements", url.Values{"name": {name}}, &found); err != nil {
		return Element{}, err
	}
	return found.Elements[0], nil // without any, the answer is 404
}

// Categories returns the ids of the event categories by their names. It makes one call.
func (c *Client) Categories(ctx context.Context) (map[string]int64, error) {
	var found struct{ Eventcategories []Element }
	err := c.Get(ctx, "/api/eventcategories", nil, &found)
	ids := map[string]int64{}
	for _, category := range found.Eventcategories {
		ids[category.Name] = category.ID
	}
	return ids, err
}
