package follow

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/change"
	"github.com/belfry-schools/belfry/pkg/problem"
)

var examplePlaces = []Place{
	{},
	{{Page: 1, Mark: 2, Read: 3}, {Page: 4, Mark: 5, Read: 6}, {Page: 7, Mark: 8, Read: 9}},
	{{Page: 1<<63 - 1, Mark: 1<<32 - 1, Read: 1<<31 - 1}, change.Position{}, {Read: 200}},
}

// FuzzToken holds that a token is refused, or the one text of its place, and that only tokens of the deployment are
// taken.
func FuzzToken(f *testing.F) {
	s := New(Options{Secret: "a secret", Zone: "Europe/London"})
	others := []*Service{
		New(Options{Secret: "another", Zone: "Europe/London"}), New(Options{Secret: "a secret", Zone: "Europe/Paris"}),
	}
	for _, p := range examplePlaces {
		f.Add(s.Token(p))
		f.Add(others[0].Token(p))
	}
	for _, text := range []string{"", "AQ", "0", "....", "AQAAAAAAAAAAAA==", s.Token(examplePlaces[1]) + "\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, token string) {
		p, err := s.Parse(token)
		if err != nil {
			if !problem.Is(err, problem.Invalid) {
				t.Errorf("%q: %v", token, err)
			}
			return
		}
		if s.Token(p) != token {
			t.Errorf("%q and %q are one place", token, s.Token(p))
		}
		for _, other := range others {
			if _, err := other.Parse(token); err == nil {
				t.Errorf("another deployment takes %q", token)
			}
		}
		for cut := range len(token) {
			if _, err := s.Parse(token[:cut]); err == nil {
				t.Errorf("%q is taken, which was cut", token[:cut])
			}
		}
	})
}

func TestClients_TokensAreOfOnePlaceAndOneDeployment(t *testing.T) {
	s := New(Options{Secret: "a secret", Zone: "Europe/London"})
	for _, p := range examplePlaces {
		token := s.Token(p)
		if got, err := s.Parse(token); err != nil || got != p {
			t.Errorf("%q: %+v, %v; want %+v", token, got, err, p)
		}
		for i := range token {
			forged := []byte(token)
			forged[i] ^= 1
			if _, err := s.Parse(string(forged)); !problem.Is(err, problem.Invalid) {
				t.Errorf("%q: %v", forged, err)
			}
		}
	}
}
