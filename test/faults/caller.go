package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const (
	// patience is how long to wait for an answer: far longer than a request's deadline and the longest pause of a
	// process, so a later answer never comes.
	patience = time.Minute
	// logins is how often a session that was lost is replaced for one request.
	logins = 3
)

// verdict says what a client knows of its write.
type verdict int

const (
	never   verdict = iota // it was not asked for
	unknown                // no answer, or one that says that it may be done or not
	done                   // acknowledged
)

// caller is a user's client. It signs in again when its session is lost. It is safe for concurrent use.
type caller struct {
	uuid   string
	client *servicetest.Client
	mu     sync.Mutex // of signing in
}

func newCaller(address, uuid string) *caller {
	return &caller{uuid: uuid, client: servicetest.Connect(servicetest.ClientOptions{
		URL: address, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * writers},
	})}
}

// send sends a request. When there is no session, it signs in and sends it again: a 401 has done nothing. The error
// says that there was no answer.
func (c *caller) send(
	ctx context.Context, method, path string, body any, headers ...string,
) (servicetest.Answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for try := 0; ; try++ {
		before := c.client.SessionCookie()
		a, err := c.client.Send(ctx, method, path, body, headers...)
		if err != nil || a.Code != http.StatusUnauthorized || try == logins {
			return a, err
		}
		if a, err := c.login(ctx, before); err != nil || a.Code != http.StatusOK {
			return a, err
		}
	}
}

// login signs in, unless another request of this caller did meanwhile.
func (c *caller) login(ctx context.Context, before *http.Cookie) (servicetest.Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client.SessionCookie() != before {
		return servicetest.Answer{Code: http.StatusOK}, nil
	}
	return c.client.Send(ctx, http.MethodGet, "/api/login?uuid="+url.QueryEscape(c.uuid), nil)
}

// isUnavailable reports whether an answer is the 503 of the envelope.
func isUnavailable(a servicetest.Answer) bool {
	var envelope struct{ Status string }
	return a.Code == http.StatusServiceUnavailable &&
		strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") &&
		json.Unmarshal([]byte(a.Body), &envelope) == nil && envelope.Status == "Service unavailable"
}
