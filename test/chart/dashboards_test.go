package chart_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// duringFaults are the panels that are empty as long as all is well.
var duringFaults = []string{"Routes that fail", "Failed commands of MongoDB"}

// panel is a panel of a dashboard, as Grafana reads it.
type panel struct {
	Title   string
	Targets []struct{ Expr, LegendFormat string }
}

// dashboards are the files of the chart, by name.
func dashboards(t *testing.T) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "charts", "belfry", "dashboards", "*.json"))
	valuetest.MustHold(t, err == nil && len(found) >= 3, "%q, %v", found, err)
	files := map[string]string{}
	for _, path := range found {
		text, err := os.ReadFile(path)
		errortest.None(t, err)
		files[filepath.Base(path)] = string(text)
	}
	return files
}

// board is a dashboard, as Grafana reads it.
type board struct {
	Annotations struct {
		List []struct{ Name, Expr, TextFormat string }
	}
	Templating struct {
		List []struct{ Name, Definition string }
	}
	Panels []struct {
		panel
		ID      int
		Type    string
		GridPos struct{ X, Y, W, H int }
	}
}

// panels returns the panels and the annotations of all dashboards; the variables of their queries have values.
func panels(t *testing.T) []panel {
	t.Helper()
	values := strings.NewReplacer("$__rate_interval", "10s", "$namespace", "schools", "$service", ".+")
	var all []panel
	files := dashboards(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var board board
		errortest.None(t, json.Unmarshal([]byte(files[name]), &board), name)
		for _, p := range board.Panels {
			for i := range p.Targets {
				p.Targets[i].Expr = values.Replace(p.Targets[i].Expr)
			}
			all = append(all, p.panel)
		}
		for _, a := range board.Annotations.List {
			p := panel{Title: a.Name}
			p.Targets = append(p.Targets, struct{ Expr, LegendFormat string }{values.Replace(a.Expr), a.TextFormat})
			all = append(all, p)
		}
	}
	return all
}

// Each dashboard begins with a row of current numbers and shows when a release came; no panel covers another.
func TestDashboards_BeginWithCurrentNumbersAndShowReleases(t *testing.T) {
	for name, text := range dashboards(t) {
		var b board
		errortest.None(t, json.Unmarshal([]byte(text), &b), name)
		if len(b.Annotations.List) != 1 || b.Annotations.List[0].Name != "Releases" {
			t.Errorf("%s: the annotations are %v", name, b.Annotations.List)
		}
		numbers, taken, ids := 0, map[[2]int]string{}, map[int]bool{}
		for _, p := range b.Panels {
			if ids[p.ID] || (p.GridPos.Y == 0) != (p.Type == "stat") || p.GridPos.X+p.GridPos.W > 24 {
				t.Errorf("%s: %s: %+v", name, p.Title, p)
			}
			ids[p.ID] = true
			if p.Type == "stat" {
				numbers++
			}
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					valuetest.Same(t, taken[at], "", "%s: %s covers", name, p.Title)
					taken[at] = p.Title
				}
			}
		}
		valuetest.Holds(t, numbers >= 3, "%s has %d numbers", name, numbers)
	}
}

