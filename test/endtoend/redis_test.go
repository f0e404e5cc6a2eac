package endtoend_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The passwords of Redis in these tests: of its administrator, of the user of docs/operate.md, and of sentinels.
const adminPassword, userPassword, sentinelPassword = "keys-of-the-house", "only-the-bells", "watching"

// documentedUser returns the rights of the user in docs/operate.md.
func documentedUser(t *testing.T) string {
	t.Helper()
	return strings.Join(storetest.RedisRights(t, userPassword), " ")
}

// protect gives a server the documented user, and a password to its administrator.
func (n *redisNode) protect(t *testing.T) {
	t.Helper()
	n.settings = append(n.settings, "requirepass "+adminPassword, "masterauth "+adminPassword,
		"user belfry "+documentedUser(t))
	n.options.Password = adminPassword
}

// wantNothingRefused fails the test when the server refused a command for want of rights.
func (n *redisNode) wantNothingRefused(t *testing.T) {
	t.Helper()
	if entries, err := n.client.ACLLog(t.Context(), 100).Result(); err != nil || len(entries) > 0 {
		for _, e := range entries {
			t.Errorf("%s refused %s %q (%s), %d times", n.address, e.Reason, e.Object, e.Context, e.Count)
		}
		errortest.Report(t, err)
	}
}

// useRedis does everything that the services keep in Redis: sessions, kept answers, counts of failed logins, messages.
func useRedis(t *testing.T, s *servicetest.System) {
	t.Helper()
	wrong := servicetest.NewClient(t, s.Replica("identity", 0)).
		Do(t, "GET", "/api/login?uuid="+uuid.NewString(), nil, "X-Forwarded-For", "2001:db8::1")
	wrong.WantCode(t, 401)

	admin := s.Admin(t)
	key := uuid.NewString()
	person := map[string]any{"user": map[string]any{"name": "Ada", "email": key + "@school.example",
		"permissions": map[string]any{"can_api": true, "can_su": true}}}
	made := admin.Do(t, "POST", "/api/admin/users", person, "Idempotency-Key", key).Must(t, 201)
	admin.Do(t, "POST", "/api/admin/users", person, "Idempotency-Key", key).Want(t, 201, made.Body)
	pupil := admin.Import(t, "users", map[string]any{"key": key, "name": "Bo", "email": "bo" + key + "@school.example",
		"kind": "pupil"})[key]
	c := s.Login(t, made.Text(t, "user.uuid"))
	c.Put(t, "/api/sessions/1", map[string]any{"session": map[string]any{"user_id": strconv.FormatInt(pupil, 10)}}).
		WantCode(t, 200)
	a := c.Get(t, "/sessions/1/whoami")
	valuetest.Has(t, a.Body, fmt.Sprintf(`"user_id":%d`, pupil), "the switched session: %d", a.Code)
	admin.Patch(t, "/api/admin/users/"+made.At(t, "user.id"),
		map[string]any{"user": map[string]any{"permissions": map[string]any{"can_su": false}}}).WantCode(t, 200)
	c.Get(t, "/sessions/1/whoami").WantCode(t, 401)

	head := uuid.NewString()
	admin.Import(t, "users", map[string]any{"key": head, "name": "Head", "email": head + "@school.example",
		"uuid": head, "kind": "staff", "admin": true, "can_api": true})
	deleteEventWithNote(t, s, s.Login(t, head))
	admin.Get(t, "/api/logout").WantCode(t, 200)
	admin.Get(t, "/sessions/1/whoami").WantCode(t, 401)
}

// deleteEventWithNote books an event, twice with one key, and deletes it. It returns when the notes service has heard
// of it and has deleted the event's note.
func deleteEventWithNote(t *testing.T, s *servicetest.System, admin *servicetest.Client) {
	t.Helper()
	room := admin.Import(t, "locations", map[string]any{"key": "room", "name": "Room"})["room"]
	category := admin.Import(t, "eventcategories", map[string]any{"key": "c", "name": "Lesson"})["c"]
	key := uuid.NewString()
	booking := map[string]any{"event": map[string]any{"body": "Fire drill", "event_category_id": category,
		"starts_at_text": "2026-11-25 09:00", "ends_at_text": "2026-11-25 10:00"},
		"elements": []string{strconv.FormatInt(room, 10)}}
	booked := admin.Do(t, "POST", "/api/events", booking, "Idempotency-Key", key).Must(t, 200)
	admin.Do(t, "POST", "/api/events", booking, "Idempotency-Key", key).Want(t, 200, booked.Body)
	path := "/api/events/" + booked.At(t, "event.id")
	admin.Post(t, path+"/notes", map[string]any{"note": map[string]any{"contents": "bells"}}).Must(t, 200)
	admin.Delete(t, path).WantCode(t, 200)
	timetest.Eventually(t, "the notes of a deleted event are deleted", redisPatience, func() bool {
		n, err := s.DB.Collection("notes").CountDocuments(t.Context(), bson.D{})
		return err == nil && n == 0
	})
}

