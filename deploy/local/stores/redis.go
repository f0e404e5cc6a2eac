package stores

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// redisStore sets up the redis-server on the PATH, else the one of the Debian root folder, with its data in the folder
// of the stores.
func redisStore(ctx context.Context, at site) (store, error) {
	port, folder, err := at.place("STORES_REDIS_PORT", "redis")
	if err != nil {
		return store{}, err
	}
	path, err := exec.LookPath("redis-server")
	command := func() *exec.Cmd { return exec.Command(path, redisSettings(port, folder)...) }
	if err != nil {
		root, err := debianRoot(ctx, at.say)
		if err == nil {
			err = root.own(ctx, at.say, folder, "redis")
		}
		if err != nil {
			return store{}, err
		}
		command = func() *exec.Cmd {
			arguments := append([]string{"/usr/bin/redis-server"}, redisSettings(port, inside)...)
			return root.command(private, "redis", folder, arguments...)
		}
	}
	address := "redis://" + local(port) + "/0"
	return store{
		name:     "Redis",
		redisURL: address,
		programs: []program{{name: "redis", signal: syscall.SIGTERM, command: command}},
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
