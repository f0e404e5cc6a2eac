package endtoend_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// afterKill is how many calls of each kind have to begin after a replica was killed.
const afterKill = 20

// TestHardToBreak_WithOneReplicaDeadAllServicesAnswer kills each replica of each service in turn and leaves it dead for
// a while. Only calls that its own service was answering may fail. What other services had asked it they ask again, and
// a write is repeated with its Idempotency-Key.
func TestHardToBreak_WithOneReplicaDeadAllServicesAnswer(t *testing.T) {
	t.Parallel()
	s := servicetest.Start(t, servicetest.Options{Replicas: 2, NoRace: true,
		Env: map[string]string{"BELFRY_DIRECTORY_MEMORY": "0"}}) // so that neighbours are asked each time
	admin := s.Admin(t)
	room := admin.Import(t, "locations", record{"key": "hall", "name": "Hall"})["hall"]
	staff := admin.Import(t, "staff",
		record{"key": "ann", "initials": "AB", "forename": "Ann", "surname": "Bell"})["ann"]
	category := admin.Import(t, "eventcategories", record{"key": "lesson", "name": "Lesson"})["lesson"]
	teacher := admin.Post(t, "/api/admin/users", record{"user": record{"name": "Ann Bell",
		"email": "ann@school.example", "element_id": staff, "permissions": record{"can_api": true}}}).
		Text(t, "user.uuid")
	booking := func(n int) record {
		return record{"event": record{"body": fmt.Sprint("booking ", n), "event_category_id": category,
			"starts_at_text": "2026-11-25 09:00:00", "ends_at_text": "2026-11-25 10:00:00"},
			"elements": []int64{room}}
	}
	event := "/api/events/" + admin.Post(t, "/api/events", booking(0)).At(t, "event.id")
	noted := admin.Post(t, event+"/notes", record{"note": record{"contents": "x"}}).Int(t, "note.id")
	reads := map[string]struct {
		as   *servicetest.Client
		path string
	}{
		"identity": {s.Login(t, teacher), "/api/me"},
		"elements": {admin.Copy(), fmt.Sprintf("/api/elements/%d/commitments?start_date=2026-11-25", room)},
		"events":   {admin.Copy(), event},
		"notes":    {admin.Copy(), fmt.Sprint("/api/notes/", noted)},
	}
	if got := slices.Sorted(maps.Keys(reads)); !slices.Equal(got, slices.Sorted(slices.Values(names.WithData()))) {
		t.Fatalf("the services are %q", got)
	}
	var written atomic.Int64
	for _, victim := range names.WithData() {
		for dying := range 2 {
			var dead atomic.Bool
			work, stop := sync.WaitGroup{}, make(chan struct{})
			var begun [5]chan struct{} // closed when enough calls have been answered since
			keep := func(i int, once func(late bool)) {
				begun[i] = make(chan struct{})
				work.Go(func() {
					for late := 0; ; {
						select {
						case <-stop:
							return
						default:
						}
						after := dead.Load()
						once(after)
						if after {
							if late++; late == afterKill {
								close(begun[i])
							}
						}
					}
				})
			}
			for i, service := range names.WithData() {
				read := reads[service]
				keep(i, func(late bool) {
					a, err := read.as.Try(t, http.MethodGet, read.path, nil)
					cutOff := service == victim && !late && a.Code == 503
					if err != nil || a.Code != 200 && !cutOff {
						t.Errorf("%s %d killed, begun after it: %t: %s: %d %s %v", victim, dying, late, read.path,
							a.Code, a.Body, err)
					}
				})
			}
			keep(4, func(late bool) {
				n, key := int(written.Add(1)), uuid.NewString()
				var a servicetest.Answer
				var err error
				for range 5 { // more than there are connections to a dead one
					a, err = admin.Try(t, http.MethodPost, "/api/events", booking(n), "Idempotency-Key", key)
					if err != nil || a.Code != 503 {
						break
					}
				}
				if err != nil || a.Code != 200 {
					t.Errorf("%s %d killed, begun after it: %t: booking: %d %s %v", victim, dying, late, a.Code,
						a.Body, err)
				}
			})
			s.StopReplica(t, victim, dying, syscall.SIGKILL)
			dead.Store(true)
			for _, enough := range begun {
				<-enough
			}
			close(stop)
			work.Wait()
			s.StartReplica(t, victim, dying)
		}
	}
	valuetest.Same(t, int64(admin.Get(t, reads["elements"].path).Len(t, "commitments")), written.Load()+1,
		"bookings are there, and those that were acknowledged")
}

