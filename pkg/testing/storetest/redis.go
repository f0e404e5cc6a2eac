package storetest

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
)

// serverPatience is how long a Redis may take to start, to copy its primary, or to end.
const serverPatience = time.Minute

// RedisServer is a Redis of a test's own, which the test may flush, set back and replace by its replica.
type RedisServer struct {
	test       testing.TB // at whose end it ends, also where a part of the test has set it back
	host, port string
	dir        string
	client     *redis.Client
	process    *process.Process
}

// StartRedis starts a Redis with nothing in it. It ends with the test.
func StartRedis(t testing.TB) *RedisServer {
	t.Helper()
	addresses, err := frontdoor.Addresses(1)
	errortest.None(t, err)
	host, port, err := net.SplitHostPort(addresses[0])
	errortest.None(t, err)
	s := &RedisServer{test: t, host: host, port: port, dir: t.TempDir()}
	s.start()
	t.Cleanup(func() { s.Stop(t) })
	return s
}

// redisProgram returns the command of the redis-server on the PATH, else of the one that "make stores" has installed:
// by the loader and the libraries of its own Debian.
func redisProgram() ([]string, error) {
	if path, err := exec.LookPath("redis-server"); err == nil {
		return []string{path}, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	first := func(patterns ...string) string {
		for _, pattern := range patterns {
			if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
				return found[0]
			}
		}
		return ""
	}
	path := first(filepath.Join(cache, "belfry", "debian-*", "usr", "bin", "redis-server"))
	root := filepath.Join(path, "..", "..", "..")
	loader := first(filepath.Join(root, "lib64", "ld-linux*.so.*"), filepath.Join(root, "lib", "ld-linux*.so.*"))
	libraries := first(filepath.Join(root, "usr", "lib", "*-linux-gnu*"))
	if path == "" || loader == "" || libraries == "" {
		return nil, errors.New("no Redis to break: run \"make stores\", or put redis-server on the PATH")
	}
	return []string{loader, "--library-path", libraries, path}, nil
}

// RunRedis runs a redis-server with these arguments until the test ends, and returns once it answers. The client has
// the options, which have the server's address.
func RunRedis(t testing.TB, options *redis.Options, arguments ...string) (*redis.Client, *process.Process) {
	t.Helper()
	program, err := redisProgram()
	errortest.None(t, err)
	var log output.Buffer
	command := exec.Command(program[0], slices.Concat(program[1:], arguments)...)
	command.Stdout, command.Stderr = &log, &log
	server, err := process.Start(command)
	errortest.None(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() {
		_ = client.Close() // the test may have closed it
		_ = server.Stop(syscall.SIGKILL, serverPatience)
		if t.Failed() {
			t.Logf("redis-server at %s:\n%s", options.Addr, &log)
		}
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), serverPatience)
	defer cancel()
	answers := func(ctx context.Context) bool {
		conn, err := net.Dial("tcp", options.Addr) // the client would log each refusal
		return err == nil && conn.Close() == nil && client.Ping(ctx).Err() == nil
	}
	if err := server.Await(ctx, answers); err != nil {
		t.Fatalf("redis-server at %s: %v", options.Addr, err)
	}
	return client, server
}

// start starts the server with what was saved last, and returns once it answers.
func (s *RedisServer) start() {
	s.test.Helper()
	s.client, s.process = RunRedis(s.test, &redis.Options{Addr: net.JoinHostPort(s.host, s.port)}, "--bind", s.host,
		"--port", s.port, "--dir", s.dir, "--daemonize", "no", "--save", "", "--appendonly", "no",
		"--repl-diskless-sync-delay", "0")
}

// Stop kills the server.
func (s *RedisServer) Stop(t testing.TB) {
	t.Helper()
	if err := errors.Join(s.client.Close(), s.process.Stop(syscall.SIGKILL, serverPatience)); err != nil &&
		!errors.Is(err, redis.ErrClosed) {
		t.Error(err)
	}
}

// URL is the server's address.
func (s *RedisServer) URL() string { return "redis://" + net.JoinHostPort(s.host, s.port) + "/0" }

// Client is connected to the server, until that is set back or promoted.
func (s *RedisServer) Client() *redis.Client { return s.client }

// Save keeps what the server has now for SetBack.
func (s *RedisServer) Save(t testing.TB) {
	t.Helper()
	s.must(t, "save")
}

// SetBack kills the server and starts it with what it had at Save.
func (s *RedisServer) SetBack(t testing.TB) {
	t.Helper()
	s.Stop(t)
	s.start()
}

// Replica starts a replica, and returns when it has all that the server has.
func (s *RedisServer) Replica(t testing.TB) *RedisServer {
	t.Helper()
	replica := StartRedis(t)
	replica.must(t, "replicaof", s.host, s.port)
	timetest.Eventually(t, "a replica that has all", serverPatience, func() bool {
		copied, err := s.client.Wait(t.Context(), 1, time.Second).Result()
		return err == nil && copied == 1
	})
	return replica
}

// CutOff makes a replica miss all that its primary does from now on.
func (s *RedisServer) CutOff(t testing.TB) {
	t.Helper()
	s.must(t, "replicaof", s.host, "1") // nothing listens there
}

// Promote kills the primary of a replica; the replica takes over its address and accepts writes.
func (s *RedisServer) Promote(t testing.TB, primary *RedisServer) {
	t.Helper()
	primary.Stop(t)
	s.must(t, "replicaof", "no", "one")
	s.must(t, "config", "set", "port", primary.port)
	if err := s.client.Close(); err != nil {
		t.Error(err)
	}
	s.port = primary.port
	s.client = redis.NewClient(&redis.Options{Addr: net.JoinHostPort(s.host, s.port)})
	timetest.Eventually(t, "the replica answers as the primary", serverPatience,
		func() bool { return s.client.Ping(t.Context()).Err() == nil })
}

func (s *RedisServer) must(t testing.TB, command ...any) {
	t.Helper()
	if err := s.client.Do(t.Context(), command...).Err(); err != nil {
		t.Fatalf("%v: %v", command, err)
	}
}

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
