package api_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart2_SecureCookiesCarryTheHostPrefix(t *testing.T) {
	secure := servicetest.Start(t,
		servicetest.Options{Services: []string{"identity"}, Env: map[string]string{"BELFRY_SECURE_COOKIES": "true"}})
	a := login(t, secure.Client(t), secure.AdminUUID)
	a.Want(t, 200, ok)
	header := a.Header.Get("Set-Cookie")
	if !strings.HasPrefix(header, "__Host-scheduling_session=") || !strings.Contains(header, "secure") ||
		strings.Contains(strings.ToLower(header), "domain") {
		t.Errorf("Set-Cookie %q", header)
	}
}

func TestPart5_2_EveryFailedLoginLooksTheSame(t *testing.T) {
	withoutAPI, inactive := newPerson(t, "can_su"), newPerson(t, "can_api")
	system(t).Admin(t).Delete(t, path(inactive, "")).Want(t, 200, ok)
	c := replica(t, 0)
	var first http.Header
	look := func(name string, a servicetest.Answer) {
		a.Want(t, 401, accessDenied, name)
		for _, changing := range []string{"Date", "X-Request-Id"} {
			a.Header.Del(changing)
		}
		if first == nil {
			first = a.Header
		}
		for header := range a.Header {
			if a.Header.Get(header) != first.Get(header) || len(a.Header) != len(first) {
				t.Errorf("%s: header %s differs: %v and %v", name, header, a.Header, first)
			}
		}
	}
	for name, query := range map[string]string{
		"unknown": "?uuid=" + uuid.NewString(), "none": "", "empty": "?uuid=", "not UTF-8": "?uuid=%ff%00",
		"two":             "?uuid=a&uuid=b",
		"without can_api": "?uuid=" + withoutAPI.UUID, "inactive": "?uuid=" + inactive.UUID,
		"other letter case": "?uuid=" + strings.ToUpper(newPerson(t, "can_api").UUID),
	} {
		look(name, c.Do(t, "GET", "/api/login"+query, nil, from(freshAddress())...))
	}
	for name, uuid := range map[string]any{
		"unknown by POST": uuid.NewString(), "none by POST": nil, "empty by POST": "", "a number by POST": 7,
		"two by POST": []string{"a", "b"}, "without can_api by POST": withoutAPI.UUID,
		"inactive by POST": inactive.UUID,
	} {
		body := map[string]any{"uuid": uuid}
		look(name, c.Do(t, "POST", "/api/login", body, from(freshAddress())...))
	}
}

func TestPage_IsInTheBrowsersLanguage(t *testing.T) {
	a := system(t).Client(t).Do(t, http.MethodGet, "/api/login/oidc/none", nil, "Accept-Language", "de").Must(t, 404)
	if !strings.Contains(a.Body, `<html lang="de">`) || !strings.Contains(a.Body, "Diese Anmeldung gibt es nicht") ||
		a.Header.Get("Content-Language") != "de" || !strings.Contains(a.Header.Get("Vary"), "Accept-Language") {
		t.Errorf("%v %s", a.Header, a.Body)
	}
}

