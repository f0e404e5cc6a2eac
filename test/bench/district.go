package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
)

// listed is how many records a page of the administrators' lists has.
const listed = 100

// findSchools finds the groups of the schools, where there are several.
func (p *picker) findSchools() error {
	if p.school.options.schools < 2 {
		return nil
	}
	for n := range p.school.options.schools {
		keys := demo.KeysOf(n + 1)
		for key, found := range map[string]*[]element{keys.Group: &p.own, keys.Rooms: &p.rooms} {
			at := slices.IndexFunc(p.at["Group"], func(e element) bool { return e.key == key })
			if at < 0 {
				return fmt.Errorf("there is no %s", key)
			}
			*found = append(*found, p.at["Group"][at])
		}
	}
	return nil
}

// lists returns what administrators list, and a search by school. The only school's administrator is an admin, and
// its search needs no school.
func (p picker) lists(ctx context.Context) ([]call, error) {
	users, pupils := fmt.Sprintf("/api/admin/users?limit=%d", listed),
		fmt.Sprintf("/api/admin/elements?entity_type=Pupil&current=true&limit=%d", listed)
	one := func(path string) func() request { return func() request { return request{path: path} } }
	calls := []call{
		get(nameOfSchool, samples, func() request {
			path := "/api/elements?namelike=" + parts[p.dice.IntN(len(parts))]
			if len(p.own) > 0 {
				path += fmt.Sprintf("&school=%d", p.own[p.dice.IntN(len(p.own))].id)
			}
			return request{path: path}
		}),
		get(allUsers, 1, one(users)), get(allPupils, 1, one(pupils)),
		get(schoolUsers, 1, one(users)), get(schoolPupils, 1, one(pupils)),
	}
	if len(p.own) == 0 {
		return calls, nil
	}
	cookie, err := p.school.administer(ctx, p.own[len(p.own)-1].id, demo.KeysOf(len(p.own)).Head)
	if err != nil {
		return nil, fmt.Errorf("the administrator of a school: %w", err)
	}
	for i := range calls {
		if calls[i].name == schoolUsers || calls[i].name == schoolPupils {
			calls[i].cookie = cookie
		}
	}
	return calls, nil
}

// administer makes the user with a key the administrator of a school, and returns the cookie of a session of theirs.
func (s *school) administer(ctx context.Context, group int64, key string) (string, error) {
	var user int64
	for record, err := range s.client.List(ctx, "/api/admin/users", "users", nil) {
		if err != nil {
			return "", err
		}
		if record.Text("key") == key {
			user = record.ID("id")
			break
		}
	}
	if user == 0 {
		return "", fmt.Errorf("there is no user with the key %s", key)
	}
	_, err := s.client.Change(ctx, "/api/admin/users/"+strconv.FormatInt(user, 10), "user",
		map[string]any{"admin_of": []int64{group}})
	if err != nil {
		return "", err
	}
	uuid, err := s.client.NewUUID(ctx, user)
	if err != nil {
		return "", err
	}
	as, err := client.New(s.local.URL, client.Options{UserAgent: "belfry-bench"})
	if err != nil {
		return "", err
	}
	if err := as.Login(ctx, uuid); err != nil {
		return "", err
	}
	return as.Cookie()
}
