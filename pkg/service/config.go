package service

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/redisstore"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// minToken is the least length of the shared token in bytes.
const minToken = 32

// maxDatabase is the longest name of a database that MongoDB takes, in bytes.
const maxDatabase = 63

// maxDirectoryMemory is more than any school needs, in MiB.
const maxDirectoryMemory = 4096

// maxAccessLogDays is ten years.
const maxAccessLogDays = 3660

// Stores are the settings of every service that keeps data.
type Stores struct {
	MongoURI    settings.URI    `envconfig:"MONGODB_URI" required:"true" desc:"connection string of MongoDB 7 or newer; a secret"`
	Database    string          `envconfig:"MONGODB_DATABASE" default:"belfry" desc:"database that holds the collections of all services"`
	RedisURL    settings.URI    `envconfig:"REDIS_URL" required:"true" desc:"URL of Redis or Valkey; a secret"`
	RedisMode   redisstore.Mode `envconfig:"BELFRY_REDIS_MODE" default:"server" desc:"how Redis is run: server, sentinel or cluster; REDIS_URL has the form for it, see docs/operate.md"`
	RedisPrefix string          `envconfig:"BELFRY_REDIS_PREFIX" default:"belfry:" desc:"prefix of every Redis key of this deployment"`
}

// Check implements settings.Checker.
func (s *Stores) Check() error {
	var faults []error
	if s.Database == "" || len(s.Database) > maxDatabase || strings.ContainsAny(s.Database, "/\\. \"$") {
		faults = append(faults, fmt.Errorf("MONGODB_DATABASE: must have 1 to %d bytes, and no space, slash, "+
			"backslash, dot, quote or dollar", maxDatabase))
	}
	if !s.RedisMode.Valid() {
		faults = append(faults, errors.New("BELFRY_REDIS_MODE: must be server, sentinel or cluster"))
	}
	return errors.Join(faults...)
}

// Config holds the settings of every service. Package telemetry reads the standard OTEL_ variables.
type Config struct {
	Listen         string        `envconfig:"BELFRY_LISTEN" default:":8080" desc:"address of the public listener"`
	InternalListen string        `envconfig:"BELFRY_INTERNAL_LISTEN" default:":8081" desc:"address of the listener for the other services"`
	HealthListen   string        `envconfig:"BELFRY_HEALTH_LISTEN" default:":9090" desc:"address of /livez, /readyz, /startupz and /metrics"`
	LogLevel       slog.Level    `envconfig:"BELFRY_LOG_LEVEL" default:"INFO" desc:"lowest level that is logged: DEBUG, INFO, WARN or ERROR"`
	Zone           wiretime.Zone `envconfig:"BELFRY_TIMEZONE" default:"Europe/London" desc:"IANA name of the zone of days, local times and offsets; the same for all services"`

	DirectoryMemory int `envconfig:"BELFRY_DIRECTORY_MEMORY" default:"64" desc:"about how many MiB of elements, groups, categories and users a replica keeps in memory, each proved current at each use; 0: none"`

	InternalToken settings.Secret `envconfig:"BELFRY_INTERNAL_TOKEN" required:"true" desc:"token by which the services authenticate to each other, at least 32 characters of visible ASCII; a secret, the same for all services"`
	IdentityURL   string          `envconfig:"BELFRY_IDENTITY_URL" default:"http://identity:8081" desc:"where identity listens for the other services"`
	ElementsURL   string          `envconfig:"BELFRY_ELEMENTS_URL" default:"http://elements:8081" desc:"where elements listens for the other services"`
	EventsURL     string          `envconfig:"BELFRY_EVENTS_URL" default:"http://events:8081" desc:"where events listens for the other services"`
	NotesURL      string          `envconfig:"BELFRY_NOTES_URL" default:"http://notes:8081" desc:"where notes listens for the other services"`

	ChangesKept time.Duration `envconfig:"BELFRY_CHANGES_KEPT" default:"720h" desc:"how long changes can be followed from; a client that last asked before then starts over"`

	SecureCookies   bool           `envconfig:"BELFRY_SECURE_COOKIES" default:"true" desc:"send the session cookie over TLS only, as __Host-scheduling_session; false: as scheduling_session"`
	SessionIdle     time.Duration  `envconfig:"BELFRY_SESSION_IDLE" default:"2h" desc:"how long an unused session lives"`
	SessionAbsolute time.Duration  `envconfig:"BELFRY_SESSION_ABSOLUTE" default:"12h" desc:"how long any session lives"`
	TrustedProxies  []netip.Prefix `envconfig:"BELFRY_TRUSTED_PROXIES" desc:"comma-separated networks (CIDR) whose X-Forwarded-For and trace context are trusted"`
	AllowedOrigins  []string       `envconfig:"BELFRY_ALLOWED_ORIGINS" desc:"comma-separated origins (https://host) whose pages may make browsers change things, besides the address itself"`

	principal.Sights
	AccessLogDays int `envconfig:"BELFRY_ACCESS_LOG_DAYS" default:"90" desc:"days for which the access log keeps its entries; 0: nothing is recorded, and existing entries are deleted"`

	RequestTimeout time.Duration `envconfig:"BELFRY_REQUEST_TIMEOUT" default:"10s" desc:"deadline of a request; after it the answer is 503"`
	DrainDelay     time.Duration `envconfig:"BELFRY_DRAIN_DELAY" default:"5s" desc:"how long a service keeps serving after it has stopped being ready"`
	StopDeadline   time.Duration `envconfig:"BELFRY_STOP_DEADLINE" default:"15s" desc:"how long requests in flight, background work and telemetry may take to end"`
}

