package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart1_IdempotencyKey_AUserIsMadeOnceAndItsUUIDIsNotStored(t *testing.T) {
	admin := system(t).Admin(t)
	key := uuid.NewString()
	address := key + "@school.example"
	body := map[string]any{"user": map[string]any{"name": "Once", "email": address,
		"permissions": map[string]any{"can_api": true}}}
	first := admin.At(system(t).Replica("identity", 0)).
		Do(t, "POST", "/api/admin/users", body, "Idempotency-Key", key).Must(t, 201)
	again := admin.At(system(t).Replica("identity", 1)).Do(t, "POST", "/api/admin/users", body, "Idempotency-Key", key)
	again.Want(t, 201, first.Body)
	secret := again.Text(t, "user.uuid")
	system(t).Login(t, secret)
	valuetest.Same(t, admin.Get(t, "/api/users?email="+address).Len(t, "users"), 1, "users")

	// A new uuid is not renewed once more when its answer was not heard.
	path := fmt.Sprintf("/api/admin/users/%d/uuid", again.Int(t, "user.id"))
	renewed := admin.Do(t, "POST", path, nil, "Idempotency-Key", key)
	admin.Do(t, "POST", path, nil, "Idempotency-Key", key).Want(t, 201, renewed.Body)
	next := renewed.Text(t, "uuid")
	system(t).Login(t, next)

	keys, err := system(t).Redis.Keys(t.Context(), system(t).Prefix+"answer:*").Result()
	valuetest.MustHold(t, err == nil && len(keys) >= 2, "%v, %v", keys, err)
	for _, k := range keys {
		text, err := system(t).Redis.Get(t.Context(), k).Result()
		if err != nil || strings.Contains(k+text, secret) || strings.Contains(k+text, next) ||
			strings.Contains(k+text, key) {
			t.Errorf("a secret is stored: %s %s, %v", k, text, err)
		}
	}
	if logs := system(t).Logs(); strings.Contains(logs, key) || strings.Contains(logs, next) {
		t.Error("a key or a uuid is logged")
	}
}

func TestDecisionsPart1_ETagAndIfMatch_OfAUser(t *testing.T) {
	admin := system(t).Admin(t)
	p := newPerson(t, "can_api")
	path := fmt.Sprint("/api/admin/users/", p.ID)
	old := admin.Get(t, path).Header.Get("ETag")
	admin.Do(t, "GET", path, nil, "If-None-Match", old).Want(t, 304, "")
	changed := admin.Do(t, "PATCH", path, `{"user":{"name":"Renamed","permissions":{"can_su":true}}}`, "If-Match", old)
	if changed.Code != 200 || changed.Header.Get("ETag") == old ||
		changed.Header.Get("ETag") != admin.Get(t, path).Header.Get("ETag") {
		t.Fatalf("%d %s, ETag %q", changed.Code, changed.Body, changed.Header.Get("ETag"))
	}
	for _, call := range [][2]string{{"PATCH", `{"user":{"name":""}}`}, {"DELETE", ``}} {
		admin.Do(t, call[0], path, call[1], "If-Match", old).
			Want(t, 412, `{"status":"Precondition failed","message":"the record is not at a version that If-Match names"}`)
		admin.Do(t, call[0], path, call[1], "If-Match", "x").WantCode(t, 400, call[0])
	}
	admin.Get(t, path).Want(t, 200, changed.Body)
	admin.Do(t, "DELETE", path, nil, "If-Match", changed.Header.Get("ETag")).Want(t, 200, ok)
	admin.Do(t, "DELETE", "/api/admin/users/999999", nil, "If-Match", "*").
		Want(t, 404, `{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find User with 'id'=999999"}`)
}
