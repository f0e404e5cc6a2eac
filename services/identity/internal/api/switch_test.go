package api_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func path(p person, rest string) string {
	return "/api/admin/users/" + strconv.FormatInt(p.ID, 10) + rest
}

func TestPart5_7_OfTwentySwitchesOfOneSessionOneSucceeds(t *testing.T) {
	a, b, third := newPerson(t, "can_api", "can_su"), newPerson(t), newPerson(t)
	first := system(t).Login(t, a.UUID)
	cookie := first.Cookie(t)
	var mu sync.Mutex
	codes := map[int]int{}
	var alive []string
	clients := make([]*servicetest.Client, 20)
	for i := range clients {
		clients[i] = replica(t, i%2)
	}
	parallel(len(clients), func(i int) {
		target := []person{b, third}[i%2]
		answer := clients[i].Do(t, "PUT", "/api/sessions/1", switchBody(target.ID), as(cookie)...)
		mu.Lock()
		defer mu.Unlock()
		codes[answer.Code]++
		if made := clients[i].Cookie(t); made != "" {
			alive = append(alive, made)
		}
	})
	if codes[200] != 1 || codes[401] != 19 || len(alive) != 1 {
		t.Fatalf("codes %v, %d cookies; want one 200 and nineteen 401", codes, len(alive))
	}
	wantUser(t, cookie, 0, "the old session")
	system(t).Client(t).Do(t, "GET", "/sessions/1/whoami", nil, as(alive[0])...).WantCode(t, 200, "the new session")
}
