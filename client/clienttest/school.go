// Package clienttest simulates a school for tests of Belfry's programs that use the client: an HTTP server with the
// documented rules of login, import and list of elements, in memory. Nothing is promised of it.
package clienttest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/client"
)

// UUID is the administrator's.
const UUID = "0c7d8a66-58f5-4b1c-8a57-6c1f1f0e9d11"

// Batch is one import call that reached the school.
type Batch struct {
	Kind    string
	Records int
	Bytes   int
	DryRun  bool
}

// School is the server. Its fields may be read and Before set when no call is under way.
type School struct {
	URL string
	// Before, if set, sees every request first and says whether it has answered it. Calls may overlap.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// Refuse, if set, returns the errors of a record that the school refuses.
	Refuse func(kind, key string) map[string][]string

	mu       sync.Mutex
	sessions map[string]bool
	stored   map[string]map[string]*record // kind, key
	nextID   int64
	batches  []Batch
	logins   int
}

type record struct {
	id      int64
	text    string
	retired bool
}

var entityTypes = map[string]string{"Staff": "staff", "Pupil": "pupils", "Location": "locations", "Group": "groups",
	"Property": "properties", "Service": "services", "Subject": "subjects"}

// NewSchool starts a school that stops with the test.
func NewSchool(t testing.TB) *School {
	s := &School{sessions: map[string]bool{}, stored: map[string]map[string]*record{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/login", s.login)
	mux.HandleFunc("GET /api/logout", s.logout)
	mux.HandleFunc("GET /api/me", s.signedIn(s.me))
	mux.HandleFunc("POST /api/admin/import/{kind}", s.signedIn(s.importBatch))
	mux.HandleFunc("GET /api/admin/elements", s.signedIn(s.elements))
	mux.HandleFunc("DELETE /api/admin/elements/{id}", s.signedIn(s.retire))
	mux.HandleFunc("GET /api/admin/users", s.signedIn(s.users))
	// It keeps no values of categories and events, and no one has been erased.
	for _, part := range []string{"eventcategories", "export/events", "erasures"} {
		mux.HandleFunc("GET /api/admin/"+part, s.signedIn(func(w http.ResponseWriter, r *http.Request) {
			page(w, r, strings.TrimPrefix(part, "export/"), []map[string]any{})
		}))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Before == nil || !s.Before(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Batches lists the import calls that were answered.
func (s *School) Batches() []Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.batches)
}

// Logins counts the successful ones.
func (s *School) Logins() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

// Sessions counts those that have not ended.
func (s *School) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Count is the number of records of a kind that are stored and not retired.
func (s *School) Count(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.stored[kind] {
		if !r.retired {
			n++
		}
	}
	return n
}

// EndSessions makes every session answer 401.
func (s *School) EndSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

// SignedIn returns a client of the administrator, whose pauses are milliseconds in place of seconds.
func (s *School) SignedIn(t testing.TB) *client.Client {
	t.Helper()
	c, err := client.New(s.URL, client.Options{Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Login(t.Context(), UUID); err != nil {
		t.Fatal(err)
	}
	return c
}

// Answer writes an envelope.
func Answer(w http.ResponseWriter, code int, fields map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(fields) // to a client that may be gone
}

func (s *School) login(w http.ResponseWriter, r *http.Request) {
	var body struct{ UUID string }
	if json.NewDecoder(r.Body).Decode(&body) != nil || r.URL.RawQuery != "" || body.UUID != UUID {
		Answer(w, http.StatusUnauthorized, map[string]any{"status": "Access denied"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Each login makes a new id, and the old one is dead.
	if old, err := r.Cookie("scheduling_session"); err == nil {
		delete(s.sessions, old.Value)
	}
	s.logins++
	id := fmt.Sprintf("session-%d", s.logins)
	s.sessions[id] = true
	//nolint:gosec // no Secure: tests speak plain http
	http.SetCookie(w, &http.Cookie{Name: "scheduling_session", Value: id, Path: "/", HttpOnly: true})
	Answer(w, http.StatusOK, map[string]any{"status": "OK"})
}

func (s *School) logout(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cookie, err := r.Cookie("scheduling_session"); err == nil {
		delete(s.sessions, cookie.Value)
	}
	//nolint:gosec // as at the login
	http.SetCookie(w, &http.Cookie{Name: "scheduling_session", Path: "/", MaxAge: -1})
	Answer(w, http.StatusOK, map[string]any{"status": "OK"})
}

func (s *School) signedIn(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("scheduling_session")
		s.mu.Lock()
		ok := err == nil && s.sessions[cookie.Value]
		s.mu.Unlock()
		if !ok {
			Answer(w, http.StatusUnauthorized, map[string]any{"status": "Access denied"})
			return
		}
		next(w, r)
	}
}

// me answers the one user, who is an admin.
func (s *School) me(w http.ResponseWriter, _ *http.Request) {
	Answer(w, http.StatusOK, map[string]any{
		"status": "OK", "permissions": map[string]any{"can_api": true, "admin": true},
	})
}

func (s *School) importBatch(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	if _, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, 4<<20)); err != nil {
		Answer(w, http.StatusRequestEntityTooLarge, map[string]any{"status": "Payload too large"})
		return
	}
	size := body.Len()
	var records []map[string]any
	lines := bufio.NewScanner(&body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var fields map[string]any
		if err := json.Unmarshal(lines.Bytes(), &fields); err != nil {
			Answer(w, http.StatusBadRequest, map[string]any{"status": "Bad request"})
			return
		}
		records = append(records, fields)
	}
	if len(records) > 1000 || r.Header.Get("Content-Type") != "application/x-ndjson" {
		Answer(w, http.StatusBadRequest, map[string]any{"status": "Bad request"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, dryRun := r.PathValue("kind"), r.URL.Query().Get("dry_run") == "true"
	s.batches = append(s.batches, Batch{Kind: kind, Records: len(records), Bytes: size, DryRun: dryRun})
	counts := map[string]int{}
	var results []map[string]any
	for i, fields := range records {
		result := s.put(kind, fields, dryRun)
		result["index"] = i
		counts[result["result"].(string)]++
		results = append(results, result)
	}
	Answer(w, http.StatusOK, map[string]any{"status": "OK", "created": counts["created"], "updated": counts["updated"],
		"unchanged": counts["unchanged"], "failed": counts["failed"], "records": results})
}

// put imports one record.
func (s *School) put(kind string, fields map[string]any, dryRun bool) map[string]any {
	key, _ := fields["key"].(string)
	canonical, err := json.Marshal(fields)
	if err != nil {
		return map[string]any{"key": key, "result": "failed", "errors": map[string][]string{"key": {err.Error()}}}
	}
	errors := map[string][]string{}
	if s.Refuse != nil {
		errors = s.Refuse(kind, key)
	}
	if category, ok := fields["category"].(string); ok && !dryRun && s.stored["eventcategories"][category] == nil {
		errors = map[string][]string{"category": {"must exist"}}
	}
	if len(errors) > 0 {
		return map[string]any{"key": key, "result": "failed", "errors": errors}
	}
	if s.stored[kind] == nil {
		s.stored[kind] = map[string]*record{}
	}
	old := s.stored[kind][key]
	switch {
	case old != nil && old.text == string(canonical) && !old.retired:
		return map[string]any{"key": key, "result": "unchanged", "id": old.id}
	case old != nil:
		if !dryRun {
			*old = record{id: old.id, text: string(canonical)}
		}
		return map[string]any{"key": key, "result": "updated", "id": old.id}
	case dryRun:
		return map[string]any{"key": key, "result": "created"}
	}
	s.nextID++
	s.stored[kind][key] = &record{id: s.nextID, text: string(canonical)}
	return map[string]any{"key": key, "result": "created", "id": s.nextID}
}

func (s *School) elements(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	entity := query.Get("entity_type")
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]any{}
	for name, kind := range entityTypes {
		if entity != "" && entity != name {
			continue
		}
		for key, r := range s.stored[kind] {
			if !r.retired || query.Get("current") != "true" {
				list = append(list, r.element(name, key))
			}
		}
	}
	page(w, r, "elements", list)
}

func (s *School) users(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]any{}
	for _, r := range s.stored["users"] {
		user := map[string]any{}
		_ = json.Unmarshal([]byte(r.text), &user) // it was JSON
		delete(user, "uuid")
		user["id"] = r.id
		list = append(list, user)
	}
	page(w, r, "users", list)
}

// page answers a page of a list, by id.
func page(w http.ResponseWriter, r *http.Request, part string, list []map[string]any) {
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	after, _ := strconv.ParseInt(r.FormValue("after"), 10, 64)
	from, _ := strconv.ParseInt(r.FormValue("from_id"), 10, 64)
	list = slices.DeleteFunc(list, func(e map[string]any) bool { return e["id"].(int64) < max(after+1, from) })
	slices.SortFunc(list, func(a, b map[string]any) int { return cmp.Compare(a["id"].(int64), b["id"].(int64)) })
	var next any
	if limit > 0 && len(list) > limit {
		list = list[:limit]
		next = fmt.Sprint(list[len(list)-1]["id"])
	}
	Answer(w, http.StatusOK, map[string]any{"status": "OK", part: list, "next": next})
}

// element is a record as the list of elements shows it: its fields, and a name made of them.
func (r *record) element(entity, key string) map[string]any {
	fields := map[string]any{}
	_ = json.Unmarshal([]byte(r.text), &fields) // a retired one has none
	var names []string
	for _, field := range []string{"initials", "forename", "known_as", "surname", "name"} {
		if text, ok := fields[field].(string); ok {
			names = append(names, text)
		}
	}
	fields["id"], fields["key"], fields["entity_type"] = r.id, entity+":"+key, entity
	fields["name"], fields["current"] = strings.Join(names, " "), !r.retired
	return fields
}

func (s *School) retire(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range entityTypes {
		for _, record := range s.stored[kind] {
			if strconv.FormatInt(record.id, 10) == r.PathValue("id") {
				record.retired, record.text = true, ""
				Answer(w, http.StatusOK, map[string]any{"status": "OK"})
				return
			}
		}
	}
	Answer(w, http.StatusNotFound, map[string]any{"status": "Not found", "exception": "RecordNotFound",
		"message": "Couldn't find Element with 'id'=" + r.PathValue("id")})
}

// Foreign answers as a proxy does, in its own words.
func Foreign(code int, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
}

// Reset breaks the connection as the end of a process does.
func Reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}
