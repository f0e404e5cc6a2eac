package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// machine says what was measured and on what. Parts that don't answer are unknown.
func (s *school) machine(ctx context.Context) string {
	commit, hardware := "unknown", "unknown processors"
	if printed, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		commit = strings.TrimSpace(string(printed))
	}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if info, err := fs.CPUInfo(); err == nil && len(info) > 0 {
			hardware = fmt.Sprintf("%d × %s", len(info), cmp.Or(info[0].ModelName, "unknown processor"))
		}
	}
	server, _ := redisInfo(ctx, s.stores.RedisURL, "server")
	return fmt.Sprintf("Belfry %s, %s, on %s; %s, document store %s, Redis %s, wrk %s", commit,
		time.Now().UTC().Format(time.DateOnly), hardware, runtime.Version(), s.engine,
		cmp.Or(server["redis_version"], "unknown"), wrkVersion(ctx))
}

// engineOf returns the name and version of a document store.
func engineOf(ctx context.Context, client *mongo.Client) (string, error) {
	var info struct {
		Version string `bson:"version"`
		Engine  struct {
			Version string `bson:"version"`
		} `bson:"ferretdb"`
	}
	err := client.Database("admin").RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&info)
	if info.Engine.Version != "" {
		return "FerretDB " + info.Engine.Version + " on PostgreSQL", err
	}
	return "MongoDB " + info.Version, err
}

// redisInfo returns the fields of a section.
func redisInfo(ctx context.Context, url, section string) (map[string]string, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	client := redis.NewClient(o)
	defer func() { _ = client.Close() }() // it has told what it knows
	text, err := client.Info(ctx, section).Result()
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields[name] = value
	}
	return fields, err
}

// wrkVersion reads the first line of its help, "wrk 4.1.0 [epoll] …".
func wrkVersion(ctx context.Context) string {
	printed, _ := exec.CommandContext(ctx, "wrk", "-v").CombinedOutput() // it ends with 1
	if words := strings.Fields(string(printed)); len(words) > 1 {
		return words[1]
	}
	return "unknown"
}
