package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestAdministration_Row20_TwoActiveUsersHaveOneAddressOnlyWhereItIsMeant: two users with one address were made without
// a word, so that a search for it found two.
func TestAdministration_Row20_TwoActiveUsersHaveOneAddressOnlyWhereItIsMeant(t *testing.T) {
	admin, first, other := system(t).Admin(t), newPerson(t), newPerson(t)
	shout := strings.ToUpper(first.Email)
	create := func(fields map[string]any) servicetest.Answer {
		all := map[string]any{"name": "Second", "email": shout}
		maps.Copy(all, fields)
		return admin.Post(t, "/api/admin/users", map[string]any{"user": all})
	}
	change := func(p person, fields map[string]any) servicetest.Answer {
		return admin.Patch(t, path(p, ""), map[string]any{"user": fields})
	}
	create(nil).Must(t, 409)
	create(map[string]any{"duplicate_email": false}).Must(t, 409)
	change(other, map[string]any{"email": shout}).Must(t, 409)
	found := admin.Get(t, "/api/users?email="+first.Email).Must(t, 200)
	valuetest.Same(t, strings.Count(found.Body, `"id"`), 1, "a refused user is there: %s", found.Body)
	meant := create(map[string]any{"duplicate_email": true}).Must(t, 201)
	meant.Equal(t, "user.duplicate_email", "true")
	second := person{ID: meant.Int(t, "user.id")}
	change(second, map[string]any{"name": "Other name"}).Must(t, 200)
	change(second, map[string]any{"duplicate_email": false}).Must(t, 409)
	change(first, map[string]any{"name": "Its own address is no other's", "email": shout}).Must(t, 200)

	change(first, map[string]any{"active": false}).Must(t, 200)
	create(nil).Must(t, 409) // the second has it still
	change(second, map[string]any{"duplicate_email": false}).Must(t, 200)
	change(first, map[string]any{"active": true}).Must(t, 409)
	change(first, map[string]any{"active": true, "duplicate_email": true}).Must(t, 200)
}

func TestAdministration_Row20_OfTwoWhoAreMadeAtOnceWithOneAddressOneIs(t *testing.T) {
	admin := system(t).Admin(t)
	codes := make([]int, 8)
	parallel(len(codes), func(i int) {
		codes[i] = admin.At(system(t).Replica("identity", i%2)).Post(t, "/api/admin/users",
			map[string]any{"user": map[string]any{"name": "One", "email": "at.once@school.example"}}).Code
	})
	slices.Sort(codes)
	valuetest.List(t, codes, append([]int{201}, slices.Repeat([]int{409}, 7)...), "the answers")
}

func TestImport_Row20_ARowWithTheAddressOfAnotherFails(t *testing.T) {
	admin, stored := system(t).Admin(t), newPerson(t)
	row := func(key, email string, more ...string) map[string]any {
		r := map[string]any{"key": stored.Email + key, "name": key, "email": email}
		for _, field := range more {
			r[field] = field == "duplicate_email"
		}
		return r
	}
	rows := []map[string]any{
		row("a", strings.ToUpper(stored.Email)), row("b", "b."+stored.Email), row("c", "B."+stored.Email),
		row("d", stored.Email, "duplicate_email"), row("e", stored.Email, "active"),
	}
	for _, query := range []string{"?dry_run=true", ""} {
		a := admin.ImportBatch(t, importPath+query, rows...).Must(t, 200)
		var got []string
		for _, n := range []string{"0", "1", "2", "3", "4"} {
			got = append(got, a.Text(t, "records."+n+".result"))
		}
		valuetest.Same(t, strings.Join(got, " "), "failed created failed created created", query)
		valuetest.Has(t, a.Body, `"errors":{"email":["belongs to another active user; `)
	}
	// Fields that a row leaves out stay, so a new name is not a fault.
	changed := row("d", stored.Email)
	changed["name"] = "D"
	a := admin.ImportBatch(t, importPath, changed).Must(t, 200)
	valuetest.Same(t, a.Text(t, "records.0.result"), "updated", a.Body)
}

// TestImport_Row20_WhoHasAnAddressKeepsItBesideOthersWhoAreMeantToHaveIt: the row of its owner failed, and that of
// another passed, depending on whom the store returned last.
func TestImport_Row20_WhoHasAnAddressKeepsItBesideOthersWhoAreMeantToHaveIt(t *testing.T) {
	admin, owner := system(t).Admin(t), row(nil)
	admin.Import(t, "users", owner)
	shared := map[string]any{"email": owner["email"], "duplicate_email": true}
	first, second := row(shared), row(shared)
	admin.Import(t, "users", first, second)
	for _, query := range []string{"?dry_run=true", ""} {
		a := admin.ImportBatch(t, importPath+query, with(owner, "name", "New name"),
			with(first, "duplicate_email", false), with(second, "duplicate_email", false)).Must(t, 200)
		for i, want := range []string{"updated", "failed", "failed"} {
			valuetest.Same(t, a.Text(t, fmt.Sprintf("records.%d.result", i)), want,
				"%s: record %d is …: %s", query, i, a.Body)
		}
	}
}
