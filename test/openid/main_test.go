// Package openid_test logs in at real OpenID Connect providers as a browser does, and tries what goes wrong on the way.
package openid_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/belfry-schools/belfry/deploy/local/provider"
	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const (
	home   = "https://belfry.school.example" // of Belfry, for browsers
	client = "belfry"
	secret = "the secret of the client"
)

// issuer is a provider that a test can make go wrong.
type issuer struct {
	URL    string
	key    *rsa.PrivateKey
	users  []provider.User
	noKeys atomic.Bool // its keys can't be had
	// forge changes the answer of the token endpoint; nil: it is the provider's own.
	forge atomic.Pointer[func(w http.ResponseWriter, answer map[string]any)]
}

// start starts a provider with users whose subjects are the beginnings of their addresses.
func start(name string, inToken bool, users ...provider.User) (*issuer, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	i := &issuer{key: key, users: users}
	server := httptest.NewUnstartedServer(nil)
	i.URL = "http://" + server.Listener.Addr().String()
	pages, err := provider.New(provider.Options{
		Issuer: i.URL, ClientID: client, Secret: secret, Callback: home + "/api/login/oidc/" + name + "/callback",
		Home: home + "/", Users: users, Key: key, ClaimsInToken: inToken,
	})
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.noKeys.Load() && strings.HasSuffix(r.URL.Path, "/keys") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		forge := i.forge.Load()
		if forge == nil || !strings.HasSuffix(r.URL.Path, "/token") {
			pages.ServeHTTP(w, r)
			return
		}
		recorded := httptest.NewRecorder()
		pages.ServeHTTP(recorded, r)
		answer := map[string]any{}
		_ = json.Unmarshal(recorded.Body.Bytes(), &answer) // then it stays empty, and the login fails
		(*forge)(w, answer)
	})
	server.Start()
	return i, err
}

// forging makes the provider answer with a token whose claims the function has changed, until the test ends.
func (i *issuer) forging(t *testing.T, change func(claims map[string]any), key *rsa.PrivateKey) {
	t.Helper()
	i.answering(t, func(w http.ResponseWriter, answer map[string]any) {
		raw, _ := answer["id_token"].(string)
		answer["id_token"] = signed(t, key, change, raw)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})
}

func (i *issuer) answering(t *testing.T, answer func(w http.ResponseWriter, answer map[string]any)) {
	t.Helper()
	i.forge.Store(&answer)
	t.Cleanup(func() { i.forge.Store(nil) })
}

