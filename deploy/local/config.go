package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// maxReplicas is the most replicas of each service that a local run accepts.
const maxReplicas = 8

// config holds the settings of a local run. MONGODB_URI and REDIS_URL are read by package stores.
type config struct {
	Port      uint16          `envconfig:"PORT" default:"8080" desc:"port of the front door on 127.0.0.1; 0: any free port"`
	AdminUUID settings.Secret `envconfig:"BOOTSTRAP_ADMIN_UUID" desc:"uuid of the first administrator; generated, kept in .local and printed when unset"`
	Zone      wiretime.Zone   `envconfig:"BELFRY_TIMEZONE" default:"Europe/London" desc:"IANA name of the zone of days and local times"`
	Replicas  int             `envconfig:"REPLICAS" default:"1" desc:"number of processes of each service"`
	Dir       string          `envconfig:"LOCAL_DIR" desc:"folder of data, logs and binaries; .local in the checkout when unset"`
	Database  string          `envconfig:"MONGODB_DATABASE" default:"belfry" desc:"database that holds everything"`
	OIDC      bool            `envconfig:"OIDC" default:"false" desc:"1: also run an OpenID Connect provider, at which the demo school's users log in without a password"`
	Demo      bool            `envconfig:"DEMO" default:"true" desc:"load the demo school when there is none; 0: leave an empty school empty"`
	Pupils    int             `envconfig:"DEMO_PUPILS" default:"120" desc:"size of the demo school"`
	FirstYear int             `envconfig:"DEMO_FIRST_YEAR" default:"0" desc:"year in which the demo's school year begins; 0: the current school year"`
	Seed      uint64          `envconfig:"DEMO_SEED" default:"1" desc:"seed of the demo school"`
}

// Check reports what envconfig's types do not catch.
func (c *config) Check() error {
	if c.Replicas < 1 || c.Replicas > maxReplicas {
		return fmt.Errorf("REPLICAS: must be 1 to %d", maxReplicas)
	}
	if err := c.school(time.Now()).Check(); c.Demo && err != nil {
		return fmt.Errorf("DEMO_PUPILS, DEMO_FIRST_YEAR: %w", err)
	}
	return nil
}

// adminUUID returns the first administrator's uuid: the one in the settings, else the one of the last run, else a
// new one, which it stores for later runs.
func adminUUID(local string, given settings.Secret) (settings.Secret, error) {
	if given.Set() {
		return given, nil
	}
	path := filepath.Join(local, "admin-uuid")
	text, err := os.ReadFile(path)
	if err == nil {
		return settings.NewSecret(strings.TrimSpace(string(text))), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return settings.Secret{}, err
	}
	fresh := uuid.NewString()
	if err := wholefile.Write(path, []byte(fresh+"\n")); err != nil {
		return settings.Secret{}, fmt.Errorf("keep the administrator's uuid: %w", err)
	}
	return settings.NewSecret(fresh), nil
}
