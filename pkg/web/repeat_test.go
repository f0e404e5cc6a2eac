package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/idempotency/answers"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/redisstore"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web"
)

// repeatableAt serves POST /things/:id, which does one more thing each time, by do.
func repeatableAt(t *testing.T, do func(c *fiber.Ctx, n int64) error) (address string, things *atomic.Int64) {
	t.Helper()
	client, prefix := storetest.Redis(t)
	things = &atomic.Int64{}
	kept := answers.New(answers.Options{Redis: client, Keys: redisstore.Keys{Prefix: prefix},
		Secret: settings.NewSecret("s")})
	address, _ = serveWith(t, user(principal.Permissions{CanAPI: true}), kept, web.Route{
		Method: "POST", Path: "/things/:id", Access: web.SignedIn,
		Repeatable: func(*fiber.Ctx, []byte) error { return nil },
		Handler:    func(c *fiber.Ctx) error { return do(c, things.Add(1)) },
	})
	return address, things
}

func thing(c *fiber.Ctx, n int64) error {
	return web.Created(c, fmt.Sprintf("/things/%d", n), web.Field{Name: "thing", Value: n})
}

func post(t *testing.T, url, body, key string) (int, string, http.Header) {
	t.Helper()
	headers := []string{"Cookie", cookie}
	if key != "" {
		headers = append(headers, "Idempotency-Key", key)
	}
	return ask(t, "POST", url, body, headers...)
}

func TestDecisionsPart1_IdempotencyKey_TheSameRequestGetsTheSameAnswer(t *testing.T) {
	address, things := repeatableAt(t, thing)
	_, first, headers := post(t, address+"/things/1", `{}`, "k")
	valuetest.Same(t, headers.Get("Idempotency-Replayed"), "", "the first answer is marked as given before")
	code, again, headers := post(t, address+"/things/1", `{}`, "k")
	if code != 201 || again != first || headers.Get("Idempotency-Replayed") != "true" ||
		headers.Get("Content-Type") != "application/json; charset=utf-8" || headers.Get("Location") != "/things/1" {
		t.Errorf("%d %s %v, first %s", code, again, headers, first)
	}
	if code, body, _ := post(t, address+"/things/1", `{"a":1}`, "k"); code != 409 ||
		!strings.HasPrefix(body, `{"status":"Conflict"`) {
		t.Errorf("another body: %d %s", code, body)
	}
	valuetest.Same(t, things.Load(), 1, "things")
	for i, other := range []struct{ path, key string }{{"/things/2", "k"}, {"/things/1", "l"}, {"/things/1", ""},
		{"/things/1", ""}} {
		if code, body, _ := post(t, address+other.path, `{}`, other.key); code != 201 || things.Load() != int64(i+2) {
			t.Errorf("%+v: %d %s, %d things", other, code, body, things.Load())
		}
	}
}

func TestDecisionsPart1_IdempotencyKey_IsOneKeyOfVisibleASCII(t *testing.T) {
	address, things := repeatableAt(t, thing)
	for _, key := range []string{"a b", "é", strings.Repeat("k", 256), "\t"} {
		code, body, _ := ask(t, "POST", address+"/things/1", `{}`, "Cookie", cookie, "Idempotency-Key",
			key)
		valuetest.Same(t, code, 400, "%q %s", key, body)
	}
	code, _, _ := ask(t, "POST", address+"/things/1", `{}`, "Cookie", cookie, "Idempotency-Key", "a",
		"Idempotency-Key", "b")
	valuetest.Same(t, code, 400, "two keys")
	valuetest.Same(t, things.Load(), 0, "things")
}

func TestDecisionsPart1_IdempotencyKey_InProgressIsAConflictToBeAskedAgain(t *testing.T) {
	begun, proceed := make(chan struct{}), make(chan struct{})
	address, things := repeatableAt(t, func(c *fiber.Ctx, n int64) error {
		close(begun)
		<-proceed
		return thing(c, n)
	})
	first := make(chan string)
	go func() {
		_, body, _ := post(t, address+"/things/1", `{}`, "k")
		first <- body
	}()
	<-begun
	code, body, headers := post(t, address+"/things/1", `{}`, "k")
	if code != 409 || headers.Get("Retry-After") != "1" {
		t.Errorf("%d %s, Retry-After %q", code, body, headers.Get("Retry-After"))
	}
	close(proceed)
	want := <-first
	if code, body, _ := post(t, address+"/things/1", `{}`, "k"); code != 201 || body != want || things.Load() != 1 {
		t.Errorf("%d %s, first %s, %d things", code, body, want, things.Load())
	}
}

func TestDecisionsPart1_IdempotencyKey_FailuresAreNotRemembered(t *testing.T) {
	address, things := repeatableAt(t, func(c *fiber.Ctx, n int64) error {
		switch n {
		case 1:
			return problem.New(problem.Forbidden, "")
		case 2:
			return web.InvalidRecord(c, "thing", nil)
		case 3:
			return errors.New("broken")
		case 4:
			panic("broken")
		}
		return thing(c, n)
	})
	for i, want := range []int{403, 422, 500, 500, 201, 201} {
		code, body, _ := post(t, address+"/things/1", fmt.Sprintf(`{"try":%d}`, min(i, 4)), "k") // corrected each time
		valuetest.Same(t, code, want, "try %d %s", i, body)
	}
	valuetest.Same(t, things.Load(), 5, "times that the handler ran")
}
