package catalogue_test

import (
	"maps"
	"testing"
	"testing/fstest"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/web/catalogue"
)

func read(english, german string) (catalogue.Catalogue, error) {
	return catalogue.Read(fstest.MapFS{
		"texts/en.txt": &fstest.MapFile{Data: []byte(english)}, "texts/de.txt": &fstest.MapFile{Data: []byte(german)},
	})
}

func TestRead_TextsByTheirKeys(t *testing.T) {
	c, err := read("# Greetings.\n\nhi = Hello = hi \r\nday.long = {d} {month}", "hi = Hallo\n")
	errortest.None(t, err)
	want := map[string]string{"hi": "Hello = hi", "day.long": "{d} {month}"}
	valuetest.Holds(t, maps.Equal(c.For("en").ByKey, want) && c.For("de").ByKey["hi"] == "Hallo", "got %v", c)
}

func TestRead_NeitherBadNorDoubleLinesNorMissingFiles(t *testing.T) {
	for _, source := range []string{"hi", "hi =", "hi=Hello", "hi = Hello\nhi = Hello"} {
		errortest.Some(t, errortest.Of(read("hi = Hello", source)), "%q is no error", source)
	}
	errortest.Some(t, errortest.Of(catalogue.Read(fstest.MapFS{"texts/en.txt": &fstest.MapFile{}})),
		"a language without a file is no error")
}

func TestFor_TheLanguageThatABrowserAccepts(t *testing.T) {
	c, err := read("", "")
	errortest.None(t, err)
	for accept, want := range map[string]string{
		"": "en", "de": "de", "de-AT,de;q=0.8": "de", "fr": "en", "en-GB,de;q=0.5": "en",
		"fr,de;q=0.3": "de", "!": "en",
	} {
		valuetest.Same(t, c.For(accept).Language, want, "%q", accept)
	}
}
