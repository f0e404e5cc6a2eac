package stores

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/belfry-schools/belfry/deploy/local/progress"
)

// postgresMajor is the version of PostgreSQL in the root folder; it cannot open data of another version.
const postgresMajor = "18"

const postgresPrograms = "/usr/lib/postgresql/" + postgresMajor + "/bin/"

// preloaded are the libraries that DocumentDB needs.
const preloaded = "shared_preload_libraries=pg_cron,pg_documentdb_core,pg_documentdb"

// postgresSettings go on the command line, so that they are those of this source code and not of the run that made
// the data.
var postgresSettings = []string{
	// No TCP: only the engine connects, over a socket in a folder that is closed to others.
	"listen_addresses=",
	"unix_socket_directories=" + inside,
	"unix_socket_permissions=0700",
	"max_connections=200",
	"max_worker_processes=32",
	"shared_buffers=256MB",
	"max_wal_size=2GB",
	"jit=off",
	// Writers of one unique key wait for each other until this ends all but one. A machine with much to do spends
	// less of a request's time on it than with the second that is the default.
	"deadlock_timeout=200ms",
	// Acknowledged writes survive a crash. These are the defaults, set explicitly because tests rely on them.
	"fsync=on",
	"synchronous_commit=on",
	"full_page_writes=on",
	// What DocumentDB needs. It and pg_cron connect back to this server.
	preloaded,
	"cron.database_name=postgres",
	"cron.use_background_workers=on",
	"cron.log_run=off",
	"cron.log_statement=off",
	"documentdb.localhost_connection_string=host=" + inside,
	// createIndexes builds the index before it returns, instead of leaving it to a job that runs every two seconds.
	"documentdb.force_index_builds_blocking=on",
	// An index that fits is used however few documents there are, as MongoDB does. Otherwise the plan for a test's
	// small collection depends on when statistics were gathered.
	"enable_seqscan=off",
	// Rows and statements hold documents, so the log leaves them out.
	"log_error_verbosity=terse",
	"log_min_error_statement=panic",
	"log_checkpoints=off",
}

// postgresMemory makes the C library keep up to 16 MB that a process has freed, for its next statement. By default it
// decides by what was allocated before, and some processes return it and fetch it again with each statement: the
// extension sorts by itself what each key of an $in finds.
var postgresMemory = []string{"MALLOC_TRIM_THRESHOLD_=16777216", "MALLOC_MMAP_THRESHOLD_=8388608"}

// engineStore sets up PostgreSQL with DocumentDB from the Debian root folder, and the engine in front of it.
func engineStore(ctx context.Context, at site) (store, error) {
	root, err := debianRoot(ctx, at.say)
	if err != nil {
		return store{}, err
	}
	binary, err := engineBinary(ctx, at)
	if err != nil {
		return store{}, err
	}
	folder, state := filepath.Join(at.dir, "postgres"), filepath.Join(at.dir, "engine")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.MkdirAll(state, 0o700)); err != nil {
		return store{}, err
	}
	if err := cluster(ctx, at, root, folder); err != nil {
		return store{}, err
	}
	port, err := at.port("STORES_MONGO_PORT")
	if err != nil {
		return store{}, err
	}
	uri := "mongodb://" + local(port) + "/"
	return store{
		name:     "the document store (PostgreSQL and the engine)",
		mongoURI: uri,
		programs: []program{
			{name: "postgres", signal: syscall.SIGINT, command: func() *exec.Cmd {
				return postgres(root, folder, at.memory)
			}},
			{name: "engine", signal: syscall.SIGTERM, command: func() *exec.Cmd {
				cmd := exec.Command(binary, "-listen", local(port), "-state", state)
				// A socket's path has at most 107 bytes, and a checkout's may be longer, so the engine runs in the
				// socket's folder.
				cmd.Dir = folder
				cmd.Env = append(os.Environ(),
					"ENGINE_POSTGRES_URL=postgres://postgres@/postgres?host=/proc/self/cwd&pool_max_conns=100")
				return cmd
			}},
		},
		ready: func(ctx context.Context) error { return awaitMongo(ctx, uri) },
	}, nil
}

