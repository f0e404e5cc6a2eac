package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// needSpace returns an error when the file system of dir has less free space than that, in bytes.
func needSpace(dir string, bytes uint64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("looking for free space in %s: %w", dir, err)
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
	for told := false; ; told = true {
		err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return dir, f.Close, nil
		}
		if !errors.Is(err, errLocked) {
			return "", nil, errors.Join(err, f.Close())
		}
		if !told {
			say.line("another process is setting up programs in %s; waiting for it", dir)
		}
		select {
		case <-ctx.Done():
			return "", nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
