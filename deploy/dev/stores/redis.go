package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisStore sets up the redis-server on the PATH, else the one of the Debian root folder.
func redisStore(ctx context.Context, at site) (store, error) {
	port, folder, err := at.place("STORES_REDIS_PORT", "redis")
	if err != nil {
		return store{}, err
	}
	address := "redis://" + local(port) + "/0"
	s := store{
		name:     "Redis",
		redisURL: address,
		ready:    func(ctx context.Context) error { return awaitRedis(ctx, address) },
	}
	if path, err := exec.LookPath("redis-server"); err == nil {
		s.programs = []program{{name: "redis", signal: syscall.SIGTERM, command: func() *exec.Cmd {
			return exec.Command(path, redisSettings(port, folder)...)
		}}}
		return s, nil
	}
	root, err := debianRoot(ctx, at.say)
	if err != nil {
		return store{}, err
	}
	if err := root.own(folder, "redis"); err != nil {
		return store{}, err
	}
	s.programs = []program{{name: "redis", signal: syscall.SIGTERM, command: func() *exec.Cmd {
		return root.command(private, "redis", folder,
			append([]string{"/usr/bin/redis-server"}, redisSettings(port, inside)...)...)
	}}}
	return s, nil
}

// redisSettings make writes durable, except for the last second when the machine itself crashes.
func redisSettings(port int, folder string) []string {
	return []string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", folder, "--daemonize", "no",
		"--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
	}
}

// awaitRedis waits until Redis answers and has read its data.
func awaitRedis(ctx context.Context, address string) error {
	settings, err := redis.ParseURL(address)
	if err != nil {
		return err
	}
	client := redis.NewClient(settings)
	defer client.Close() //nolint:errcheck // nothing is in progress on it
	for {
		// Ask only when something listens: the client logs each failed connection to standard error.
		conn, err := net.Dial("tcp", settings.Addr)
		if err == nil {
			err = errors.Join(conn.Close(), client.Ping(ctx).Err())
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(30 * time.Millisecond):
		}
	}
}
