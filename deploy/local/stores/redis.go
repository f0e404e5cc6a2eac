package stores

import (
	"context"
	"io"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// RedisServer is the redis-server on the PATH, else the one of the Debian root folder.
type RedisServer struct {
	path string // "" for Debian's
	root debian
}

// FindRedisServer installs Debian's redis-server when there is none on the PATH. out gets a line per step.
func FindRedisServer(ctx context.Context, out io.Writer) (RedisServer, error) {
	if path, err := exec.LookPath("redis-server"); err == nil {
		return RedisServer{path: path}, nil
	}
	root, err := debianRoot(ctx, &speaker{out: out})
	return RedisServer{root: root}, err
}

// Sees returns the path by which a redis-server of Command sees its folder.
func (r RedisServer) Sees(folder string) string {
	if r.path != "" {
		return folder
	}
	return inside
}

// Own gives the server its folder with all in it. Call it before Command, and after something was put there.
func (r RedisServer) Own(folder string) error {
	if r.path != "" {
		return nil
	}
	return r.root.own(folder, "redis")
}

// Command returns the command of a redis-server that reads and writes in the folder.
func (r RedisServer) Command(folder string, arguments ...string) *exec.Cmd {
	if r.path != "" {
		return exec.Command(r.path, arguments...)
	}
	return r.root.command(private, "redis", folder, append([]string{"/usr/bin/redis-server"}, arguments...)...)
}

// redisStore sets up a Redis with its data in the folder of the stores.
func redisStore(ctx context.Context, at site) (store, error) {
	port, folder, err := at.place("STORES_REDIS_PORT", "redis")
	if err != nil {
		return store{}, err
	}
	server, err := FindRedisServer(ctx, at.say)
	if err != nil {
		return store{}, err
	}
	if err := server.Own(folder); err != nil {
		return store{}, err
	}
	address := "redis://" + local(port) + "/0"
	return store{
		name:     "Redis",
		redisURL: address,
		programs: []program{{name: "redis", signal: syscall.SIGTERM, command: func() *exec.Cmd {
			return server.Command(folder, redisSettings(port, server.Sees(folder))...)
		}}},
		ready: func(ctx context.Context) error {
			return retry(ctx, 30*time.Millisecond, func() error { return checkRedis(ctx, address) })
		},
	}, nil
}

// redisSettings make writes durable, except for the last second when the machine itself crashes.
func redisSettings(port int, folder string) []string {
	return []string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", folder, "--daemonize", "no",
		"--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
	}
}
