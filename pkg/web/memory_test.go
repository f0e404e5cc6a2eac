package web_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// TestHardToBreak_Row01_WhatIsDeclaredOrStalledTakesNoMemory has 1,000 connections that send headers alone, 200 bodies
// of 4 MiB that stall, and more of both on the listener for other services. A service of 256 MiB once was killed by 70
// connections and 6,860 bytes: it made room for what they declared, before anybody was asked who they are.
func TestHardToBreak_Row01_WhatIsDeclaredOrStalledTakesNoMemory(t *testing.T) {
	const limit = 200 << 10 // KiB
	system := servicetest.Start(t, servicetest.Options{
		Services: []string{"identity"}, NoRace: true, Env: map[string]string{"GOMEMLIMIT": "230MiB"},
	})
	admin, other := system.Admin(t), anotherAdmin(t, system)
	public := strings.TrimPrefix(system.Replica("identity", 0), "http://")
	internal := system.Internal("identity", 0)
	before, _ := system.Memory(t, "identity", 0)

	const head = "POST /api/admin/import/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n" +
		"Content-Length: 4194304\r\n"
	var admins []string // each with a session; the first is one
	for range 2 {
		admins = append(admins, "Cookie: "+admin.SessionCookie().String()+"\r\n")
		admin = anotherAdmin(t, system)
	}
	part := strings.Repeat("x", 1<<20)
	var wg sync.WaitGroup
	var first net.Conn // sends headers and nothing more
	send := func(address string, n int, text string) {
		for range n {
			connection := dial(t, address)
			if first == nil {
				first = connection
			}
			wg.Go(func() { _, _ = io.WriteString(connection, text) }) // stops where the service stops reading
		}
	}
	send(public, 1000, head+"\r\n")
	send(public, 100, head+"\r\n"+part)
	for _, session := range admins {
		send(public, 50, head+session+"\r\n"+part)
		send(public, 50, head+session+"\r\n"+part+part+part+part[1:])
	}
	const question = "POST /internal/users HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n"
	send(internal, 300, question+"\r\n")
	send(internal, 12, question+"Authorization: Bearer "+system.Token+"\r\n\r\n"+part[1:])

	slowest := time.Duration(0)
	for i := range 50 {
		begun := time.Now()
		other.Do(t, http.MethodPost, "/api/admin/users", newUser(i)).WantCode(t, http.StatusCreated)
		other.Do(t, http.MethodGet, "/api/sessions/1/whoami", nil).WantCode(t, http.StatusOK)
		slowest = max(slowest, time.Since(begun))
		time.Sleep(50 * time.Millisecond)
	}
	_, peak := system.Memory(t, "identity", 0)
	t.Logf("resident before %d KiB, at most %d KiB; slowest pair of well-behaved requests %v", before, peak, slowest)
	if peak >= limit {
		t.Errorf("the service took %d KiB, at most %d are allowed", peak, limit)
	}
	wg.Wait()
	answer, err := io.ReadAll(first)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") ||
		!strings.HasSuffix(string(answer), `{"status":"Bad request"}`) {
		t.Errorf("a body that did not come in time: got %q, %v", answer, err)
	}
	other.Do(t, http.MethodPost, "/api/admin/users", newUser(50)).WantCode(t, http.StatusCreated)
}

func newUser(i int) map[string]any {
	return map[string]any{"user": map[string]any{
		"name": fmt.Sprint("A", i), "email": strings.ToLower(rand.Text()) + "@school.example", "kind": "staff",
		"permissions": map[string]any{"admin": true},
	}}
}

func anotherAdmin(t *testing.T, system *servicetest.System) *servicetest.Client {
	t.Helper()
	made := system.Admin(t).Do(t, http.MethodPost, "/api/admin/users", newUser(1000))
	made.WantCode(t, http.StatusCreated)
	return system.Login(t, made.Text(t, "user.uuid"))
}