// Each query of the dashboards returns what its legend names, from a real Prometheus that scrapes the services under
// some load: those of duringFaults while MongoDB is away. Labels that a query selects by exist, and each metric of
// Belfry's own is in a dashboard.
func TestHardToBreak_Watching_EachQueryOfTheDashboardsReturnsSomething(t *testing.T) {
	program(t, "prometheus")
	mongo, _, mongoURI, redisURL := storetest.Lines(t)
	system := servicetest.Start(t, servicetest.Options{Console: true, NoRace: true, Env: map[string]string{
		"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8", "MONGODB_URI": mongoURI, "REDIS_URL": redisURL,
	}})
	m := watch(t, system, "groups: []\n")
	keepBusy(t, system)
	panels, queries := panels(t), 0
	for _, p := range panels {
		if slices.Contains(duringFaults, p.Title) {
			continue
		}
		for _, q := range p.Targets {
			queries++
			await(t, func() string { return m.lacks(t, p.Title, q.Expr, q.LegendFormat) })
		}
	}
	m.offersValues(t)
	mongo.Cut()
	for _, p := range panels {
		if slices.Contains(duringFaults, p.Title) {
			for _, q := range p.Targets {
				queries++
				// This repeats, since a rate needs more than the first failure, and only running requests fail.
				await(t, func() string {
					errortest.None(t, mongo.Mend())
					time.Sleep(time.Second)
					mongo.Cut()
					return m.lacks(t, p.Title, q.Expr, q.LegendFormat)
				})
			}
		}
	}
	errortest.None(t, mongo.Mend())
	m.selectsByLabels(t, panels)
	all := strings.Join(slices.Collect(maps.Values(dashboards(t))), "\n")
	for _, service := range services {
		for _, own := range regexp.MustCompile(`(?m)^# TYPE (belfry_\w+)`).FindAllStringSubmatch(
			system.Metrics(t, service, 0), -1) {
			valuetest.Has(t, all, own[1], "no dashboard has %s of %s", own[1], service)
		}
	}
	t.Logf("%d queries of %d panels", queries, len(panels))
}

// offersValues fails the test if a dashboard's variable offers no value, or one of services lacks some. That of the
// work dashboard lacked the console, whose release it shows.
func (m *monitor) offersValues(t *testing.T) {
	t.Helper()
	values := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	for name, text := range dashboards(t) {
		var b board
		errortest.None(t, json.Unmarshal([]byte(text), &b))
		for _, v := range b.Templating.List {
			asked := values.FindStringSubmatch(v.Definition)
			if asked == nil {
				continue
			}
			query := strings.ReplaceAll(asked[1], "$namespace", "schools")
			await(t, func() string {
				offered := map[string]bool{}
				for _, s := range m.query(t, query) {
					offered[s.Metric[asked[2]]] = s.Metric[asked[2]] != ""
				}
				if len(offered) == 0 || v.Name == "service" && len(offered) < len(services) {
					return fmt.Sprintf("%s: %s offers %v", name, v.Name, offered)
				}
				return ""
			})
		}
	}
}

// lacks returns the fault of the answer to a query, or "".
func (m *monitor) lacks(t *testing.T, title, expression, legend string) string {
	t.Helper()
	found := m.query(t, expression)
	if len(found) == 0 {
		return fmt.Sprintf("%s: nothing from %s", title, expression)
	}
	for _, label := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(legend, -1) {
		if !slices.ContainsFunc(found, func(s series) bool { return s.Metric[label[1]] != "" }) {
			return fmt.Sprintf("%s: no label %s in the answer to %s", title, label[1], expression)
		}
	}
	return ""
}