// Check reports what envconfig's types do not catch.
func (c *Config) Check() error {
	var faults []error
	if n := len(c.InternalToken.Reveal()); n < minToken {
		faults = append(faults, fmt.Errorf("BELFRY_INTERNAL_TOKEN: has %d characters, needs at least %d", n, minToken))
	}
	if strings.ContainsFunc(c.InternalToken.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		faults = append(faults, errors.New("BELFRY_INTERNAL_TOKEN: has a character that is not visible ASCII"))
	}
	for name, address := range map[string]string{
		"BELFRY_LISTEN": c.Listen, "BELFRY_INTERNAL_LISTEN": c.InternalListen, "BELFRY_HEALTH_LISTEN": c.HealthListen,
	} {
		_, port, err := net.SplitHostPort(address)
		if _, wrong := net.LookupPort("tcp", port); err != nil || wrong != nil {
			faults = append(faults, fmt.Errorf("%s: not an address with a port, such as :8080", name))
		}
	}
	for name, address := range map[string]string{
		"BELFRY_IDENTITY_URL": c.IdentityURL, "BELFRY_ELEMENTS_URL": c.ElementsURL, "BELFRY_EVENTS_URL": c.EventsURL,
		"BELFRY_NOTES_URL": c.NotesURL,
	} {
		if u, err := url.Parse(address); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			faults = append(faults, fmt.Errorf("%s: not an http or https address", name))
		}
	}
	if c.AccessLogDays < 0 || c.AccessLogDays > maxAccessLogDays {
		faults = append(faults, fmt.Errorf("BELFRY_ACCESS_LOG_DAYS: must be 0 to %d", maxAccessLogDays))
	}
	for name, d := range map[string]time.Duration{
		"BELFRY_SESSION_IDLE": c.SessionIdle, "BELFRY_SESSION_ABSOLUTE": c.SessionAbsolute,
		"BELFRY_REQUEST_TIMEOUT": c.RequestTimeout, "BELFRY_STOP_DEADLINE": c.StopDeadline,
		"BELFRY_CHANGES_KEPT": c.ChangesKept,
	} {
		if d <= 0 {
			faults = append(faults, fmt.Errorf("%s: must be positive", name))
		}
	}
	for _, origin := range c.AllowedOrigins {
		if !web.CheckOrigin(origin) {
			faults = append(faults, errors.New("BELFRY_ALLOWED_ORIGINS: not an origin, such as https://school.example"))
		}
	}
	if c.DirectoryMemory < 0 || c.DirectoryMemory > maxDirectoryMemory {
		faults = append(faults, fmt.Errorf("BELFRY_DIRECTORY_MEMORY: must be from 0 to %d", maxDirectoryMemory))
	}
	faults = append(faults, c.Sights.Check())
	if c.DrainDelay < 0 {
		faults = append(faults, errors.New("BELFRY_DRAIN_DELAY: must not be negative"))
	}
	return errors.Join(faults...)
}
