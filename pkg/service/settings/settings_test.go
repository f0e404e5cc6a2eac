package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

type Store struct {
	URI   settings.URI    `envconfig:"T_URI" required:"true" desc:"where the store is"`
	Token settings.Secret `envconfig:"T_TOKEN" desc:"shared with the neighbours"`
}

type example struct {
	Store
	Wait time.Duration `envconfig:"T_WAIT" default:"2s" desc:"how long to wait"`
}

func (e *example) Check() error {
	if e.Wait <= 0 {
		return errors.New("T_WAIT: must be positive")
	}
	return nil
}

const password = "hunter2"

func set(t *testing.T, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		t.Setenv(pairs[i], pairs[i+1])
	}
}

func TestLoad_ReadsDefaultsAndSecrets(t *testing.T) {
	set(t, "T_URI", "mongodb://belfry:"+password+"@db.example:27017/?authSource=admin", "T_TOKEN", password)
	var e struct {
		Store
		Wait time.Duration `envconfig:"T_WAIT" default:"2s" desc:"how long to wait"`
	}
	errortest.None(t, settings.Load(&e))
	valuetest.Holds(t, e.Wait == 2*time.Second && e.Token.Reveal() == password, "loaded %+v", e)
}

// A Secret made of a file mostly has a newline at its end, which no header can carry.
func TestLoad_TakesNoNewlineAtTheEndOfASecret(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		set(t, "T_URI", "mongodb://db.example"+end, "T_TOKEN", " "+password+" "+end)
		var e Store
		errortest.None(t, settings.Load(&e))
		if e.URI.Reveal() != "mongodb://db.example" || e.Token.Reveal() != " "+password+" " {
			t.Errorf("%q and %q", e.URI.Reveal(), e.Token.Reveal())
		}
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	e := example{Store: Store{URI: settings.URI{Secret: settings.NewSecret("mongodb://belfry:" + password +
		"@db.example/?x=" + password)}, Token: settings.NewSecret(password)}}
	encoded, err := json.Marshal(e)
	errortest.None(t, err)
	for _, text := range []string{fmt.Sprint(e), fmt.Sprintf("%+v", e), fmt.Sprintf("%#v", e),
		fmt.Sprintf("%v %s", e.Token, e.URI), string(encoded), fmt.Sprint(settings.Variables(&e))} {
		valuetest.Lacks(t, text, password, "shows the secret")
	}
	valuetest.Same(t, e.URI.String(), "mongodb://db.example", "the address became")
}

func TestLoad_SaysWhichVariableIsWrongAndNotItsValue(t *testing.T) {
	for name, c := range map[string]struct{ wait, uri, want string }{
		"unparsable": {wait: password, uri: "mongodb://x", want: "T_WAIT: not a valid time.Duration: how long to wait"},
		"checked":    {wait: "-1s", uri: "mongodb://x", want: "T_WAIT: must be positive"},
	} {
		t.Run(name, func(t *testing.T) {
			set(t, "T_URI", c.uri, "T_WAIT", c.wait)
			err := settings.Load(&example{})
			valuetest.Holds(t, err != nil && err.Error() == c.want, "got %v, want %q", err, c.want)
		})
	}
	errortest.Says(t, settings.Load(&example{}), "T_URI", "a missing variable")
}

func TestWriteTable(t *testing.T) {
	var b strings.Builder
	errortest.None(t, settings.WriteTable(&b, settings.Variables(&example{})))
	want := "| variable | default | meaning |\n|---|---|---|\n| `T_URI` | required | where the store is |\n" +
		"| `T_TOKEN` | – | shared with the neighbours |\n| `T_WAIT` | `2s` | how long to wait |\n"
	valuetest.Same(t, b.String(), want)
}