// crowd asks without a pause who it is, in sessions of its own, and counts what is neither 200 nor the 503 that tells
// that Redis is away.
type crowd struct {
	clients  []*servicetest.Client
	answered []atomic.Int64 // by client, how often in a row with 200
	away     atomic.Int64
	slowest  atomic.Int64
}

func newCrowd(t *testing.T, s *servicetest.System, n int) *crowd {
	t.Helper()
	c := &crowd{answered: make([]atomic.Int64, n)}
	for range n {
		c.clients = append(c.clients, s.Admin(t))
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for i := range c.clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				c.ask(t, i)
			}
		})
	}
	t.Cleanup(func() { stop(); wg.Wait() })
	return c
}

func (c *crowd) ask(t *testing.T, i int) {
	begun := time.Now()
	a, err := c.clients[i].Try(t, "GET", "/sessions/1/whoami", nil)
	c.slowest.Store(max(c.slowest.Load(), int64(time.Since(begun))))
	switch {
	case err != nil:
		t.Errorf("no answer: %v", err)
	case a.Code == 200:
		c.answered[i].Add(1)
	default:
		c.answered[i].Store(0)
		c.away.Add(1)
		if a.Code != 503 || !strings.HasPrefix(a.Body, `{"status":"Service unavailable"`) {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}
	time.Sleep(5 * time.Millisecond)
}

// served says whether every client has been answered with 200, often and without a break.
func (c *crowd) served() bool {
	for i := range c.answered {
		if c.answered[i].Load() < 20 {
			return false
		}
	}
	return true
}

// startSentinels starts a primary with two replicas, and three sentinels that have all found each other. It returns
// the servers, the primary first, and the URL for the services.
func startSentinels(t *testing.T) (servers []*redisNode, address string) {
	t.Helper()
	nodes := newRedisNodes(t, 6, false)
	servers = nodes[:3]
	for i, n := range servers {
		n.protect(t)
		n.settings = append(n.settings, "repl-diskless-sync-delay 0")
		if i > 0 {
			n.settings = append(n.settings, "replicaof 127.0.0.1 "+servers[0].port())
		}
		n.start(t)
	}
	for _, n := range nodes[3:] {
		n.settings = []string{"requirepass " + sentinelPassword, "sentinel sentinel-pass " + sentinelPassword,
			"sentinel monitor belfry 127.0.0.1 " + servers[0].port() + " 2",
			"sentinel auth-pass belfry " + adminPassword,
			"sentinel down-after-milliseconds belfry 2000", "sentinel failover-timeout belfry 5000"}
		n.options.Password = sentinelPassword
		n.start(t, "--sentinel")
	}
	for _, n := range nodes[3:] {
		timetest.Eventually(t, "a sentinel knows all", redisPatience, func() bool {
			quorum, _ := n.client.Do(t.Context(), "sentinel", "ckquorum", "belfry").Text()
			replicas, err := n.client.Do(t.Context(), "sentinel", "replicas", "belfry").Slice()
			return strings.Contains(quorum, "3 usable") && err == nil && len(replicas) == 2 &&
				strings.Count(fmt.Sprint(replicas), "master-link-status:ok") == 2
		})
	}
	u := url.URL{Scheme: "redis", User: url.UserPassword("", sentinelPassword), Host: nodes[3].address,
		RawQuery: url.Values{"addr": {nodes[4].address, nodes[5].address}, "master_name": {"belfry"},
			"username": {"belfry"}, "password": {userPassword}}.Encode()}
	return servers, u.String()
}

// primary returns the server that takes writes, of those that still run.
func primary(t *testing.T, servers []*redisNode) (n *redisNode, replicas int) {
	t.Helper()
	for _, n := range servers {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		role, err := n.client.Do(ctx, "role").Slice()
		cancel()
		if err == nil && role[0] == "master" {
			return n, len(role[2].([]any))
		}
	}
	return nil, 0
}

func TestHardToBreak_RedisSentinel_APrimaryThatDiesOrHangsIsReplacedAndEverythingGoesOn(t *testing.T) {
	servers, address := startSentinels(t)
	s := servicetest.Start(t, servicetest.Options{Env: map[string]string{"REDIS_URL": address,
		"BELFRY_REDIS_MODE": "sentinel", "BELFRY_REDIS_PREFIX": "belfry:", "BELFRY_REQUEST_TIMEOUT": "5s",
		"BELFRY_TRUSTED_PROXIES": "127.0.0.0/8"}})
	useRedis(t, s)
	c := newCrowd(t, s, 8)
	left := servers
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		timetest.Eventually(t, "all are served", redisPatience, c.served)
		var old *redisNode
		replicas := 0
		timetest.Eventually(t, "the others follow the primary", redisPatience, func() bool {
			old, replicas = primary(t, left)
			return old != nil && replicas == len(left)-1
		})
		// What a replica does not know yet ends with its primary: the sessions of the crowd are known.
		conn := old.client.Conn()
		err := conn.Set(t.Context(), "belfry:marker", "x", 0).Err()
		known, waitErr := conn.Wait(t.Context(), replicas, redisPatience).Result()
		if err != nil || waitErr != nil || int(known) != replicas || conn.Close() != nil {
			t.Fatalf("%d of %d replicas know: %v, %v", known, replicas, err, waitErr)
		}
		c.away.Store(0)
		c.slowest.Store(0)
		begun := time.Now()
		old.signal(t, signal)
		left = slices.DeleteFunc(slices.Clone(left), func(n *redisNode) bool { return n == old })
		timetest.Eventually(t, "another server is the primary", redisPatience, func() bool {
			n, _ := primary(t, left)
			return n != nil
		})
		promoted := time.Since(begun)
		for i := range c.answered {
			c.answered[i].Store(0)
		}
		timetest.Eventually(t, "all are served again", redisPatience, c.served)
		t.Logf("%v: promoted after %v, all served after %v; meanwhile %d answers of 503, the slowest answer after %v",
			signal, promoted.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond), c.away.Load(),
			time.Duration(c.slowest.Load()).Round(time.Millisecond))
		if n, _ := primary(t, left); n.client.Del(t.Context(), "belfry:stream:events").Val() != 1 {
			t.Error("the promoted server has no stream of messages")
		}
		useRedis(t, s) // with a new stream and a new group
	}
	for _, n := range left {
		n.wantNothingRefused(t)
	}
}

