package api

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web/catalogue"
)

// Each failed login has its texts in every language.
func TestPage_EveryFailureInEachLanguage(t *testing.T) {
	all, err := catalogue.Read(pageTexts)
	errortest.None(t, err)
	english := all.For("").ByKey
	for _, texts := range all {
		name, byKey := texts.Language, texts.ByKey
		valuetest.MustSame(t, all.For(name+"-AT, en;q=0.5").Language, name, name)
		valuetest.List(t, slices.Sorted(maps.Keys(byKey)), slices.Sorted(maps.Keys(english)),
			"%s has other texts than English", name)
		for _, f := range append(slices.Clone(failures), failure{key: "other"}, failure{key: "many"}) {
			for _, text := range []string{byKey[f.key+".title"], f.text(byKey)} {
				valuetest.Holds(t, text != "" && !strings.Contains(text, "{"), "%s: %s is %q", name, f.key, text)
			}
		}
	}
}