// variablesOf returns the environment of each process of a service below a run, by the service.
func variablesOf(t *testing.T, run *localRun) map[string][]map[string]string {
	t.Helper()
	below, err := process.Below(run.PID())
	errortest.None(t, err)
	found := map[string][]map[string]string{}
	for _, p := range below {
		program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID))
		if err != nil {
			continue // it has ended
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
		if err != nil {
			continue
		}
		variables := map[string]string{}
		for line := range bytes.SplitSeq(text, []byte{0}) {
			name, value, _ := strings.Cut(string(line), "=")
			variables[name] = value
		}
		found[filepath.Base(program)] = append(found[filepath.Base(program)], variables)
	}
	return found
}

// TestHardToBreak_TheLocalRunGivesEachServiceItsOwnEnvironment lists what each process of a local run gets, and asks
// for questions at each replica.
func TestHardToBreak_TheLocalRunGivesEachServiceItsOwnEnvironment(t *testing.T) {
	t.Parallel()
	run := startLocal(t, "DEMO=0", "REPLICAS=2", "BELFRY_SMTP_PASSWORD=secret-of-mail")
	found := variablesOf(t, run)
	shared := []string{
		"BELFRY_DRAIN_DELAY", "BELFRY_ELEMENTS_URL", "BELFRY_EVENTS_URL", "BELFRY_HEALTH_LISTEN", "BELFRY_IDENTITY_URL",
		"BELFRY_INTERNAL_LISTEN", "BELFRY_INTERNAL_TOKEN", "BELFRY_LISTEN", "BELFRY_NOTES_URL", "BELFRY_REDIS_PREFIX",
		"BELFRY_SECURE_COOKIES", "BELFRY_TIMEZONE", "BELFRY_TRUSTED_PROXIES", "MONGODB_DATABASE", "MONGODB_URI",
		"REDIS_URL",
	}
	besides := map[string][]string{"identity": {"BOOTSTRAP_ADMIN_UUID"}, "events": {"BELFRY_SMTP_PASSWORD"}}
	for _, service := range names.WithData() {
		want := slices.Sorted(slices.Values(append(slices.Clone(shared), besides[service]...)))
		valuetest.Same(t, len(found[service]), 2, "processes of %s", service)
		for _, variables := range found[service] {
			var got []string
			for name := range variables {
				own := strings.HasPrefix(name, "BELFRY_") || strings.HasPrefix(name, "BOOTSTRAP_")
				inherited := os.Getenv(name) != "" // from the test's own environment
				if slices.Contains(want, name) || own && !inherited {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			valuetest.List(t, got, want, "%s gets", service)
		}
	}
	for program, processes := range found {
		for _, variables := range processes {
			for name, value := range variables {
				if value == run.adminUUID && program != "identity" {
					t.Errorf("%s has the administrator's uuid in %s", program, name)
				}
			}
		}
	}

	admin := servicetest.NewClient(t, run.URL)
	admin.Get(t, "/api/login?uuid="+run.adminUUID).Want(t, 200, `{"status":"OK"}`)
	room := admin.Import(t, "locations", record{"key": "hall", "name": "Hall"})["hall"]
	for range 4 {
		admin.Get(t, "/api/elements/"+strconv.FormatInt(room, 10)+"/commitments").WantCode(t, 200)
	}
	for i, variables := range found["events"] {
		health := servicetest.Connect(servicetest.ClientOptions{URL: "http://" + variables["BELFRY_HEALTH_LISTEN"],
			Undocumented: true})
		valuetest.Has(t, health.Get(t, "/metrics").Body, `http_route="/internal/commitments"`,
			"replica %d of events was asked nothing", i)
	}
}
