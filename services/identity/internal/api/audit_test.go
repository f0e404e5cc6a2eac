package api_test

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestAdministration_AuditOfAUserFromTheFirstDayToTheLast(t *testing.T) {
	admin := system(t).Admin(t)
	p := newPerson(t, "can_api")
	user := fmt.Sprintf("/api/admin/users/%d", p.ID)
	admin.Patch(t, user, map[string]any{"user": map[string]any{"name": "Anna",
		"permissions": map[string]bool{"can_su": true}}})
	admin.Patch(t, user, map[string]any{"user": map[string]any{"name": "Anna"}}) // changes nothing
	admin.Patch(t, user, map[string]any{"user": map[string]any{"name": ""}})     // is refused
	renewed := admin.Post(t, user+"/uuid", nil)
	admin.Delete(t, user+"/sessions")
	admin.Delete(t, user)
	lines := admin.AuditTexts(t, "identity", fmt.Sprintf("record=User:%d", p.ID))
	record := fmt.Sprintf("User:%d", p.ID)
	want := []string{
		"deactivate " + record + ": active true → false",
		"end_session " + record,
		"renew_uuid " + record + ": uuid →",
		"update " + record + ": name Person → Anna, permissions can_api → can_api,can_su",
		"create " + record + ": name → Person, email → " + p.Email +
			", kind → staff, active → true, permissions → can_api, uuid →",
	}
	valuetest.Equal(t, want, lines)
	all := admin.Get(t, "/api/admin/audit/identity?limit=1000").Body
	if strings.Contains(all, p.UUID) || strings.Contains(all, renewed.Text(t, "uuid")) {
		t.Error("the audit holds a uuid")
	}
}

func TestAdministration_AuditTellsWhoAsWhomFromWhereAndInWhichRequest(t *testing.T) {
	const address, request = "198.51.100.23", "test-request-1"
	boss, target := newPerson(t, "admin"), newPerson(t, "can_api", "admin")
	from := []string{"X-Forwarded-For", address, "X-Request-Id", request,
		"Belfry-Actor", `{"user":1,"from":"192.0.2.1"}`, // only a neighbour may say so
	}
	c := system(t).Client(t).At(system(t).Replica("identity", 0)) // the front door would say that it is its client
	c.Do(t, "GET", "/api/login?uuid="+url.QueryEscape(boss.UUID), nil, from...).Want(t, 200, ok)
	c.Do(t, "PUT", "/api/sessions/1", map[string]any{"session": map[string]any{"user_id": target.ID}}, from...).Want(t,
		200, ok)
	c.Do(t, "DELETE", fmt.Sprintf("/api/admin/users/%d/sessions", newPerson(t).ID), nil, from...).Want(t, 200, ok)
	c.Do(t, "PUT", "/api/sessions/1/revert", nil, from...).Want(t, 200, ok)
	lines := system(t).Admin(t).Audit(t, "identity", fmt.Sprintf("user=%d", boss.ID))
	var got []string
	for _, l := range lines {
		valuetest.Holds(t, l.From == address && l.Request == request, "%s from %q in %q", l, l.From, l.Request)
		at, err := time.Parse("2006-01-02T15:04:05.000-07:00", l.At) // as in every other answer
		valuetest.Holds(t, err == nil && time.Since(at) <= time.Minute, "%s at %q", l, l.At)
		who := fmt.Sprintf("%d", *l.UserID)
		if l.OriginalID != nil {
			who = fmt.Sprintf("%d as %d", *l.OriginalID, *l.UserID)
		}
		got = append(got, who+" "+l.Action)
	}
	asTarget := fmt.Sprintf("%d as %d ", boss.ID, target.ID)
	want := []string{asTarget + "revert", asTarget + "end_session", fmt.Sprintf("%d switch", boss.ID),
		fmt.Sprintf("%d login", boss.ID)}
	valuetest.Equal(t, want, got)
}

func TestAdministration_AuditOfAnImportIsOfTheBatch(t *testing.T) {
	admin, mark := newPerson(t, "admin"), fmt.Sprint(sequence.Add(1))
	c := system(t).Login(t, admin.UUID)
	record := func(key, name string) map[string]any {
		return map[string]any{"key": "audit" + mark + key, "name": name, "email": mark + key + "@school.example"}
	}
	c.Import(t, "users", record("a", "A"), record("b", "B"))
	c.Import(t, "users", record("a", "A"), record("b", "B"))                                         // writes nothing
	c.ImportBatch(t, "/api/admin/import/users?dry_run=true", record("a", "X"))                       // writes nothing
	c.ImportBatch(t, "/api/admin/import/users", record("a", "Z"), record("b", "B"), record("c", "")) // one of each
	got := c.AuditTexts(t, "identity", fmt.Sprintf("record=Import:users&user=%d", admin.ID))
	keys := func(n int, last string) string {
		return fmt.Sprintf("records → %d, first_key → audit%sa, last_key → audit%s%s", n, mark, mark, last)
	}
	want := []string{
		"imported Import:users: " + keys(3, "c") + ", created → 0, updated → 1, unchanged → 1, failed → 1",
		"import Import:users: " + keys(3, "c"),
		"imported Import:users: " + keys(2, "b") + ", created → 2, updated → 0, unchanged → 0, failed → 0",
		"import Import:users: " + keys(2, "b"),
	}
	valuetest.Equal(t, want, got)
}

