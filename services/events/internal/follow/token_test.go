package follow

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

var examplePlaces = []Place{
	{},
	{{Page: 1, Mark: 2, Read: 3}, {Page: 4, Mark: 5, Read: 6}, {Page: 7, Mark: 8, Read: 9}},
	{{Page: 1<<63 - 1, Mark: 1<<32 - 1, Read: 1<<31 - 1}, change.Position{}, {Read: 200}},
}

// FuzzToken holds that only tokens of the deployment are taken. Package sealed tests what is cut or forged.
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
		if _, err := s.Parse(token); err != nil {
			valuetest.Holds(t, problem.Is(err, problem.Malformed), "%q: %v", token, err)
			return
		}
		for _, other := range others {
			errortest.Some(t, errortest.Of(other.Parse(token)), "another deployment takes %q", token)
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
		if other := s.Token(p); other == token || len(other) != len(token) {
			t.Errorf("two tokens of one place: %q, %q", token, other)
		}
		if _, err := s.Parse(token[1:]); !problem.Is(err, problem.Malformed) {
			t.Errorf("%q is taken, which was cut: %v", token[1:], err)
		}
	}
}
