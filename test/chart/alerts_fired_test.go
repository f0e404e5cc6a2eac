package chart_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

// shortened are the windows and patience of the rules, and what the test takes in their place. A rate needs several
// scrapes, also where they come late.
var shortened = map[string]string{
	"[5m]": "[12s]", "[10m]": "[12s]", "[15m]": "[60s]", "[30m]": "[15s]", "[1h]": "[20s]", "[6h]": "[25s]",
	"[3d]": "[30s]", "for: 3m": "for: 2s", "for: 1m": "for: 1s", "for: 5m": "for: 2s", "for: 15m": "for: 2s",
	"for: 30m": "for: 2s", "> 300": "> 3",
}

// hurried returns rules with short windows. It ends the test where a window stays long.
func hurried(t *testing.T, rules string) string {
	t.Helper()
	for long, short := range shortened {
		if !strings.Contains(rules, long) {
			t.Fatalf("no rule has %s", long)
		}
		rules = strings.ReplaceAll(rules, long, short)
	}
	if left := regexp.MustCompile(`\[\d+[mhd]]|for: \d+[mhd]`).FindAllString(rules, -1); left != nil {
		t.Fatalf("not shortened: %q", left)
	}
	return rules
}

// stage is a system whose parts can be broken, and the Prometheus that watches it.
type stage struct {
	*servicetest.System
	t        *testing.T
	monitor  *monitor
	mongo    *storetest.Line
	redis    *storetest.RedisServer
	admin    *servicetest.Client
	endpoint *receivers.Endpoint
	webhook  int64
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, redis: storetest.StartRedis(t), endpoint: receivers.NewEndpoint(t)}
	var mongoURI string
	s.mongo, _, mongoURI, _ = storetest.Lines(t)
	s.System = servicetest.Start(t, servicetest.Options{Console: true, NoRace: true, Env: map[string]string{
		"MONGODB_URI": mongoURI, "REDIS_URL": s.redis.URL(), "BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8"}})
	s.monitor = watch(t, s.System, s.rules())
	s.admin = s.Admin(t)
	s.webhook = newWebhook(t, s.admin, s.endpoint)
	return s
}

// rules are the chart's, hurried, for pods with the least memory that the chart allows, and a budget that tells the
// fast burn from the slow one.
func (s *stage) rules() string {
	return hurried(s.t, ruleFile(s.t, "--set", "defaults.resources.limits.memory=64Mi,"+
		"defaults.resources.requests.memory=64Mi,directoryMemory=32", "--set-json",
		"prometheusRule.errorBudget=0.05"))
}

// trials cause what each alert reports. They mostly wait, so those of each kind have a system of their own, beside
// the others. What a trial does repeats until the alert has fired; the function that it
// returns mends, and is repeated until the alert is gone.
var trials = map[string]map[string]func(s *stage) (again, mend func()){
	"stores": {
		"BelfryStoreAway": func(s *stage) (func(), func()) {
			s.mongo.Cut()
			return nothing, once(func() { errortest.None(s.t, s.mongo.Mend()) })
		},
		"BelfryErrorsFast": func(s *stage) (func(), func()) {
			s.mongo.Cut()
			mended := once(func() { errortest.None(s.t, s.mongo.Mend()) })
			return func() { s.read(20, 0) }, func() { mended(); s.read(20, 20) }
		},
		"BelfryErrorsSlow": func(s *stage) (func(), func()) {
			s.mongo.Cut()
			mended := once(func() { errortest.None(s.t, s.mongo.Mend()) })
			return func() { s.read(1, 9) }, func() { mended(); s.read(20, 20) }
		},
		"BelfryReadsSlow": func(s *stage) (func(), func()) {
			errortest.None(s.t, s.mongo.Poison("latency", map[string]int{"latency": 500})) // each way
			mended := once(func() { errortest.None(s.t, s.mongo.Mend()) })
			return func() { s.read(10, 0) }, func() { mended(); s.read(20, 20) }
		},
		"BelfryOutboxStuck": func(s *stage) (func(), func()) {
			s.forbid("-xadd")
			return once(s.bookAndDelete), once(func() { s.forbid("+xadd") })
		},
		"BelfryMessagesStuck": func(s *stage) (func(), func()) {
			s.forbid("-xreadgroup")
			return once(s.bookAndDelete), once(func() { s.forbid("+xreadgroup") })
		},
	},
	"processes": {
		"BelfryServiceDown": func(s *stage) (func(), func()) {
			s.Stop(s.t, "elements")
			return nothing, once(func() { s.Restart(s.t, "elements") })
		},
		"BelfryMemoryShort": func(s *stage) (func(), func()) {
			row, err := json.Marshal(map[string]any{"key": "k", "name": strings.Repeat("x", 200)})
			errortest.None(s.t, err)
			body := strings.Repeat(string(row)+"\n", 4<<20/(len(row)+1))
			return func() {
					var work sync.WaitGroup
					for range 8 {
						work.Go(func() {
							_, _ = s.admin.Send(s.t.Context(), "POST", "/api/admin/import/locations?dry_run=true", body,
								"Content-Type", "application/x-ndjson")
						})
					}
					work.Wait()
				}, once(func() { // the others may have grown by what came before
					for _, service := range services {
						s.Stop(s.t, service)
						s.Restart(s.t, service)
					}
				})
		},
		"BelfryPodDown": func(s *stage) (func(), func()) {
			s.Stop(s.t, "notes")
			return nothing, once(func() { s.Restart(s.t, "notes") })
		},
		"BelfryRestarting": func(s *stage) (func(), func()) {
			return func() {
				const started = `process_start_time_seconds{service="belfry-notes"}`
				var before string
				for _, start := range s.monitor.query(s.t, started) {
					before = fmt.Sprint(start.Value[1])
				}
				s.Kill(s.t, "notes")
				s.Restart(s.t, "notes")
				await(s.t, func() string {
					if now := s.monitor.query(s.t, started); len(now) == 1 && fmt.Sprint(now[0].Value[1]) != before {
						return ""
					}
					return "Prometheus has not seen the start of notes"
				})
			}, nothing
		},
		"BelfryNoticesFailing": func(s *stage) (func(), func()) {
			s.endpoint.Answer(http.StatusInternalServerError)
			send := func() {
				_, _ = s.admin.Send(s.t.Context(), "POST", fmt.Sprintf("/api/admin/webhooks/%d/test", s.webhook), nil)
			}
			return send, func() {
				s.endpoint.Answer(http.StatusNoContent)
				send()
			}
		},
	},
}

