package storetest

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// RedisRights returns the rights of Belfry's user that docs/operate.md gives, as ACL SETUSER and a configuration have
// them after the user's name. The user has the password.
func RedisRights(t testing.TB, password string) []string {
	t.Helper()
	_, rules, found := strings.Cut(checkout.Read(t, "docs/operate.md"), "ACL SETUSER belfry ")
	rules, _, whole := strings.Cut(rules, "```")
	if !found || !whole {
		t.Fatal("docs/operate.md has no user of Redis")
	}
	return strings.Fields(strings.NewReplacer("\\\n", " ", "'", "", `">$PASSWORD"`, ">"+password).Replace(rules))
}
