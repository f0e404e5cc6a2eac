package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// commands are all that Belfry sends to Redis, with arguments that change nothing: where KEY is a short-lived text,
// commands for other types fail after their rights have been checked. docs/operate.md has them as a line for an ACL; a
// test compares both.
var commands = []string{
	"set KEY x px 1000", // the first: it makes KEY
	"ping", "time", "info replication", "get KEY", "pexpire KEY 1000", "pttl KEY",
	"hmget KEY x", "hset KEY x x",
	"sadd KEY x", "smembers KEY", "srem KEY x",
	"zadd KEY 0 x", "zcard KEY", "zrange KEY 0 0", "zrangebyscore KEY 0 0", "zrem KEY x", "zremrangebyscore KEY 0 0",
	"lindex KEY 0", "lpop KEY", "rpush KEY x", "incrby KEY 1", "decrby KEY 1",
	"xadd KEY * x x", "xack KEY x 0-0", "xautoclaim KEY x x 0 0", "xgroup|create KEY x 0 mkstream",
	"xinfo|groups KEY", "xreadgroup group x x streams KEY >",
	"del KEY", // the last
}

// try runs commands and returns the names of those that the user may not use. ARGV: each as a list in JSON.
var try = redis.NewScript(`
local denied = {}
for _, text in ipairs(ARGV) do
  local command = cjson.decode(text)
  local name = table.remove(command, 1)
  local answer = redis.pcall(unpack(command))
  if type(answer) == 'table' and answer.err and string.find(answer.err, 'ACL failure', 1, true) then
    table.insert(denied, name)
    if #denied == 1 and name == 'set' then break end
  end
end
return denied`)

// checkRights returns an error that names the commands that the user may not use on keys with that prefix. In a
// cluster it asks each primary, since each has users of its own.
func checkRights(ctx context.Context, client redis.UniversalClient, prefix string) error {
	var arguments []any
	for _, c := range commands {
		words := strings.Fields(c)
		for i, w := range words {
			if w == "KEY" {
				words[i] = prefix + "rights"
			}
		}
		text, err := json.Marshal(append([]string{words[0]}, append(strings.Split(words[0], "|"), words[1:]...)...))
		if err != nil {
			return fmt.Errorf("encode a command: %w", err)
		}
		arguments = append(arguments, text)
	}
	check := func(ctx context.Context, node redis.Scripter) error {
		denied, err := try.Eval(ctx, node, nil, arguments...).StringSlice()
		if err == nil {
			err = try.EvalSha(ctx, node, nil, arguments...).Err()
		}
		switch {
		case err != nil && strings.HasPrefix(err.Error(), "NOPERM"):
			return errors.New("its user may not use eval and evalsha")
		case err != nil:
			return explain(err)
		case len(denied) > 0:
			return fmt.Errorf("its user may not use on keys that begin with %s: %s", prefix, strings.Join(denied, ", "))
		}
		return nil
	}
	if cluster, ok := client.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			return check(ctx, node)
		})
	}
	return check(ctx, client)
}
