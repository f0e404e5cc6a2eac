package hostile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/frontdoor/routes"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// kinds are the users that send requests, with their permissions.
var kinds = map[string][]string{
	"guest": {"can_api"}, "pupil": {"can_api"}, "staff": {"can_api"}, "adder": {"can_api", "can_add_events",
		"can_add_notes"},
	"editor":     {"can_api", "can_add_events", "can_add_notes", "edit_all_events"},
	"privileged": {"can_api", "can_add_events", "privileged"}, "su": {"can_api", "can_su"}, "admin": {"admin"},
}

// crowd are the clients of one worker, by kind of user. A user that the requests have locked out is made again.
type crowd struct {
	root    *servicetest.Client
	clients map[string]*servicetest.Client
	ids     map[string]int64
	rng     *rand.Rand
	known   *known
}

// root is the administrator that the requests do not change.
type rootUser struct {
	once sync.Once
	id   int64
}

var root rootUser

func newCrowd(t *testing.T, rng *rand.Rand, k *known) *crowd {
	t.Helper()
	c := &crowd{root: system.Admin(t), clients: map[string]*servicetest.Client{}, ids: map[string]int64{}, rng: rng,
		known: k}
	root.once.Do(func() { root.id = c.root.Get(t, "/api/sessions/1/whoami").Int(t, "user_id") })
	c.clients["none"] = connect()
	for kind := range kinds {
		errortest.None(t, c.renew(t.Context(), kind))
	}
	return c
}

// renew makes a user of a kind, and a session of it.
func (c *crowd) renew(ctx context.Context, kind string) error {
	permissions := map[string]bool{}
	for _, p := range kinds[kind] {
		permissions[p] = true
	}
	of := "staff"
	if kind == "guest" || kind == "pupil" {
		of = kind
	}
	secret := uuid.NewString()
	a, err := c.root.Send(ctx, http.MethodPost, "/api/admin/users", map[string]any{"user": map[string]any{
		"name": "A " + kind, "email": secret[:8] + "@school.example", "kind": of, "uuid": secret,
		"permissions": permissions,
	}})
	if err != nil || a.Code != http.StatusCreated {
		return fmt.Errorf("make a user: %d %s %w", a.Code, a.Body, err)
	}
	var made struct{ User struct{ ID int64 } }
	if err := decode(a, &made); err != nil {
		return err
	}
	client := connect()
	a, err = client.Send(ctx, http.MethodGet, "/api/login?uuid="+url.QueryEscape(secret), nil, "X-Forwarded-For",
		c.address())
	if err != nil || a.Code != http.StatusOK {
		return fmt.Errorf("log in: %d %s %w", a.Code, a.Body, err)
	}
	c.clients[kind], c.ids[kind] = client, made.User.ID
	c.known.learnOurs(made.User.ID)
	c.known.learnID("users", made.User.ID)
	return nil
}

// address returns one of many addresses.
func (c *crowd) address() string {
	return fmt.Sprintf("2001:db8:%x:%x::1", c.rng.IntN(1<<16), c.rng.IntN(1<<16))
}

// direct sends each request to the service of its path, without a front door, whose proxy would repair some of it.
// Other paths go to identity.
type direct struct {
	table routes.Table
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	service, ok := d.table.Service(r.URL.Path)
	if !ok {
		service = "identity"
	}
	r = r.Clone(r.Context())
	r.URL.Host = strings.TrimPrefix(system.Replica(service, 0), "http://")
	return d.next.RoundTrip(r)
}

var transport = &http.Transport{MaxIdleConnsPerHost: 64}

// connect returns a client that sends directly.
func connect() *servicetest.Client {
	table, err := checkout.Routes()
	if err != nil {
		panic(err)
	}
	return servicetest.Connect(servicetest.ClientOptions{URL: system.URL, Transport: direct{table, transport}})
}
