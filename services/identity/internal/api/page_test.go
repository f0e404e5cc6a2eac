package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// Each failed login has its texts in every language.
func TestPage_EveryFailureInEachLanguage(t *testing.T) {
	_, english, err := textsFor("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range pageTags {
		name, texts, err := textsFor(tag.String() + "-AT, en;q=0.5")
		if err != nil || name != tag.String() {
			t.Fatal(name, err)
		}
		if !slices.Equal(slices.Sorted(maps.Keys(texts)), slices.Sorted(maps.Keys(english))) {
			t.Errorf("%s has other texts than English", name)
		}
		for _, f := range append(slices.Clone(failures), failure{key: "other"}, failure{key: "many"}) {
			for _, key := range []string{f.key + ".title", f.key + ".text"} {
				if texts[key] == "" || strings.Contains(texts[key], "{") {
					t.Errorf("%s: %s is %q", name, key, texts[key])
				}
			}
		}
	}
}

func TestPage_IsInTheBrowsersLanguage(t *testing.T) {
	system := servicetest.Start(t, servicetest.Options{Services: []string{"identity"}})
	a := system.Client(t).Do(t, http.MethodGet, "/api/login/oidc/none", nil, "Accept-Language", "de").Must(t, 404)
	if !strings.Contains(a.Body, `<html lang="de">`) || !strings.Contains(a.Body, "Diese Anmeldung gibt es nicht") ||
		a.Header.Get("Content-Language") != "de" || !strings.Contains(a.Header.Get("Vary"), "Accept-Language") {
		t.Errorf("%v %s", a.Header, a.Body)
	}
}
