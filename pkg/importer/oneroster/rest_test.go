package oneroster_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/importer/oneroster"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// system is an information system with OneRoster's REST interface, in the form of the standard's examples.
type system struct {
	*httptest.Server
	records map[string][]map[string]any
	page    int  // most records of a page
	total   bool // X-Total-Count is sent
	missing int  // records that X-Total-Count has besides
	repeats bool // offset is ignored
	large   bool // a page has more than 64 MiB
	refuses []int
	asked   []string
}

func newSystem(t *testing.T) *system {
	t.Helper()
	s := &system{page: 2, total: true, records: map[string][]map[string]any{}}
	text := `{"orgs": [
			{"sourcedId": "d1", "status": "active", "name": "Elmwood District", "type": "district"},
			{"sourcedId": "s1", "status": "active", "name": "Elmwood School", "type": "school",
				"parent": {"sourcedId": "d1", "type": "org", "href": "https://x.example/orgs/d1"}}],
		"academicSessions": [{"sourcedId": "t1", "title": "Autumn", "type": "term", "startDate": "2026-09-01",
			"endDate": "2026-12-19", "schoolYear": "2027"}],
		"courses": [{"sourcedId": "ma7", "title": "Mathematics Year 7", "grades": ["07"]}],
		"classes": [{"sourcedId": "c1", "title": "Mathematics", "classCode": "7Ma1", "classType": "scheduled",
			"course": {"sourcedId": "ma7"}, "school": {"sourcedId": "s1"}, "terms": [{"sourcedId": "t1"}]}],
		"users": [
			{"sourcedId": "u1", "enabledUser": "true", "givenName": "Hannah", "familyName": "Gordon",
				"preferredFirstName": "Annie", "preferredLastName": "Gordon-Lee", "email": "h@elmwood.example",
				"roles": [{"roleType": "primary", "role": "teacher", "org": {"sourcedId": "s1"},
					"beginDate": "2020-09-01"}]},
			{"sourcedId": "u5", "enabledUser": true, "givenName": "Zoë", "familyName": "Lee", "grades": ["07"],
				"roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s1"}}]},
			{"sourcedId": "u9", "enabledUser": true, "givenName": "Pat", "familyName": "Lee",
				"roles": [{"roleType": "primary", "role": "parent", "org": {"sourcedId": "s1"}}]}],
		"enrollments": [
			{"sourcedId": "e1", "role": "teacher", "primary": true, "user": {"sourcedId": "u1"},
				"class": {"sourcedId": "c1"}, "school": {"sourcedId": "s1"}},
			{"sourcedId": "e2", "role": "student", "user": {"sourcedId": "u5"}, "class": {"sourcedId": "c1"},
				"beginDate": "2026-10-01", "endDate": "2026-11-01"}]}`
	errortest.None(t, json.Unmarshal([]byte(text), &s.records))
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *system) service() oneroster.Service {
	return oneroster.Service{URL: s.URL + "/ims/oneroster/rostering/v1p2", TokenURL: s.URL + "/token", ClientID: "id",
		ClientSecret: "secret", Wait: backoff.NewConstantBackOff(time.Millisecond)}
}

func (s *system) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/token" {
		id, secret, _ := r.BasicAuth()
		if id != "id" || secret != "secret" || r.FormValue("grant_type") != "client_credentials" ||
			r.FormValue("scope") != oneroster.CoreScope {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error": "invalid_client"}`)
			return
		}
		fmt.Fprint(w, `{"access_token": "t", "token_type": "Bearer", "expires_in": 3600}`)
		return
	}
	name, ours := strings.CutPrefix(r.URL.Path, "/ims/oneroster/rostering/v1p2/")
	if !ours || r.Header.Get("Authorization") != "Bearer t" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if len(s.refuses) > 0 {
		code := s.refuses[0]
		s.refuses = s.refuses[1:]
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
		return
	}
	s.asked = append(s.asked, r.URL.RequestURI())
	all := s.records[name]
	offset, _ := strconv.Atoi(r.FormValue("offset"))
	if s.repeats {
		offset = 0
	}
	page := all[min(offset, len(all)):min(offset+s.page, len(all))]
	if s.total {
		w.Header().Set("X-Total-Count", strconv.Itoa(len(all)+s.missing))
	}
	if s.large {
		_, _ = w.Write(bytes.Repeat([]byte{' '}, 64<<20))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{name: append([]map[string]any{}, page...)})
}