func TestAdministration_AuditTellsOfTheFirstAdministratorThatTheSystemMadeIt(t *testing.T) {
	admin := system(t).Admin(t)
	// Any replica may have made the first administrator, with an id of its own.
	record := fmt.Sprintf("User:%d", admin.Get(t, "/sessions/1/whoami").Int(t, "user_id"))
	// The entry is the oldest, on the last page: other tests log in as this user all the time.
	var oldest servicetest.AuditLine
	for after := ""; ; {
		var page struct {
			Entries []servicetest.AuditLine
			Next    *string
		}
		answer := admin.Get(t, fmt.Sprintf("/api/admin/audit/identity?record=%s&limit=1000&after=%s", record, after))
		answer.Decode(t, &page)
		if answer.Code != 200 || len(page.Entries) == 0 {
			t.Fatalf("the audit of %s: %d %s", record, answer.Code, answer.Body)
		}
		oldest = page.Entries[len(page.Entries)-1]
		if page.Next == nil {
			break
		}
		after = *page.Next
	}
	if oldest.Action != "create" || oldest.Record != record || oldest.UserID != nil || oldest.From != "" {
		t.Errorf("%+v", oldest)
	}
}

func TestHardToBreak_Row16_EachChangeOfRightsByImportHasAnEntryOfItsOwn(t *testing.T) {
	admin, key := system(t).Admin(t), fmt.Sprint("rights", sequence.Add(1))
	row := func(name string, more map[string]any) map[string]any {
		all := map[string]any{"key": key, "name": name, "email": "r@school.example"}
		maps.Copy(all, more)
		return all
	}
	secret := uuid.NewString()
	id := admin.Import(t, "users", row("A", map[string]any{"can_api": true}))[key]
	for _, next := range []map[string]any{
		row("B", map[string]any{"can_api": true}), // a name is no right
		row("B", map[string]any{"can_api": true, "can_su": true}),
		row("B", map[string]any{"can_api": true, "can_su": true}), // unchanged
		row("C", map[string]any{"kind": "pupil", "can_api": true, "uuid": secret}),
		row("C", map[string]any{"kind": "pupil", "can_api": true, "uuid": secret, "active": false}),
		// By the address a provider logs the user in.
		row("D", map[string]any{"kind": "pupil", "can_api": true, "email": "s@school.example"}),
		row("D", map[string]any{"kind": "pupil", "can_api": true, "email": "s@school.example",
			"duplicate_email": true}),
	} {
		admin.Import(t, "users", next)
	}
	record := fmt.Sprintf("User:%d", id)
	want := []string{
		"update " + record + ": duplicate_email → true",
		"update " + record + ": email r@school.example → s@school.example",
		"deactivate " + record + ": active true → false",
		"update " + record + ": kind staff → pupil, permissions can_api,can_su → can_api, uuid →",
		"update " + record + ": permissions can_api → can_api,can_su",
		"create " + record + ": kind → staff, active → true, permissions → can_api, uuid →",
	}
	valuetest.Equal(t, want, admin.AuditTexts(t, "identity", "record="+record))
	valuetest.Lacks(t, admin.Get(t, "/api/admin/audit/identity?limit=1000").Body, secret, "the audit holds a uuid")
}

func TestHardToBreak_Row16_AFailedLoginLogsItsAddressAndNeverTheUUID(t *testing.T) {
	const wrong = "a-wrong-uuid-of-the-test"
	address := freshAddress()
	for range 11 { // the last is refused
		login(t, replica(t, 0), wrong, from(address)...)
	}
	// A line is written before its answer is sent, and read from the process a moment later.
	var lines []string
	for deadline := time.Now().Add(time.Minute); len(lines) < 11 && time.Now().Before(deadline); {
		lines = nil
		for line := range strings.Lines(system(t).Logs()) {
			if strings.Contains(line, `"msg":"a login failed"`) && strings.Contains(line, `"from":"`+address+`"`) {
				lines = append(lines, line)
			}
		}
	}
	refused := 0
	for _, line := range lines {
		valuetest.Holds(t, strings.Contains(line, `"request":"`) && strings.Contains(line, `"level":"WARN"`), line)
		if strings.Contains(line, `"code":429`) {
			refused++
		}
	}
	valuetest.Holds(t, len(lines) == 11 && refused == 1, "%d lines, %d of a refused login", len(lines), refused)
	valuetest.Lacks(t, system(t).Logs(), wrong, "the uuid is in the log")
}
