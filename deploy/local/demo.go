package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/service/settings"
)

// progressPause is the time between two progress lines of a load.
const progressPause = 3 * time.Second

// logoutTimeout bounds the end of the session in which the school was loaded.
const logoutTimeout = 5 * time.Second

// demoFile is what a demoRecord is kept in.
const demoFile = "demo.json"

// schoolYearBegins is the first month of a school year.
const schoolYearBegins = time.August

// demoRecord is the state of the demo school, a file in .local. The next run completes a load that was interrupted.
type demoRecord struct {
	Store  string       `json:"store"`  // see config.store
	School demo.Options `json:"school"` // of an interrupted load, whatever the settings are later
	Loaded bool         `json:"loaded"`
	Logins []demo.Login `json:"logins"`
}

// store tells one database of one server from any other, and says nothing of its address.
func (c config) store() string {
	sum := sha256.Sum256([]byte(os.Getenv("MONGODB_URI") + " " + c.Database))
	return hex.EncodeToString(sum[:8])
}

// abandonDemo forgets an interrupted load of a run with DEMO=0: the database may have another school when the next one
// would complete it.
func abandonDemo(path string) error {
	known, err := readDemoRecord(path)
	if err != nil || known.Loaded || known.Store == "" {
		return err
	}
	return os.Remove(path)
}

// loadDemo generates the demo school and imports it through the public address, when the database is empty or an
// earlier load was interrupted. It returns the logins to try, and none when the database holds another school.
func loadDemo(ctx context.Context, cfg config, local, url string, admin settings.Secret,
	log *slog.Logger) ([]demo.Login, error) {
	c, err := client.New(url, client.Options{UserAgent: "belfry-local"})
	if err != nil {
		return nil, err
	}
	if err := c.Login(ctx, admin.Reveal()); err != nil {
		return nil, fmt.Errorf("log in as the first administrator "+
			"(the school may have been set up with another BOOTSTRAP_ADMIN_UUID): %w", err)
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), logoutTimeout)
		defer cancel()
		_ = c.Logout(ending) // a session that stays ends by itself
	}()
	empty, err := c.Empty(ctx)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(local, demoFile)
	known, err := readDemoRecord(path)
	if err != nil {
		return nil, err
	}
	mine := known.Store == cfg.store()
	if !empty && (!mine || known.Loaded) {
		if !mine {
			return nil, nil
		}
		return known.Logins, nil
	}

	school := cfg.school(time.Now())
	if !empty {
		school = known.School
		log.Info("completing the demo school of the run before", "pupils", school.Pupils)
	} else {
		log.Info("making the demo school", "pupils", school.Pupils)
	}
	dir := filepath.Join(local, "demo")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	made, err := demo.Generate(dir, school)
	if err != nil {
		return nil, err
	}
	record := demoRecord{Store: cfg.store(), School: school, Logins: made.Logins}
	if err := wholefile.WriteJSON(path, record); err != nil {
		return nil, err
	}
	if err := loadBundle(ctx, c, cfg, dir, log); err != nil {
		return nil, fmt.Errorf("%w; the next run completes it", err)
	}
	record.Loaded = true
	return made.Logins, wholefile.WriteJSON(path, record)
}

func loadBundle(ctx context.Context, c *client.Client, cfg config, dir string, log *slog.Logger) error {
	b, err := bundle.Open(dir, bundle.Options{Zone: cfg.Zone})
	if err != nil {
		return err
	}
	begun, told, count := time.Now(), time.Now(), 0
	report, err := load.Run(ctx, c, b, load.Options{Progress: func(kind bundle.Kind, records int) {
		count += records
		if time.Since(told) > progressPause {
			told = time.Now()
			log.Info("loading the demo school", "at", string(kind), "records", count)
		}
	}})
	if err != nil {
		return err
	}
	if report.Refused > 0 {
		return fmt.Errorf("%d records were refused, the first: %s", report.Refused, report.First[0])
	}
	log.Info("loaded the demo school", "records", count, "took", time.Since(begun).Round(100*time.Millisecond).String())
	return nil
}

// school is the demo school of the settings.
func (c config) school(now time.Time) demo.Options {
	o := demo.Options{Pupils: c.Pupils, Years: 1, Seed: c.Seed, LastYear: c.FirstYear}
	switch {
	case c.FirstYear != 0:
	case now.Month() < schoolYearBegins:
		o.LastYear = now.Year() - 1
	default:
		o.LastYear = now.Year()
	}
	return o
}

func readDemoRecord(path string) (demoRecord, error) {
	var r demoRecord
	if err := wholefile.ReadJSON(path, &r); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return demoRecord{}, err
	}
	return r, nil
}

// describe formats the logins for the terminal.
func describe(logins []demo.Login) string {
	var b strings.Builder
	for _, l := range logins {
		fmt.Fprintf(&b, "  %-24s  %s  (%s: %s)\n", l.Name, l.UUID, l.Kind, l.May)
	}
	return b.String()
}
