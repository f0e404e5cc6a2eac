package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/deploy/local/progress"
)

// debian is a root folder with Debian's PostgreSQL, DocumentDB extension and Redis in it.
type debian struct{ root string }

// suites are the Debian suites that have DocumentDB. Testing moves less; sid has the packages when testing lacks one.
var suites = []string{"testing", "sid"}

const (
	// rootName is changed whenever newRoot puts something else into the folder, so that a folder of an older
	// checkout is not used.
	rootName = "debian-2"
	// markFile is written last: a root folder without it is incomplete. It holds the versions of the packages.
	markFile = "belfry-packages.json"
	// inside is the path of a program's data inside the root folder.
	inside = "/belfry"
	// rootSpace is enough disk space, in bytes, to make the folder.
	rootSpace = 2 << 30
)

var packages = []string{"postgresql-18-documentdb", "redis-server"}

// debianRoot returns the root folder in the user's cache. When it is missing it is made, which needs root and the
// network.
func debianRoot(ctx context.Context, say *speaker) (debian, error) {
	if os.Geteuid() != 0 {
		return debian{}, errUnprivileged
	}
	cache, unlock, err := cacheLock(ctx, say)
	if err != nil {
		return debian{}, err
	}
	d := debian{root: filepath.Join(cache, rootName)}
	if _, err = os.Stat(filepath.Join(d.root, markFile)); errors.Is(err, fs.ErrNotExist) {
		err = newRoot(ctx, say, d.root)
	}
	return d, errors.Join(err, unlock())
}

// needSpace returns an error when the file system of dir has less free space than that, in bytes.
func needSpace(dir string, bytes uint64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("reading the free space in %s: %w", dir, err)
	}
	if left := fs.Bavail * uint64(fs.Bsize); left < bytes {
		return fmt.Errorf("%s has %d MiB free and %d MiB are needed", dir, left>>20, bytes>>20)
	}
	return nil
}

// cacheLock locks Belfry's folder in the user's cache, and returns the folder and the function that unlocks it.
func cacheLock(ctx context.Context, say *speaker) (dir string, unlock func() error, err error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(base, "belfry")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("making the cache folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return "", nil, err
	}
	told := false
	err = retry(ctx, 200*time.Millisecond, func() error {
		err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, ErrLocked) && !told {
			told = true
			say.line("another process is setting up programs in %s; waiting for it", dir)
		}
		return unlessLocked(err)
	})
	if err != nil {
		return "", nil, errors.Join(err, f.Close())
	}
	return dir, f.Close, nil
}

// newRoot makes the root folder under a temporary name and renames it when it is complete. The caller holds the
// cache's lock.
func newRoot(ctx context.Context, say *speaker, root string) (err error) {
	say.line("setting up PostgreSQL, DocumentDB and Redis in %s (once on this machine, about a minute)", root)
	if err := needSpace(filepath.Dir(root), rootSpace); err != nil {
		return err
	}
	mirror, err := aptMirror(osRelease)
	if err != nil {
		return err
	}
	if err := needDebootstrap(ctx, say); err != nil {
		return err
	}
	draft := root + ".draft"
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(draft))
		}
	}()
	var faults []error
	for _, suite := range suites {
		if err := errors.Join(os.RemoveAll(draft), os.RemoveAll(root)); err != nil {
			return err
		}
		err := fillRoot(ctx, say, suite, mirror, draft)
		if err == nil {
			return os.Rename(draft, root)
		}
		faults = append(faults, err)
		if ctx.Err() != nil {
			break
		}
		say.line("%v", err)
	}
	return errors.Join(faults...)
}

// fillRoot installs a suite of Debian, and the packages from it.
func fillRoot(ctx context.Context, say *speaker, suite, mirror, draft string) error {
	if err := progress.Run(ctx, say.line,
		unshared(contained, "debootstrap", "--variant=minbase", suite, draft, mirror)); err != nil {
		return fmt.Errorf("making a Debian %s root folder: %w", suite, err)
	}
	if err := install(ctx, say, debian{draft}); err != nil {
		return fmt.Errorf("installing %s of Debian %s: %w", strings.Join(packages, " and "), suite, err)
	}
	return nil
}