// A selector is a metric with labels in braces; no value of the dashboards' labels has a closing brace.
var (
	selector = regexp.MustCompile(`(\w+)\{([^}]*)\}`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
)

// selectsByLabels fails the test where a selector names a label that no series of its metric has. Prometheus accepts
// such a query, and a negative matcher then selects every series.
func (m *monitor) selectsByLabels(t *testing.T, panels []panel) {
	t.Helper()
	for _, p := range panels {
		for _, q := range p.Targets {
			selectors := selector.FindAllStringSubmatch(q.Expr, -1)
			valuetest.Holds(t, len(selectors) != 0, "%s: no selector in %s", p.Title, q.Expr)
			for _, s := range selectors {
				metric, labels := s[1], matcher.FindAllStringSubmatch(s[2], -1)
				if len(labels) == 0 {
					t.Errorf("%s: no labels in %s", p.Title, s[0])
				}
				for _, label := range labels {
					having := fmt.Sprintf("last_over_time(%s{%s!=\"\"}[1h])", metric, label[1])
					if len(m.query(t, having)) == 0 {
						t.Errorf("%s: no series of %s has the label %s", p.Title, metric, label[1])
					}
				}
			}
		}
	}
}

// Each dashboard is a ConfigMap with the label of Grafana's sidecar, when they are enabled.
func TestDashboardsAreConfigMapsThatGrafanaFinds(t *testing.T) {
	maps := only(render(t, "--set", "dashboards.enabled=true,dashboards.annotations.grafana_folder=Belfry"),
		"ConfigMap")
	off := only(render(t), "ConfigMap")
	for name, text := range dashboards(t) {
		object := "belfry-dashboard-" + strings.TrimSuffix(strings.TrimPrefix(name, "belfry-"), ".json")
		valuetest.Holds(t, off[object] == nil, "%s is there unasked", object)
		var want, got any
		errortest.None(t, json.Unmarshal([]byte(text), &want))
		errortest.None(t, json.Unmarshal([]byte(fmt.Sprint(maps[object].at("data", name))), &got), object)
		valuetest.Same(t, fmt.Sprint(got), fmt.Sprint(want), "%s is not the file %s", object, name)
		if maps[object].at("metadata", "labels", "grafana_dashboard") != "1" ||
			maps[object].at("metadata", "annotations", "grafana_folder") != "Belfry" {
			t.Errorf("%s: %v", object, maps[object].at("metadata"))
		}
	}
}

// newWebhook makes a webhook that notifies the endpoint, and returns its id.
func newWebhook(t *testing.T, admin *servicetest.Client, endpoint *receivers.Endpoint) int64 {
	t.Helper()
	body := map[string]any{"webhook": map[string]any{"url": endpoint.URL}}
	return admin.Post(t, "/api/admin/webhooks", body).Must(t, http.StatusCreated).Int(t, "webhook.id")
}

// keepBusy asks a bit of everything until the test ends: reads and writes, right and wrong logins, an event that comes
// and goes with its message, a notice, the check of absences.
func keepBusy(t *testing.T, system *servicetest.System) {
	t.Helper()
	admin, endpoint := system.Admin(t), receivers.NewEndpoint(t)
	webhook := newWebhook(t, admin, endpoint)
	pupil := admin.Import(t, "pupils", map[string]any{"key": "p", "forename": "Ann", "surname": "Day"})["p"]
	admin.Import(t, "groups", map[string]any{"key": "g", "name": "Set"})
	admin.Import(t, "memberships", map[string]any{"key": "Group:g/Pupil:p", "group": "g", "member": "Pupil:p",
		"spans": []any{map[string]any{"first_day": nil, "last_day": nil}}})
	group := admin.Get(t, "/api/elements?name=Set").Int(t, "elements.0.id")
	categories := admin.Import(t, "eventcategories",
		map[string]any{"key": "lesson", "name": "Lesson", "busy": true, "clash_check": true},
		map[string]any{"key": "away", "name": "Away", "busy": true})
	day := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	book := func(category string, element int64) map[string]any {
		return map[string]any{"event": map[string]any{"body": category, "event_category_id": categories[category],
			"starts_at": day + " 09:00", "ends_at": day + " 10:00"}, "elements": []any{element}}
	}
	admin.Post(t, "/api/events", book("lesson", group)).Must(t, http.StatusOK)

	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	t.Cleanup(func() { cancel(); done.Wait() })
	ask := func(method, path string, body any) servicetest.Answer {
		a, err := admin.Send(ctx, method, path, body) // without an answer while a store is away, or at the end
		if err != nil {
			return servicetest.Answer{}
		}
		return a
	}
	done.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
			event := ask("POST", "/api/events", book("away", pupil))
			ask("POST", "/api/admin/clashes", map[string]any{"start_date": day, "end_date": day})
			for _, path := range []string{
				"/api/sessions/1/whoami", "/api/elements?namelike=Day", "/healthz", "/sign-in",
				fmt.Sprintf("/api/elements/%d/commitments?start_date=%s", pupil, day),
			} {
				ask("GET", path, nil)
			}
			ask("POST", fmt.Sprintf("/api/admin/webhooks/%d/test", webhook), nil)
			if event.Code == http.StatusOK {
				var booked servicetest.Booking
				if json.Unmarshal([]byte(event.Body), &booked) == nil {
					ask("DELETE", fmt.Sprintf("/api/events/%d", booked.Event.ID), nil)
				}
			}
			stranger := servicetest.Connect(servicetest.ClientOptions{URL: system.URL})
			_, _ = stranger.Send(ctx, "GET", "/api/login?uuid="+uuid.NewString(), nil)
		}
	})
}