// startCluster starts a cluster of three primaries over TLS, each with the documented user, and returns the URL for the
// services, which names one of them.
func startCluster(t *testing.T, a *authority) (nodes []*redisNode, address string) {
	t.Helper()
	nodes = newRedisNodes(t, 3, true)
	bus := newRedisNodes(t, 3, false)
	for i, n := range nodes {
		a.secure(t, n)
		n.protect(t)
		n.settings = append(n.settings, "cluster-enabled yes", "cluster-node-timeout 5000",
			"tls-cluster yes", "cluster-port "+bus[i].port(), "cluster-announce-ip "+n.host())
		n.start(t)
		n.do(t, fmt.Sprintf("cluster addslotsrange %d %d", i*16384/3, (i+1)*16384/3-1))
		n.do(t, fmt.Sprintf("cluster set-config-epoch %d", i+1))
	}
	for i, n := range nodes[1:] {
		nodes[0].do(t, fmt.Sprintf("cluster meet %s %s %s", n.host(), n.port(), bus[i+1].port()))
	}
	for _, n := range nodes {
		timetest.Eventually(t, "a node knows the whole cluster", redisPatience, func() bool {
			info, err := n.client.ClusterInfo(t.Context()).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, "cluster_known_nodes:3") && strings.Contains(info, "cluster_size:3")
		})
	}
	return nodes, fmt.Sprintf("rediss://belfry:%s@%s", userPassword, nodes[0].address)
}