func needDebootstrap(ctx context.Context, say *speaker) error {
	if _, err := exec.LookPath("debootstrap"); err == nil {
		return nil
	}
	say.line("installing debootstrap")
	if err := progress.Run(ctx, say.line, aptGet("apt-get", "update")); err != nil {
		return err
	}
	return progress.Run(ctx, say.line, aptGet("apt-get", "install", "-y", "--no-install-recommends", "debootstrap"))
}

// install installs the packages into the root folder and writes the mark. It starts no service and makes no
// database cluster.
func install(ctx context.Context, say *speaker, d debian) error {
	refuse := "#!/bin/sh\nexit 101\n" // a policy-rc.d that forbids the start of any service
	if err := errors.Join(
		os.WriteFile(filepath.Join(d.root, "usr/sbin/policy-rc.d"), []byte(refuse), 0o755),
		os.MkdirAll(filepath.Join(d.root, "etc/postgresql-common"), 0o755),
		os.WriteFile(filepath.Join(d.root, "etc/postgresql-common/createcluster.conf"),
			[]byte("create_main_cluster = false\n"), 0o644),
		os.MkdirAll(filepath.Join(d.root, inside), 0o755),
	); err != nil {
		return err
	}
	argv := append([]string{"apt-get", "install", "-y", "--no-install-recommends"}, packages...)
	cmd := d.command(contained, "root", os.TempDir(), argv...)
	cmd.Env = append(cmd.Env, "DEBIAN_FRONTEND=noninteractive")
	if err := progress.Run(ctx, say.line, cmd); err != nil {
		return err
	}
	if err := progress.Run(ctx, say.line, d.command(contained, "root", os.TempDir(), "apt-get", "clean")); err != nil {
		return err
	}
	query := append([]string{"dpkg-query", "-W", "-f", "${Package} ${Version}\n", "postgresql-18"}, packages...)
	text, err := d.command(contained, "root", os.TempDir(), query...).Output()
	if err != nil {
		return fmt.Errorf("asking for the versions: %w", err)
	}
	versions := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			versions[name] = version
			say.line("installed %s %s", name, version)
		}
	}
	return wholefile.WriteJSON(filepath.Join(d.root, markFile), versions)
}

// The namespaces of a command. In both cases its mounts are invisible outside and end with it.
var (
	// private is for a process that this process signals and waits for.
	private = []string{"--mount"}
	// contained is for a step: when it ends, every process that it started is killed.
	contained = []string{"--mount", "--pid", "--fork", "--kill-child"}
)

// command runs argv as user inside the root folder, with the folder data as its /belfry. The process gets SIGINT
// when its parent ends.
func (d debian) command(namespaces []string, user, data string, argv ...string) *exec.Cmd {
	const enter = `set -e
root=$1 data=$2 user=$3; shift 3
mount --rbind /dev "$root/dev"
mount --bind /proc "$root/proc"
mount --bind "$data" "$root` + inside + `"
exec chroot "$root" setpriv --reuid "$user" --regid "$user" --clear-groups --pdeathsig INT -- "$@"`
	cmd := unshared(namespaces, append([]string{"sh", "-c", enter, "sh", d.root, data, user}, argv...)...)
	cmd.Env = append(proxy(), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8")
	return cmd
}

// unshared runs argv in namespaces of its own.
func unshared(namespaces []string, argv ...string) *exec.Cmd {
	return exec.Command("unshare", slices.Concat(namespaces, []string{"--"}, argv)...)
}

func aptGet(argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return cmd
}

// proxy returns the environment variables that say how packages are fetched.
func proxy() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(strings.ToLower(variable), "=")
		return !slices.Contains([]string{"http_proxy", "https_proxy", "no_proxy"}, name)
	})
}

// own changes the owner of a folder, and of all in it, to a user of the root folder, whose ids differ from the
// machine's.
func (d debian) own(ctx context.Context, say *speaker, folder, user string) error {
	return progress.Run(ctx, say.line,
		d.command(contained, "root", folder, "chown", "--no-dereference", "--recursive", user+":", inside))
}
