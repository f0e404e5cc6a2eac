package api_test

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"

	// so that go test runs again when the service has changed
	_ "github.com/belfry-schools/belfry/services/identity/internal/api"
)

// shared is two replicas of identity; each test makes users of its own.
var shared = servicetest.Share(servicetest.Options{
	Services: []string{"identity"}, Replicas: 2,
	// The tests choose the addresses they come from.
	Env: map[string]string{"BELFRY_TRUSTED_PROXIES": "127.0.0.0/8"},
})

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

func system(t testing.TB) *servicetest.System {
	t.Helper()
	return shared.Get(t)
}

const (
	ok           = `{"status":"OK"}`
	accessDenied = `{"status":"Access denied"}`
	forbidden    = `{"status":"Forbidden"}`
	notFound     = `{"status":"Not found"}`
)

var sequence atomic.Int64

// person is a user that a test has made.
type person struct {
	ID    int64
	UUID  string
	Email string
}

// newPerson makes a user with those permissions.
func newPerson(t *testing.T, permissions ...string) person {
	t.Helper()
	return personOf(t, system(t).Admin(t), permissions...)
}

// personOf makes a user in a system of a test's own.
func personOf(t *testing.T, admin *servicetest.Client, permissions ...string) person {
	t.Helper()
	p := person{UUID: uuid.NewString(), Email: fmt.Sprintf("person%d@school.example", sequence.Add(1))}
	granted := map[string]bool{}
	for _, name := range permissions {
		granted[name] = true
	}
	a := admin.Post(t, "/api/admin/users", map[string]any{"user": map[string]any{
		"name": "Person", "email": p.Email, "uuid": p.UUID, "permissions": granted,
	}})
	p.ID = a.Must(t, 201).Int(t, "user.id")
	return p
}

// act is what an administrator does to a user.
type act func(t *testing.T, admin *servicetest.Client, p person)

// changing is an act that changes the user, once for each of the fields.
func changing(all ...map[string]any) act {
	return func(t *testing.T, admin *servicetest.Client, p person) {
		t.Helper()
		for _, fields := range all {
			admin.Patch(t, path(p, ""), map[string]any{"user": fields}).Must(t, 200)
		}
	}
}

func granted(permission string, is bool) map[string]any {
	return map[string]any{"permissions": map[string]any{permission: is}}
}

// endings are the acts that end the sessions of a user.
var endings = map[string]act{
	"deactivated":  changing(map[string]any{"active": false}),
	"active again": changing(map[string]any{"active": false}, map[string]any{"active": true}),
	"deleted": func(t *testing.T, admin *servicetest.Client, p person) {
		t.Helper()
		admin.Delete(t, path(p, "")).Want(t, 200, ok)
	},
	"new uuid": func(t *testing.T, admin *servicetest.Client, p person) {
		t.Helper()
		admin.Post(t, path(p, "/uuid"), nil).Must(t, 201)
	},
	"sessions ended": func(t *testing.T, admin *servicetest.Client, p person) {
		t.Helper()
		admin.Delete(t, path(p, "/sessions")).Want(t, 200, ok)
	},
	"can_api taken": changing(granted("can_api", false)),
}

// replica returns a client of one replica that is not signed in.
func replica(t *testing.T, i int) *servicetest.Client {
	return servicetest.NewClient(t, system(t).Replica("identity", i))
}

// login tries to log in and returns the answer.
func login(t *testing.T, c *servicetest.Client, uuid string, headers ...string) servicetest.Answer {
	t.Helper()
	return c.Do(t, "GET", "/api/login?uuid="+url.QueryEscape(uuid), nil, headers...)
}

// loginByBody is login by POST.
func loginByBody(t *testing.T, c *servicetest.Client, uuid string, headers ...string) servicetest.Answer {
	t.Helper()
	return c.Do(t, "POST", "/api/login", map[string]any{"uuid": uuid}, headers...)
}

// from says which address a request to a replica comes from.
func from(address string) []string { return []string{"X-Forwarded-For", address} }

// freshAddress is one that no other test comes from.
func freshAddress() string {
	n := sequence.Add(1)
	return fmt.Sprintf("198.51.%d.%d", n/250, n%250+1)
}

// as sends a session cookie of the test's choice, whatever the client holds.
func as(cookie string) []string { return []string{"Cookie", "scheduling_session=" + cookie} }

// wantUser fails the test unless the session with that cookie belongs to that user; 0: to none.
func wantUser(t *testing.T, cookie string, id int64, why string) {
	t.Helper()
	a := system(t).Client(t).Do(t, "GET", "/sessions/1/whoami", nil, as(cookie)...)
	want := accessDenied
	if id != 0 {
		want = `{"status":"OK","user_id":` + strconv.FormatInt(id, 10) + `}`
	}
	valuetest.Same(t, a.Body, want, why)
}

func switchTo(t *testing.T, c *servicetest.Client, id int64) servicetest.Answer {
	t.Helper()
	return c.Put(t, "/api/sessions/1", switchBody(id))
}

func switchBody(id int64) any {
	return map[string]any{"session": map[string]any{"user_id": strconv.FormatInt(id, 10)}}
}