// signed signs the claims of a token again, changed.
func signed(t *testing.T, key *rsa.PrivateKey, change func(claims map[string]any), raw string) string {
	claims := map[string]any{}
	if parts := strings.Split(raw, "."); len(parts) == 3 {
		text, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil {
			err = json.Unmarshal(text, &claims)
		}
		errortest.Report(t, err)
	}
	change(claims)
	body, err := json.Marshal(claims)
	errortest.Report(t, err)
	head := fmt.Sprintf(`{"alg":"RS256","typ":"JWT","kid":%q}`, provider.KeyID)
	text := base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	errortest.Report(t, err)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

var (
	school, district *issuer // the first puts the address into the token; the second has it on a page of its own
	system           *servicetest.System
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	school, err = start("school", true,
		provider.User{Subject: "teacher", Name: "Tilda Teacher", Email: "Teacher@School.example"},
		provider.User{Subject: "double", Name: "Double", Email: "double@school.example",
			Claims: map[string]any{"sid": "sid-of-double"}},
		provider.User{Subject: "unverified", Name: "U", Email: "unverified@school.example", Unverified: true},
		provider.User{Subject: "addressless", Name: "A"},
		provider.User{Subject: "private", Name: "P", Email: "teacher@mail.example"},
		provider.User{Subject: "stranger", Name: "S", Email: "stranger@school.example"},
		provider.User{Subject: "kelvin", Name: "K", Email: "\u212aelvin@school.example"},
		provider.User{Subject: "inactive", Name: "I", Email: "inactive@school.example"},
		provider.User{Subject: "without", Name: "W", Email: "without@school.example"},
		provider.User{Subject: "shared", Name: "S", Email: "shared@school.example"})
	if err == nil {
		district, err = start("district", false,
			provider.User{Subject: "head", Name: "Hedda Head", Email: "head@district.example",
				Claims: map[string]any{"hd": "district.example"}},
			provider.User{Subject: "new", Name: "Nora New", Email: "new@district.example",
				Claims: map[string]any{"hd": "district.example"}},
			provider.User{Subject: "pupil", Name: "Pia Pupil", Email: "pia@pupils.district.example",
				Claims: map[string]any{"hd": "district.example"}},
			provider.User{Subject: "consumer", Name: "C", Email: "consumer@district.example"})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return servicetest.Run(m, options(nil), func(s *servicetest.System) { system = s })
}

// options are those of two replicas of identity with the providers, one of which is away; env is set in addition.
func options(env map[string]string) servicetest.Options {
	list, err := json.Marshal([]map[string]any{
		{"name": "school", "title": "School account", "issuer": school.URL, "clientId": client,
			"domains": []string{"school.example"}},
		{"name": "district", "title": "District account", "issuer": district.URL, "clientId": client,
			"domains": []string{"district.example", "pupils.district.example"}, "hostedDomain": true,
			"create": map[string]string{"district.example": "staff", "pupils.district.example": "pupil"}},
		{"name": "away", "title": "Away", "issuer": "http://127.0.0.1:1", "clientId": client,
			"domains": []string{"away.example"}},
	})
	if err != nil {
		panic(err)
	}
	all := map[string]string{
		"BELFRY_OIDC_PROVIDERS": string(list), "BELFRY_OIDC_SECRET_SCHOOL": secret,
		"BELFRY_OIDC_SECRET_DISTRICT": secret, "BELFRY_PUBLIC_URL": home, "BELFRY_SECURE_COOKIES": "true",
		"BELFRY_TRUSTED_PROXIES": "127.0.0.0/8",
	}
	maps.Copy(all, env)
	return servicetest.Options{Services: []string{"identity"}, Replicas: 2, Env: all}
}

var sequence atomic.Int64

// browser is a person's browser: it keeps cookies by their rules, and reaches both replicas of Belfry in turn.
type browser struct {
	*http.Client
	t       *testing.T
	system  *servicetest.System
	address string // which it comes from
	headers map[string]string
	turn    atomic.Int64
}

func newBrowser(t *testing.T, s *servicetest.System) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	errortest.None(t, err)
	n := sequence.Add(1)
	b := &browser{t: t, system: s, address: fmt.Sprintf("198.51.%d.%d", n/250, n%250+1)}
	b.Client = &http.Client{Jar: jar, Transport: b, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if "https://"+r.URL.Host == home || "https://"+via[len(via)-1].URL.Host == home {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	return b
}

// RoundTrip takes requests for Belfry to one of its replicas, as a front door that ends TLS, and checks the exchange
// against the document.
func (b *browser) RoundTrip(r *http.Request) (*http.Response, error) {
	if "https://"+r.URL.Host != home {
		return http.DefaultTransport.RoundTrip(r)
	}
	at, err := url.Parse(b.system.Replica("identity", int(b.turn.Add(1)%2)))
	if err != nil {
		return nil, err
	}
	var sent []byte
	if r.Body != nil {
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	to := r.Clone(r.Context())
	to.Body = io.NopCloser(strings.NewReader(string(sent)))
	to.URL.Scheme, to.URL.Host, to.Host = "http", at.Host, r.URL.Host
	to.Header.Set("X-Forwarded-For", b.address)
	for name, value := range b.headers {
		to.Header.Set(name, value)
	}
	answer, err := http.DefaultTransport.RoundTrip(to)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(strings.NewReader(string(body)))
	if err := apidoctest.Check(apidoctest.Exchange{
		Request: r, Body: sent, Code: answer.StatusCode, Header: answer.Header, Answer: body,
	}); err != nil {
		b.t.Error(err)
	}
	return answer, nil
}

// answer is what a browser shows.
type answer struct {
	code     int
	body     string
	header   http.Header
	location string
}

func (b *browser) do(r *http.Request, err error) answer {
	b.t.Helper()
	errortest.None(b.t, err)
	got, err := b.Do(r.WithContext(b.t.Context()))
	errortest.None(b.t, err)
	body, err := io.ReadAll(got.Body)
	errortest.None(b.t, err)
	_ = got.Body.Close()
	return answer{got.StatusCode, string(body), got.Header, got.Header.Get("Location")}
}

func (b *browser) get(address string) answer {
	b.t.Helper()
	return b.do(http.NewRequest(http.MethodGet, address, nil))
}

var loginID = regexp.MustCompile(`name="id" value="([^"]+)"`)

// signIn begins a login, chooses a user at the provider, and returns the address that the provider sends the browser
// back to. An empty subject cancels.
func (b *browser) signIn(name, subject, returning string) string {
	b.t.Helper()
	begun := b.get(home + "/api/login/oidc/" + name + "?return=" + url.QueryEscape(returning))
	if begun.code != http.StatusFound {
		b.t.Fatalf("the login does not begin: %d %s", begun.code, begun.body)
	}
	page := b.get(begun.location)
	id := loginID.FindStringSubmatch(page.body)
	if id == nil {
		b.t.Fatalf("the provider does not show its login: %d %s", page.code, page.body)
	}
	form := url.Values{"id": {id[1]}, "user": {subject}}
	at := begun.location[:strings.Index(begun.location, "/authorize")] + "/login/username"
	r, err := http.NewRequest(http.MethodPost, at, strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	chosen := b.do(r, err)
	if !strings.HasPrefix(chosen.location, home+"/api/login/oidc/") {
		b.t.Fatalf("the provider does not send the browser back: %d %s", chosen.code, chosen.body)
	}
	return chosen.location
}

// signedIn is a browser of a user who has logged in at a provider.
func signedIn(t *testing.T, s *servicetest.System, name, subject string) *browser {
	t.Helper()
	b := newBrowser(t, s)
	if a := b.get(b.signIn(name, subject, "/")); a.code != http.StatusFound || a.location != "/" {
		t.Fatalf("%s can't log in: %d %s", subject, a.code, a.body)
	}
	return b
}

// whoAmI is the user of the browser's session, at both replicas; 0: there is no session.
func (b *browser) whoAmI() int64 {
	b.t.Helper()
	var ids [2]int64
	for i := range ids {
		a := b.get(home + "/sessions/1/whoami")
		var reply struct {
			ID int64 `json:"user_id"`
		}
		errortest.None(b.t, json.Unmarshal([]byte(a.body), &reply))
		ids[i] = reply.ID
	}
	if ids[0] != ids[1] {
		b.t.Errorf("the replicas know users %d", ids)
	}
	return ids[0]
}

// makeUser makes a user of Belfry and returns its id.
func makeUser(t *testing.T, s *servicetest.System, fields map[string]any) int64 {
	t.Helper()
	all := map[string]any{"name": "Person", "permissions": map[string]bool{"can_api": true}}
	maps.Copy(all, fields)
	return s.Admin(t).Post(t, "/api/admin/users", map[string]any{"user": all}).Must(t, 201).Int(t, "user.id")
}