// TestOneRoster_AServiceIsReadAsItsFilesAre: all pages, whatever their size, with or without a count.
func TestOneRoster_AServiceIsReadAsItsFilesAre(t *testing.T) {
	s := newSystem(t)
	want := ""
	for _, counted := range []bool{true, false} {
		for _, s.page = range []int{1, 2, 1000} {
			s.total, s.refuses = counted, []int{503, 429}
			archive, err := s.service().Fetch(t.Context())
			errortest.None(t, err)
			folder, err := oneroster.OpenFetched(archive, timetest.London(t))
			if err != nil {
				t.Fatal(csvtest.Faults(err))
			}
			roster, err := folder.Resolve(t.Context(), newBelfry(), oneroster.Options{Today: today, Prune: true})
			errortest.None(t, err)
			got := lines(t, roster)
			if want == "" {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d on a page: %s", s.page, diff)
			}
		}
	}
	for _, line := range []string{
		`users.csv:2 {"key":"oneroster:user:u1","initials":"HGO","forename":"Annie","surname":"Gordon-Lee",` +
			`"email":"h@elmwood.example"}`,
		`users.csv:3 {"key":"oneroster:user:u5","forename":"Zoë","surname":"Lee","year_group":"7"}`,
		`classes.csv:2 {"key":"oneroster:class:c1","name":"Mathematics (7Ma1)","description":"Mathematics Year 7"}`,
		`"spans":[{"first_day":"2026-10-01","last_day":"2026-10-31","source":"e2"}]`,
		`"spans":[{"first_day":"2026-09-01","last_day":"2026-12-18","source":"e1"}]`,
		"users.csv: 1 row left out: neither staff nor pupils (guardian, parent, relative)\n",
	} {
		valuetest.Has(t, want, line)
	}
	const first = "/ims/oneroster/rostering/v1p2/orgs?limit=1000&offset=0&orderBy=asc&sort=sourcedId"
	valuetest.Same(t, s.asked[0], first, "asked for")
}

// TestOneRoster_AServiceThatDoesNotGiveAllIsAnError: since what is missing would be pruned.
func TestOneRoster_AServiceThatDoesNotGiveAllIsAnError(t *testing.T) {
	s := newSystem(t)
	fails := func(want string, service oneroster.Service) {
		t.Helper()
		_, err := service.Fetch(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s.missing = 3
	fails("the service gave 2 of 5 orgs", s.service())
	s.missing = 2_000_000
	fails("the service has more than 2000000 orgs", s.service())
	s.missing, s.repeats, s.total, s.page = 0, true, false, 1
	fails("the service gives the same page of orgs again at offset 1", s.service())
	s.repeats, s.total, s.large = false, true, true
	fails("reading orgs of the service: a page has more than 64 MiB", s.service())
	s.large = false
	for _, code := range []int{302, 404, 403} {
		s.refuses = []int{code}
		fails(fmt.Sprintf("reading orgs of the service: %d ", code), s.service())
	}
	wrong := s.service()
	wrong.ClientSecret = "another"
	fails("reading orgs of the service: the token was refused: 401 Unauthorized invalid_client", wrong)
	wrong.URL = "http://sis.example/ims/oneroster/rostering/v1p2"
	fails(`the address "http://sis.example/ims/oneroster/rostering/v1p2" is not an https address`, wrong)
	wrong = s.service()
	wrong.TokenURL = "sis.example/token"
	fails(`the token's address "sis.example/token" is not an https address`, wrong)
	s.Close()
	patience := s.service()
	patience.Wait = &backoff.StopBackOff{}
	fails("reading orgs of the service: ", patience)
}