func TestHardToBreak_RedisCluster_EverythingRunsOverTLSWithTheDocumentedRights(t *testing.T) {
	a := newAuthority(t)
	nodes, address := startCluster(t, a)
	s := servicetest.Start(t, servicetest.Options{Replicas: 2, Env: map[string]string{"REDIS_URL": address,
		"BELFRY_REDIS_MODE": "cluster", "BELFRY_REDIS_PREFIX": "belfry:", "SSL_CERT_FILE": a.file,
		"BELFRY_TRUSTED_PROXIES": "127.0.0.0/8"}})
	for answering := 0; answering < 2; { // until answers are on two nodes: each user's are on one
		useRedis(t, s)
		if t.Failed() {
			return
		}
		answering = 0
		for _, n := range nodes {
			n.wantNothingRefused(t)
			if n.kinds(t)["{answers"] > 0 {
				answering++
			}
		}
	}
	for _, n := range nodes {
		t.Logf("%s holds %v", n.address, n.kinds(t))
	}
}

// kinds counts the keys of the node by what follows the prefix.
func (n *redisNode) kinds(t *testing.T) map[string]int {
	t.Helper()
	keys, err := n.client.Keys(t.Context(), "belfry:*").Result()
	errortest.None(t, err)
	kinds := map[string]int{}
	for _, key := range keys {
		key, _, _ = strings.Cut(strings.TrimPrefix(key, "belfry:"), ":")
		kinds[key]++
	}
	return kinds
}

// refused runs the migration of a service with that Redis and returns what it says when it does not start.
func refused(t *testing.T, binary, address string, variables ...string) string {
	t.Helper()
	mongoURI, _, err := storetest.URIs()
	errortest.None(t, err)
	command := exec.Command(binary, "migrate")
	command.Env = append(append(os.Environ(), "MONGODB_URI="+mongoURI, "MONGODB_DATABASE="+storetest.Mongo(t).Name(),
		"REDIS_URL="+address, "BELFRY_INTERNAL_TOKEN="+strings.Repeat("t", 32)), variables...)
	said := failing(t, command)
	for _, secret := range []string{adminPassword, userPassword, sentinelPassword, "127.0.0.1", "goroutine"} {
		valuetest.Lacks(t, said, secret, "it shows %q", secret)
	}
	return said
}

func TestHardToBreak_RedisRights_WhatIsMissingIsSaidAtTheStart(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "notes")
	errortest.None(t, checkout.Build(t.Context(), binary, "./services/notes/cmd/notes"))
	a := newAuthority(t)
	n := newRedisNodes(t, 1, false)[0]
	a.secure(t, n)
	n.protect(t)
	n.start(t)
	address := fmt.Sprintf("rediss://belfry:%s@%s/0", userPassword, n.address)
	trusted := "SSL_CERT_FILE=" + a.file
	_, port, _ := strings.Cut(n.address, ":")
	for _, c := range []struct{ name, rules, address, want string }{
		{"a command", "-zadd -xgroup|create", address,
			"its user may not use on keys that begin with belfry:: zadd, xgroup|create"},
		{"no writes", "-set", address, "its user may not use on keys that begin with belfry:: set"},
		{"scripts", "-evalsha", address, "its user may not use eval and evalsha"},
		{"the keys", "resetkeys ~other:*", address, "its user may not use on keys that begin with belfry:: set"},
		{"the password", "resetpass >another", address, "it refuses: WRONGPASS"},
		{"a user", "off", address, "it refuses: WRONGPASS"},
		{"TLS", "", "redis" + strings.TrimPrefix(address, "rediss"), "no answer"},
		{"the name in the certificate", "", strings.Replace(address, n.address, "localhost:"+port, 1),
			"its certificate is not trusted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n.do(t, "acl setuser belfry reset "+documentedUser(t)+" "+c.rules)
			valuetest.Has(t, refused(t, binary, c.address, trusted), "REDIS_URL: "+c.want)
		})
	}
	n.do(t, "acl setuser belfry reset "+documentedUser(t))
	valuetest.Has(t, refused(t, binary, address), "REDIS_URL: its certificate is not trusted", "without the authority")
	if left, err := n.client.Keys(t.Context(), "*").Result(); err != nil || len(left) > 0 {
		t.Errorf("the checks left %q, %v", left, err)
	}
}
