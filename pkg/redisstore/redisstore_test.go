package redisstore

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/metric/noop"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/output"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestOpen_TakesTheFormsOfItsModeAlone(t *testing.T) {
	const secret = "hunter2"
	for address, want := range map[string]map[Mode]string{ // what the error says; "" for none
		"redis://u:hunter2@a:6379/3": {Server: "", Sentinel: "needs master_name", Cluster: "no numbered databases"},
		"rediss://a":                 {Server: "", Sentinel: "needs master_name", Cluster: ""},
		"redis://:hunter2@a:26379/1?addr=b:26379&master_name=m&username=u&password=hunter2": {
			Server: "not an address", Sentinel: "", Cluster: "not an address"},
		"rediss://u:hunter2@a:6379?addr=b:6379":                {Server: "not an address", Cluster: ""},
		"redis://u:hunter2@a:6379/0?addr=b:6379":               {Cluster: ""},
		"redis://a?read_only=true":                             {Cluster: "a replica is never read"},
		"redis://a?master_name=m&replica_only=true":            {Sentinel: "a replica is never read"},
		"redis://a?master_name=m&route_randomly=true":          {Sentinel: "a replica is never read"},
		"redis://u:hunter2@a:hunter2/0":                        {Server: "not", Sentinel: "not", Cluster: "not"},
		"mongodb://u:hunter2@a/":                               {Server: "not", Sentinel: "not", Cluster: "not"},
		"redis://u:hunter2@a/hunter2?master_name=m&hunter2=no": {Server: "not", Sentinel: "not", Cluster: "not"},
	} {
		for mode, says := range want {
			client, err := open(address, mode)
			switch {
			case err == nil && says == "":
				errortest.Report(t, client.Close())
			case err == nil || says == "" || !strings.Contains(err.Error(), says):
				t.Errorf("%s of %s: got %v, want %q", mode, address, err, says)
			case strings.Contains(err.Error(), secret):
				t.Errorf("%s of %s shows the secret: %v", mode, address, err)
			}
		}
	}
}

func TestKeys_OfOneTagHaveOneHashTagInAClusterAndTheirOldNamesElsewhere(t *testing.T) {
	for mode, want := range map[Mode]string{Server: "belfry:", Sentinel: "belfry:", Cluster: "belfry:{sessions}:"} {
		valuetest.Same(t, (Keys{Prefix: "belfry:", Mode: mode}).Together("sessions"), want, "%s", mode)
	}
}

func TestRights_AreThoseOfTheGuide(t *testing.T) {
	connecting := []string{"cluster|slots", "eval", "evalsha"} // what the check itself and a cluster's client send
	var guide []string
	for _, word := range storetest.RedisRights(t, "password") {
		if name, ok := strings.CutPrefix(word, "+"); ok && !slices.Contains(connecting, name) {
			guide = append(guide, name)
		}
	}
	var checked []string
	for _, c := range commands {
		name, _, _ := strings.Cut(c, " ")
		checked = append(checked, name)
	}
	slices.Sort(guide)
	slices.Sort(checked)
	valuetest.List(t, guide, checked, "what docs/operate.md gives, and what the check asks for")
}

func TestConnect_WarnsOfAServerThatDropsKeys(t *testing.T) {
	server := storetest.StartRedis(t)
	for policy, warned := range map[string]bool{"noeviction": false, "volatile-lru": true} {
		errortest.None(t, server.Client().ConfigSet(t.Context(), "maxmemory-policy", policy).Err())
		var log output.Buffer
		client, err := Connect(t.Context(), Options{URL: server.URL(), Keys: Keys{Prefix: "belfry:", Mode: Server},
			Log: slog.New(slog.NewTextHandler(&log, nil)), Meter: noop.NewMeterProvider()})
		errortest.None(t, err)
		errortest.None(t, client.Close())
		if strings.Contains(log.String(), "policy="+policy) != warned {
			t.Errorf("%s: %q", policy, log.String())
		}
	}
}

// Belfry's own user, which the guide gives few rights, finds and deletes no keys: after a restore they would stay.
func TestRights_TheGuideDeletesKeysAsAnotherUser(t *testing.T) {
	guide := checkout.Read(t, "docs/operate.md")
	users := regexp.MustCompile(`redis-cli -u "\$(\w+)" (?:--scan|unlink)`).FindAllStringSubmatch(guide, -1)
	valuetest.MustHold(t, len(users) >= 2, "the guide deletes keys by %q", users)
	for _, user := range users {
		if user[1] == "REDIS_URL" {
			t.Errorf("%s: that user may not", user[0])
		}
	}
}

func TestRights_LeaveNothing(t *testing.T) {
	client, prefix := storetest.Redis(t)
	errortest.Report(t, checkRights(t.Context(), client, prefix))
	var left []string
	keys := client.Scan(t.Context(), 0, prefix+"*", 1000).Iterator()
	for keys.Next(t.Context()) {
		left = append(left, keys.Val())
	}
	if keys.Err() != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, keys.Err())
	}
}
