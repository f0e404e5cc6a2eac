package sender

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// errAddress says that a webhook's endpoint has a forbidden address.
var errAddress = errors.New("the address is not a public one, and not in a network that the configuration allows")

// refusedNetworks are those that no webhook is sent into unless the configuration names them: this host, private
// and shared networks, those of the link, protocol and documentation blocks, multicast, and the reserved rest
// (IANA's special-purpose registries).
func refusedNetworks() []netip.Prefix {
	return sequence.Map([]string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24",
		"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
		"240.0.0.0/4",
		"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7",
		"fe80::/10", "fec0::/10", "ff00::/8",
	}, netip.MustParsePrefix)
}

// addresses decides which addresses webhooks may be sent to.
type addresses struct {
	refused, allowed []netip.Prefix
}

// check says whether a webhook may be sent to the address. An IPv6 address that stands for an IPv4 one counts as that.
func (a addresses) check(ip netip.Addr, plain bool) error {
	ip = embedded(ip.WithZone(""))
	in := func(networks []netip.Prefix) bool {
		return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(ip) })
	}
	if in(a.allowed) || (!plain && !in(a.refused)) {
		return nil
	}
	return errAddress
}

// embedded returns the IPv4 address that an IPv6 one leads to: mapped, by 6to4 or by NAT64.
func embedded(ip netip.Addr) netip.Addr {
	if ip = ip.Unmap(); ip.Is4() {
		return ip
	}
	bytes := ip.As16()
	switch {
	case netip.MustParsePrefix("2002::/16").Contains(ip):
		return netip.AddrFrom4([4]byte(bytes[2:6]))
	case netip.MustParsePrefix("64:ff9b::/96").Contains(ip):
		return netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return ip
}

// dialer connects only where a webhook may be sent. It checks the address that the connection is made to, after names
// were resolved, so that a name can't lead elsewhere than it did when it was checked.
func (a addresses) dialer(plain bool) *net.Dialer {
	return &net.Dialer{Timeout: connectTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return errAddress
		}
		return a.check(to.Addr(), plain)
	}}
}

// resolveTimeout bounds the resolution of an endpoint's host when it is registered.
const resolveTimeout = 2 * time.Second

// CheckURL implements notice.Webhooks. It accepts a host that can't be found now: what counts is where it is when a
// delivery is made.
func (a addresses) CheckURL(ctx context.Context, text string) string {
	u, err := url.Parse(text)
	if err != nil || !hasEndpoint(u) || u.Opaque != "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "is not an https address"
	}
	if u.User != nil || u.Fragment != "" {
		return "must have no user and no fragment"
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		found = nil
	}
	for _, ip := range found {
		if a.check(ip, false) != nil {
			return "is at an address that is not allowed"
		}
	}
	if plain := u.Scheme == "http"; plain &&
		(len(found) == 0 || slices.ContainsFunc(found, func(ip netip.Addr) bool { return a.check(ip, plain) != nil })) {
		return "must begin with https://"
	}
	return ""
}

// hasEndpoint says whether an address has a host and a port that can be connected to. No name ends in a number: some
// resolvers read an IPv4 address there, such as 127.0.0.1 in 2130706433.
func hasEndpoint(u *url.URL) bool {
	if port, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16); err != nil || port == 0 {
		return false
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return true
	}
	name := strings.TrimSuffix(u.Hostname(), ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return last != "" && err != nil
}

// withoutAddress makes what the network said fit for the delivery log.
func withoutAddress(err error) string {
	if wrapped, ok := errors.AsType[*url.Error](err); ok { // it repeats the endpoint, which may hold a key
		err = wrapped.Err
	}
	var (
		dns     *net.DNSError
		timeout net.Error
	)
	switch {
	case errors.Is(err, errAddress):
		return errAddress.Error()
	case errors.As(err, &dns):
		return "the host can't be found"
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no answer within %v", attemptTimeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	}
	return fact.OneLine(err.Error(), maxFault) // it may repeat what the receiver said
}