func nothing() {}

// once returns a function that calls f the first time it is called.
func once(f func()) func() { var o sync.Once; return func() { o.Do(f) } }

// read sends requests to events that need MongoDB, and others that do not, each at the same time.
func (s *stage) read(stored, other int) {
	var work sync.WaitGroup
	for range stored {
		work.Go(func() { _, _ = s.admin.Send(s.t.Context(), "GET", "/api/events/1", nil) })
	}
	for range other { // refused before anything is read
		work.Go(func() { _, _ = s.admin.Send(s.t.Context(), "POST", "/api/events", "{") })
	}
	work.Wait()
}

// forbid takes a right from the services' user of Redis, or gives it back.
func (s *stage) forbid(rule string) {
	errortest.None(s.t, s.redis.Client().Do(s.t.Context(), "acl", "setuser", "default", rule).Err())
}

// bookAndDelete makes events send a message to notes.
func (s *stage) bookAndDelete() {
	category := s.admin.Import(s.t, "eventcategories", map[string]any{"key": "c", "name": "Lesson"})["c"]
	room := s.admin.Import(s.t, "locations", map[string]any{"key": "r", "name": "Room"})["r"]
	booked := s.admin.Post(s.t, "/api/events", map[string]any{"event": map[string]any{"body": "Maths",
		"event_category_id": category, "starts_at": "2026-11-23 09:00", "ends_at": "2026-11-23 10:00"},
		"elements": []any{room}}).Must(s.t, http.StatusOK)
	s.admin.Delete(s.t, "/api/events/"+booked.At(s.t, "event.id")).Must(s.t, http.StatusOK)
}

// Each alert fires when its cause is brought about, and ends once that is mended. The queries of its section
// in the guide return something meanwhile.
func TestHardToBreak_Watching_EachAlertFiresAndEnds(t *testing.T) {
	program(t, "prometheus")
	tried := []string{"BelfryAbsencesUnchecked"} // by TestANightlyCheckThatKeepsFailingRaisesAnAlert, of a whole night
	for _, kind := range trials {
		tried = slices.AppendSeq(tried, maps.Keys(kind))
	}
	slices.Sort(tried)
	if alerts := slices.Sorted(maps.Keys(alertsOf(t))); !slices.Equal(tried, alerts) {
		t.Fatalf("trials of %q, alerts %q", tried, alerts)
	}
	for kind, alerts := range trials {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			for _, name := range slices.Sorted(maps.Keys(alerts)) {
				t.Run(name, func(t *testing.T) { s.try(t, name, alerts[name]) })
			}
			s.plannedStop()
		})
	}
}

// try causes an alert until it fires, and mends the cause until it ends.
func (s *stage) try(t *testing.T, name string, trial func(s *stage) (again, mend func())) {
	t.Helper()
	await(t, func() string { // what other trials have left is over
		if s.monitor.fires(t, name) {
			return name + " fires before anything is wrong"
		}
		return ""
	})
	begun := time.Now()
	again, mend := trial(s)
	await(t, func() string {
		again()
		if !s.monitor.fires(t, name) {
			return name + " does not fire"
		}
		return ""
	})
	_, queries := runbook(t, name)
	for _, q := range queries {
		await(t, func() string { again(); return s.monitor.lacks(t, name, q, "") })
	}
	fired := time.Since(begun)
	await(t, func() string {
		mend()
		if s.monitor.fires(t, name) {
			return name + " fires although all is well"
		}
		return ""
	})
	t.Logf("%s fired after %s, ended after %s", name, fired.Round(time.Second), time.Since(begun).Round(time.Second))
}

func (m *monitor) fires(t *testing.T, name string) bool {
	t.Helper()
	return slices.ContainsFunc(m.alerts(t)[name], func(a alert) bool { return a.State == "firing" })
}

// plannedStop stops all services: that sends a page, until Prometheus has the rules of a planned stop.
func (s *stage) plannedStop() {
	for _, service := range services {
		s.Stop(s.t, service)
	}
	await(s.t, func() string {
		if down := s.monitor.alerts(s.t)["BelfryServiceDown"]; len(down) < len(services) {
			return fmt.Sprintf("services that are down: %v", down)
		}
		return ""
	})
	s.monitor.reload(s.t, ruleFile(s.t, "--set", "stopped=true"))
	await(s.t, func() string {
		if left := s.monitor.alerts(s.t); len(left) > 0 {
			return fmt.Sprintf("a planned stop alerts: %v", left)
		}
		return ""
	})
}