// postgres returns the command that starts PostgreSQL. It first ends what a PostgreSQL that was killed has left on the
// data: a backend that does not notice would keep the next one from starting.
func postgres(root debian, folder string, memory int) *exec.Cmd {
	endBackends(filepath.Join(folder, "data"))
	argv := []string{postgresPrograms + "postgres", "-D", inside + "/data"}
	for _, setting := range postgresSettings {
		argv = append(argv, "-c", setting)
	}
	if memory > 0 { // of a setting that is given twice, the last counts
		argv = append(argv, "-c", fmt.Sprintf("shared_buffers=%dMB", memory), "-c", preloaded+",pg_prewarm")
	}
	cmd := root.command(private, "postgres", folder, argv...)
	cmd.Env = append(cmd.Env, postgresMemory...)
	return cmd
}

// endBackends kills the processes that work in a folder. The caller holds the lock of the folder, and its PostgreSQL
// has ended.
func endBackends(data string) {
	folder, err := os.Stat(data)
	if err != nil {
		return // there is no data yet
	}
	signalAll(linkedTo(folder, "cwd"), syscall.SIGKILL)
}

// cluster makes the database cluster when there is none, and removes what a crash left beside one. The caller holds
// the lock of the folder, so no PostgreSQL runs on it.
func cluster(ctx context.Context, at site, root debian, folder string) error {
	data, draft := filepath.Join(folder, "data"), filepath.Join(folder, "data.draft")
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	version, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at.say.line("making the database cluster in %s", data)
		if err := errors.Join(needSpace(folder, 512<<20), root.own(ctx, at.say, folder, "postgres")); err != nil {
			return err
		}
		initdb := root.command(contained, "postgres", folder, postgresPrograms+"initdb", "-D", inside+"/data.draft",
			"--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
		if err := progress.Run(ctx, at.say.line, initdb); err != nil {
			return errors.Join(fmt.Errorf("making the database cluster: %w", err), os.RemoveAll(draft))
		}
		return os.Rename(draft, data)
	case err != nil:
		return err
	case strings.TrimSpace(string(version)) != postgresMajor:
		return fmt.Errorf("%s was made by PostgreSQL %s and %s runs here; `make clean` removes it", data,
			strings.TrimSpace(string(version)), postgresMajor)
	}
	for _, stale := range []string{"data/postmaster.pid", ".s.PGSQL.5432", ".s.PGSQL.5432.lock"} {
		if err := os.Remove(filepath.Join(folder, stale)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return root.own(ctx, at.say, folder, "postgres")
}

// engineBinary returns the engine, built from its module into the cache. Its name holds a hash of what it is built
// from, so that an existing one is up to date.
func engineBinary(ctx context.Context, at site) (binary string, err error) {
	source := filepath.Join(at.checkout, "deploy", "local", "engine")
	sum, err := engineHash(source)
	if err != nil {
		return "", fmt.Errorf("the sources of the engine: %w", err)
	}
	cache, unlock, err := cacheLock(ctx, at.say)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	binary = filepath.Join(cache, "engine-"+sum)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	at.say.line("building the engine (once for these sources, about a minute)")
	draft := binary + ".draft"
	build := exec.Command("go", "build", "-v", "-buildvcs=false", "-o", draft, ".")
	build.Dir = source
	build.Env = append(os.Environ(), "GOWORK=off") // its own go.mod and go.sum decide, not the workspace
	if err := progress.Run(ctx, at.say.line, build); err != nil {
		return "", errors.Join(fmt.Errorf("building the engine: %w", err), os.RemoveAll(draft))
	}
	return binary, os.Rename(draft, binary)
}

// engineHash is a hash of the module's files and of the Go that this process was built with.
func engineHash(source string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(source, "*.go"))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOARCH)
	for _, path := range append(paths, filepath.Join(source, "go.mod"), filepath.Join(source, "go.sum")) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(path), len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
