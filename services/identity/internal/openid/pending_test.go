package openid

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/belfry-schools/belfry/pkg/redisstore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func newPending(t *testing.T) *Pending {
	t.Helper()
	client, prefix := storetest.Redis(t)
	return NewPending(client, redisstore.Keys{Prefix: prefix})
}

func begin(t *testing.T, p *Pending, source string) Attempt {
	t.Helper()
	a, err := p.Begin(t.Context(), "school", "/", source)
	errortest.None(t, err)
	return a
}

func TestOpenID_ALoginIsTakenOnceInItsBrowserAlone(t *testing.T) {
	p := newPending(t)
	a, other := begin(t, p, "192.0.2.1"), begin(t, p, "192.0.2.1")
	for _, key := range []string{"", other.Key, a.State} {
		errortest.Is(t, errortest.Of(p.Take(t.Context(), a.State, key)), ErrState, "with the key %q", key)
	}
	taken, err := p.Take(t.Context(), a.State, a.Key)
	errortest.None(t, err)
	valuetest.Same(t, taken, a)
	errortest.Is(t, errortest.Of(p.Take(t.Context(), a.State, a.Key)), ErrState, "again")
}

// The library sends a command again whose answer is lost. The login was gone by then, and its user had to begin again.
func TestOpenID_ALoginWhoseAnswerFromRedisIsLostIsTakenOnce(t *testing.T) {
	client, prefix, lose := storetest.RedisLosing(t)
	p := NewPending(client, redisstore.Keys{Prefix: prefix})
	first, a := begin(t, p, "192.0.2.1"), begin(t, p, "192.0.2.1")
	errortest.None(t, errortest.Of(p.Take(t.Context(), first.State, first.Key))) // the server has the script
	lose()
	taken, err := p.Take(t.Context(), a.State, a.Key)
	errortest.None(t, err)
	valuetest.Same(t, taken, a)
	errortest.Is(t, errortest.Of(p.Take(t.Context(), a.State, a.Key)), ErrState, "again")
}

// TestOpenID_AFloodFromOneAddressEndsItsOwnLoginsAlone begins more logins than one address may have. The oldest are
// those of the first milliseconds, in any order.
func TestOpenID_AFloodFromOneAddressEndsItsOwnLoginsAlone(t *testing.T) {
	const more = 100
	p := newPending(t)
	bystander, first := begin(t, p, "192.0.2.1"), begin(t, p, "192.0.2.2")
	var last Attempt
	for range perOne + more {
		last = begin(t, p, "192.0.2.2")
	}
	errortest.Is(t, errortest.Of(p.Take(t.Context(), first.State, first.Key)), ErrState, "the first login of the flood")
	for name, a := range map[string]Attempt{"a bystander's": bystander, "the last of the flood": last} {
		errortest.Report(t, errortest.Of(p.Take(t.Context(), a.State, a.Key)), "%s login", name)
	}
}

// TestOpenID_AFloodFromOneNetworkEndsItsOwnLoginsAlone: a /48 of IPv6, which any customer may have, has 65,536 sources
// by which logins are counted, and could end those of all others. It has lower bounds than a deployment.
func TestOpenID_AFloodFromOneNetworkEndsItsOwnLoginsAlone(t *testing.T) {
	p := newPending(t)
	p.inAll, p.perNetwork = 300, 100
	bystander, first := begin(t, p, "2001:db8:1::1"), begin(t, p, "2001:db8:2::1")
	for i := range p.inAll {
		begin(t, p, fmt.Sprintf("2001:db8:2:%x::1", i))
	}
	errortest.Is(t, errortest.Of(p.Take(t.Context(), first.State, first.Key)), ErrState, "the first login of the flood")
	kept, err := p.redis.ZCard(t.Context(), p.prefix+"logins").Result()
	errortest.None(t, err)
	valuetest.Same(t, kept, int64(p.perNetwork+1), "logins, with the bystander's")
	errortest.None(t, errortest.Of(p.Take(t.Context(), bystander.State, bystander.Key)), "a bystander's login")
}

// TestOpenID_TheNumberOfLoginsIsBounded has a lower bound than a deployment, which would take a minute to reach.
func TestOpenID_TheNumberOfLoginsIsBounded(t *testing.T) {
	const more = 100
	p := newPending(t)
	p.inAll = 300
	first := begin(t, p, "first")
	for i := range p.inAll + more {
		begin(t, p, strconv.Itoa(i))
	}
	if n, err := p.redis.ZCard(t.Context(), p.prefix+"logins").Result(); err != nil || n != int64(p.inAll) {
		t.Errorf("%d logins are kept, %v", n, err)
	}
	errortest.Is(t, errortest.Of(p.Take(t.Context(), first.State, first.Key)), ErrState, "the first login")
}
