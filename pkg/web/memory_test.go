package web_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// A service of 256 MiB once was killed by 70 connections and 6,860 bytes: it made room for what they declared, before
// anybody was asked who they are.
func TestHardToBreak_Row01_WhatIsDeclaredOrStalledTakesNoMemory(t *testing.T) {
	const limit = 200 << 10 // KiB
	system := servicetest.Start(t, servicetest.Options{
		Services: []string{"identity"}, NoRace: true, Env: map[string]string{"GOMEMLIMIT": "230MiB"},
	})
	admin, other := login(t, system, system.AdminUUID), secondAdmin(t, system)
	address := strings.TrimPrefix(system.Replica("identity", 0), "http://")
	before := memory(t, system, "VmRSS")

	const head = "POST /api/admin/import/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n" +
		"Content-Length: 4194304\r\n"
	session := "Cookie: " + admin.SessionCookie().String() + "\r\n"
	part := strings.Repeat("x", 1<<20)
	var wg sync.WaitGroup
	var first net.Conn // sends headers and nothing more
	send := func(n int, text string) {
		for range n {
			connection, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = connection.Close() })
			if first == nil {
				first = connection
			}
			_ = connection.SetDeadline(time.Now().Add(20 * time.Second))
			wg.Go(func() { _, _ = io.WriteString(connection, text) }) // stops where the service stops reading
		}
	}
	send(1000, head+"\r\n")
	send(100, head+"\r\n"+part)
	send(100, head+session+"\r\n"+part)
	send(100, head+session+"\r\n"+part+part+part)

	slowest := time.Duration(0)
	for i := range 50 {
		begun := time.Now()
		other.Do(t, http.MethodPost, "/api/admin/users", newUser(i)).WantCode(t, http.StatusCreated)
		other.Do(t, http.MethodGet, "/api/sessions/1/whoami", nil).WantCode(t, http.StatusOK)
		slowest = max(slowest, time.Since(begun))
		time.Sleep(50 * time.Millisecond)
	}
	peak := memory(t, system, "VmHWM")
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

func login(t *testing.T, system *servicetest.System, uuid string) *servicetest.Client {
	t.Helper()
	c := servicetest.NewClient(t, system.URL)
	c.Get(t, "/api/login?uuid="+uuid).WantCode(t, http.StatusOK)
	return c
}

func newUser(i int) map[string]any {
	return map[string]any{"user": map[string]any{
		"name": "A", "email": fmt.Sprintf("a%d@school.example", i), "kind": "staff",
		"permissions": map[string]any{"admin": true},
	}}
}

func secondAdmin(t *testing.T, system *servicetest.System) *servicetest.Client {
	t.Helper()
	made := login(t, system, system.AdminUUID).Do(t, http.MethodPost, "/api/admin/users", newUser(1000))
	made.WantCode(t, http.StatusCreated)
	return login(t, system, made.Text(t, "user.uuid"))
}

// memory returns a figure of the service's process in KiB.
func memory(t *testing.T, system *servicetest.System, name string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", system.PID("identity", 0)))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kib
		}
	}
	t.Fatalf("/proc does not say %s", name)
	return 0
}
