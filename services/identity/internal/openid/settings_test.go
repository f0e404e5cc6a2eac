package openid

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

const one = `{"name":"school","title":"School","issuer":"https://id.example","clientId":"x"}`

func TestOpenID_SettingsAreChecked(t *testing.T) {
	changed := func(pairs ...string) string {
		return "[" + strings.TrimSuffix(one, "}") + "," + strings.Join(pairs, ",") + "}]"
	}
	for list, want := range map[string]string{
		"":                                       "",
		"[]":                                     "",
		"[" + one + "]":                          "",
		"[" + one + "," + one + "]":              "two providers are named",
		"school":                                 "not a list of providers in JSON",
		changed(`"secret":"x"`):                  "unknown field",
		changed(`"domains":["A.b"]`):             "not a domain in lower case",
		changed(`"issuer":"http://x"`):           "issuer must be an https address",
		changed(`"issuer":"http://127.0.0.1:1"`): "",
		changed(`"name":"a-b"`):                  "name must be",
		changed(`"title":""`):                    "title and clientId are needed",
		changed(`"hostedDomain":true`):           "domains are needed",
		changed(`"emailClaim":"upn"`):            "needs trustEmail",
		changed(`"emailClaim":"upn"`, `"trustEmail":true`):                 "",
		changed(`"create":{"a.b":"staff"}`):                                "must be one of domains",
		changed(`"domains":["a.b"]`, `"create":{"a.b":"king"}`):            "must be one of domains",
		changed(`"domains":["a.b"]`, `"create":{"a.b":"staff"}`):           "",
		"[" + one + "," + strings.Replace(one, "school", "other", 1) + "]": "domains are needed",
		"[" + strings.Repeat(one+",", maxProviders) + one + "]":            "more than 20 providers",
	} {
		s := Settings{List: list, PublicURL: "https://belfry.school.example", UUIDLogin: UUIDAll}
		err := s.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", list, err, want)
		}
	}
	for name, s := range map[string]Settings{
		"BELFRY_PUBLIC_URL": {List: "[]", UUIDLogin: UUIDAll},
		"BELFRY_UUID_LOGIN": {UUIDLogin: "off"},
		"domains are needed": {List: "[" + one + "]", PublicURL: "https://belfry.school.example",
			UUIDLogin: UUIDOthers},
	} {
		errortest.Says(t, s.Check(), name, "%+v", s)
	}
}

func TestOpenID_TheProviderAnswersForTheAddress(t *testing.T) {
	for text, want := range map[string]error{
		`{"email":"a@b.example","email_verified":true}`:           nil,
		`{"email":"a@B.example","email_verified":"true"}`:         nil,
		`{"email":"a@b.example"}`:                                 ErrUnverified,
		`{"email":"a@b.example","email_verified":false}`:          ErrUnverified,
		`{"email":"a@b.example","email_verified":1}`:              ErrUnverified,
		`{"email_verified":true}`:                                 ErrNoAddress,
		`{"email":"b.example","email_verified":true}`:             ErrNoAddress,
		`{"email":"a@","email_verified":true}`:                    ErrNoAddress,
		`{"email":["a@b.example"],"email_verified":true}`:         ErrNoAddress,
		`{"email":"a@c.example","email_verified":true}`:           ErrDomain,
		`{"email":"a@b.example@c.example","email_verified":true}`: ErrDomain,
		`{"email":"a@x.b.example","email_verified":true}`:         ErrDomain,
	} {
		said := claims{}
		errortest.None(t, json.Unmarshal([]byte(text), &said))
		c := &Client{Provider: Provider{Domains: []string{"b.example"}}}
		errortest.Is(t, errortest.Of(c.identify(said)), want, text)
		trusting := &Client{Provider: Provider{Domains: []string{"b.example"}, TrustEmail: true}}
		if _, err := trusting.identify(said); text == `{"email":"a@b.example"}` && err != nil ||
			strings.Contains(text, "false") && !errors.Is(err, ErrUnverified) {
			t.Errorf("%s of a trusted provider: %v", text, err)
		}
		other := &Client{Provider: Provider{EmailClaim: "upn"}}
		said["upn"] = json.RawMessage(`"a@b.example"`)
		errortest.Is(t, errortest.Of(other.identify(said)), ErrUnverified, "%s names another claim verified", text)
	}
}
