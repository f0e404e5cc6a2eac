package catalogue_test

import (
	"maps"
	"testing"
	"testing/fstest"

	"github.com/belfry-schools/belfry/pkg/web/catalogue"
)

func read(english, german string) (catalogue.Catalogue, error) {
	return catalogue.Read(fstest.MapFS{
		"texts/en.txt": &fstest.MapFile{Data: []byte(english)}, "texts/de.txt": &fstest.MapFile{Data: []byte(german)},
	})
}

func TestRead_TextsByTheirKeys(t *testing.T) {
	c, err := read("# Greetings.\n\nhi = Hello = hi \r\nday.long = {d} {month}", "hi = Hallo\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"hi": "Hello = hi", "day.long": "{d} {month}"}
	if !maps.Equal(c.For("en").ByKey, want) || c.For("de").ByKey["hi"] != "Hallo" {
		t.Errorf("got %v", c)
	}
}

func TestRead_NeitherBadNorDoubleLinesNorMissingFiles(t *testing.T) {
	for _, source := range []string{"hi", "hi =", "hi=Hello", "hi = Hello\nhi = Hello"} {
		if _, err := read("hi = Hello", source); err == nil {
			t.Errorf("%q is no error", source)
		}
	}
	if _, err := catalogue.Read(fstest.MapFS{"texts/en.txt": &fstest.MapFile{}}); err == nil {
		t.Error("a language without a file is no error")
	}
}

func TestFor_TheLanguageThatABrowserAccepts(t *testing.T) {
	c, err := read("", "")
	if err != nil {
		t.Fatal(err)
	}
	for accept, want := range map[string]string{
		"": "en", "de": "de", "de-AT,de;q=0.8": "de", "fr": "en", "en-GB,de;q=0.5": "en",
		"fr,de;q=0.3": "de", "!": "en",
	} {
		if got := c.For(accept).Language; got != want {
			t.Errorf("%q: %s", accept, got)
		}
	}
}