// TestLogin_ALinkInANoteLogsNoReaderIn as the user whose uuid is in it. A script of the same address may log in, and so
// may a user who types the address.
func TestLogin_ALinkInANoteLogsNoReaderIn(t *testing.T) {
	reader, writer := newPerson(t, "can_api"), newPerson(t, "can_api")
	c := system(t).Login(t, reader.UUID)
	login(t, c, writer.UUID, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate").
		Want(t, 403, `{"status":"Forbidden"}`)
	wantUser(t, c.Cookie(t), reader.ID, "the reader's session")
	for site, mode := range map[string]string{"same-origin": "cors", "none": "navigate"} {
		login(t, replica(t, 0), writer.UUID, "Sec-Fetch-Site", site, "Sec-Fetch-Mode", mode).Want(t, 200, ok)
	}
}

// parallel calls do n times at once.
func parallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// TestHardToBreak_Row05_ALoopOfWrongLoginsRefusesNoRightOneBesideIt has a loop of wrong logins at both replicas from
// the address of a school, and 200 right ones there at once. Both ways are one login, and uuids of users who may not
// log in are as wrong as that of no user.
func TestHardToBreak_Row05_ALoopOfWrongLoginsRefusesNoRightOneBesideIt(t *testing.T) {
	p, withoutAPI, inactive := newPerson(t, "can_api"), newPerson(t, "can_su"), newPerson(t, "can_api")
	system(t).Admin(t).Delete(t, path(inactive, "")).Want(t, 200, ok)
	guesses := []string{uuid.NewString(), withoutAPI.UUID, inactive.UUID}
	address := freshAddress()
	try := func(i int, uuid string) servicetest.Answer {
		by := login
		if i%3 == 0 {
			by = loginByBody
		}
		return by(t, replica(t, i%2), uuid, from(address)...)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wrong, refused atomic.Int64
	var loop sync.WaitGroup
	for i := range 4 {
		loop.Go(func() {
			for ; ctx.Err() == nil; i++ {
				switch a := try(i, guesses[i/3%len(guesses)]); a.Code {
				case 401:
					wrong.Add(1)
				case 429:
					refused.Add(1)
				default:
					t.Errorf("a wrong login: %d %s", a.Code, a.Body)
				}
			}
		})
	}
	for refused.Load() == 0 && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	parallel(200, func(i int) { try(i, p.UUID).WantCode(t, 200, "right login %d", i) })
	stop()
	loop.Wait()
	valuetest.Same(t, wrong.Load(), 10, "wrong logins were answered 401")
}

// TestHardToBreak_Row05_BodiesThatStallRefuseNoLogin has more clients without a session stall in the midst of a body
// than would fill the room for such bodies, if a login could have one of 64 KiB.
func TestHardToBreak_Row05_BodiesThatStallRefuseNoLogin(t *testing.T) {
	const stalled, each = 200, 60 << 10
	p := newPerson(t, "can_api")
	base, err := url.Parse(system(t).Replica("identity", 0))
	errortest.None(t, err)
	for range stalled {
		c, err := net.Dial("tcp", base.Host)
		errortest.None(t, err)
		defer func() { _ = c.Close() }()
		_, _ = fmt.Fprintf(c, "POST /api/login HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n{%*s", base.Host,
			64<<10, each, " ") // what it refuses it need not read
	}
	for range 20 {
		loginByBody(t, replica(t, 0), p.UUID, from(freshAddress())...).Want(t, 200, ok)
	}
}

// TestHardToBreak_Row05_OfManyLoginsAtOnceEachIsItsOwn has users log in at once, who are looked up together.
func TestHardToBreak_Row05_OfManyLoginsAtOnceEachIsItsOwn(t *testing.T) {
	people := make([]person, 12)
	for i := range people {
		people[i] = newPerson(t, "can_api")
	}
	parallel(120, func(i int) {
		c, p := replica(t, i%2), people[i%len(people)]
		if i%5 == 0 {
			login(t, c, uuid.NewString(), from(freshAddress())...).Want(t, 401, accessDenied)
			return
		}
		login(t, c, p.UUID, from(freshAddress())...).Want(t, 200, ok)
		wantUser(t, c.Cookie(t), p.ID, "a session of many that began at once")
	})
}

// TestHardToBreak_Row05_OnlyWhatWasAnsweredAsWrongCounts mixes right logins with nine wrong ones.
func TestHardToBreak_Row05_OnlyWhatWasAnsweredAsWrongCounts(t *testing.T) {
	p := newPerson(t, "can_api")
	address := freshAddress()
	replicas := []*servicetest.Client{replica(t, 0), replica(t, 1)}
	parallel(60, func(i int) {
		id, want := p.UUID, 200
		if i%6 == 0 && i > 0 {
			id, want = uuid.NewString(), 401
		}
		login(t, replicas[i%2].Copy(), id, from(address)...).WantCode(t, want, "login %d", i)
	})
	login(t, replicas[0], uuid.NewString(), from(address)...).Want(t, 401, accessDenied)
	login(t, replicas[1], uuid.NewString(), from(address)...).WantCode(t, 429)
}

// TestHardToBreak_Row05_AFloodFromOneNetworkLeavesRightLoginsAlone sends wrong logins as fast as they are answered
// from one /48, each from another address, and meanwhile right ones from there and from elsewhere.
func TestHardToBreak_Row05_AFloodFromOneNetworkLeavesRightLoginsAlone(t *testing.T) {
	const flooders, rights = 64, 100
	p := newPerson(t, "can_api")
	replicas := []*servicetest.Client{replica(t, 0), replica(t, 1)}
	wire := &http.Transport{MaxIdleConnsPerHost: flooders}
	defer wire.CloseIdleConnections()
	flooding := func(i int) *servicetest.Client { // cheaper than what it floods
		return servicetest.Connect(servicetest.ClientOptions{
			URL: system(t).Replica("identity", i), Transport: wire, Undocumented: true,
		})
	}
	network := sequence.Add(1)
	inNetwork := func(n int64) []string { return from(fmt.Sprintf("2001:db8:%x:%x::1", network, n)) }
	ctx, stop := context.WithCancel(t.Context())
	var counted, next atomic.Int64
	var flood sync.WaitGroup
	started := time.Now()
	for i := range flooders {
		flooder := flooding(i % 2)
		flood.Go(func() {
			for ctx.Err() == nil {
				switch a := login(t, flooder, uuid.NewString(), inNetwork(next.Add(1)%0xff00)...); a.Code {
				case 401:
					counted.Add(1)
				case 429:
				default:
					t.Errorf("a wrong login: %d %s", a.Code, a.Body)
				}
			}
		})
	}
	for counted.Load() < 100 && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	for i := range rights {
		headers := from(freshAddress())
		if i%2 == 0 {
			headers = inNetwork(0xff00 + int64(i)%0xff)
		}
		login(t, replicas[i%2].Copy(), p.UUID, headers...).WantCode(t, 200, "right login %d", i)
	}
	stop()
	flood.Wait()
	minutes := int64(time.Since(started) / time.Minute) // a slow machine may need more than one
	if n := counted.Load(); n < 100 || n > 100*(1+minutes) {
		t.Errorf("%d wrong logins were answered 401 in %d whole minutes, want 100 a minute", n, minutes)
	}
}

// TestSecretsAreNeitherLoggedNorStored looks for every secret that it has made the service see.
func TestSecretsAreNeitherLoggedNorStored(t *testing.T) {
	p, wrong := newPerson(t, "can_api", "can_su"), uuid.NewString()
	c := system(t).Login(t, p.UUID)
	login(t, system(t).Client(t), wrong)
	loginByBody(t, system(t).Client(t), wrong)
	loginByBody(t, system(t).Client(t), p.UUID).Want(t, 200, ok)
	first := c.Cookie(t)
	switchTo(t, c, newPerson(t).ID).Want(t, 200, ok)
	imported := uuid.NewString()
	admin := system(t).Admin(t)
	admin.Import(t, "users", map[string]any{"key": "secret", "name": "S", "email": "s@school.example",
		"uuid": imported})
	admin.ImportBatch(t, "/api/admin/import/users",
		map[string]any{"key": "secret2", "name": "S", "email": "nonsense", "uuid": wrong})
	renewed := admin.Post(t, path(p, "/uuid"), nil).Text(t, "uuid")
	secrets := []string{p.UUID, wrong, imported, renewed, system(t).AdminUUID, first, c.Cookie(t), admin.Cookie(t)}

	places := map[string]string{"the logs": system(t).Logs(), "the stores": strings.Join(system(t).Stored(t), "\n")}
	for _, known := range []string{"users: ", system(t).Prefix + "session:"} {
		valuetest.Holds(t, strings.Contains(places["the stores"], known), "%s is not there: this proves little", known)
	}
	for place, content := range places {
		valuetest.Holds(t, content != "", "%s are empty: nothing was looked at", place)
		for i, secret := range secrets {
			if secret == "" || strings.Contains(content, secret) {
				t.Errorf("secret %d of %d is in %s, or empty", i+1, len(secrets), place)
			}
		}
	}
}
