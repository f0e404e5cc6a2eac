package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// site is where a local store runs.
type site struct {
	dir      string
	checkout string
	memory   int // MB of the document store; 0: its own choice
	say      *speaker
	lock     *os.File // inherited by every process, see dirLock
}

// store is a store that this package runs.
type store struct {
	name     string
	mongoURI string // one of the two
	redisURL string
	programs []program // in the order of their start
	ready    func(ctx context.Context) error
}

// setup prepares a store: its programs, its folders, its port. When it returns, no process of it is left.
type setup func(ctx context.Context, at site) (store, error)

// choice is, for each of the two stores, a configured address or a local set-up.
type choice struct {
	mongoURI string
	redisURL string
	local    []setup
}

// choose follows the order of the package's comment. It checks that configured addresses answer, and makes the folder
// of stores that are not configured.
func choose(ctx context.Context, dir string, say *speaker) (choice, error) {
	var c choice
	if c.redisURL = os.Getenv("REDIS_URL"); c.redisURL != "" {
		if err := checkRedis(ctx, c.redisURL); err != nil {
			return c, fmt.Errorf("REDIS_URL (%s): %w", masked(c.redisURL), err)
		}
		say.line("Redis: REDIS_URL (%s)", masked(c.redisURL))
	} else {
		c.local = append(c.local, redisStore)
	}
	if c.mongoURI = os.Getenv("MONGODB_URI"); c.mongoURI != "" {
		if err := checkMongo(ctx, c.mongoURI); err != nil {
			return c, fmt.Errorf("MONGODB_URI (%s): %w", masked(c.mongoURI), err)
		}
		say.line("document store: MONGODB_URI (%s)", masked(c.mongoURI))
	} else if _, err := exec.LookPath("mongod"); err == nil {
		c.local = append(c.local, mongodStore)
	} else {
		c.local = append(c.local, engineStore)
	}
	if len(c.local) == 0 {
		return c, nil
	}
	return c, os.MkdirAll(dir, 0o755)
}

// errUnprivileged is returned when the Debian root folder is needed and the user is not root.
var errUnprivileged = errors.New("only root can set up and run the stores' own programs; " +
	"put mongod and redis-server on the PATH, or set MONGODB_URI and REDIS_URL to stores that run already")
