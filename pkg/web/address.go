package web

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// The networks of IPv6 that count as one address, and as one site.
const (
	sourceBits  = 64
	networkBits = 48
)

// ClientAddress returns the address that the request came from: the peer's, or, when the peer is a trusted proxy, the
// last address in X-Forwarded-For that is not a trusted proxy. The header's lines are one list, in their order. An
// entry that is not an address ends the search: the client may have invented the entries before it, so the proxy that
// passed it on counts as the client. A port or zone is not part of the address.
func ClientAddress(c *fiber.Ctx, trusted []netip.Prefix) string {
	address := peerAddress(c)
	hops := string(bytes.Join(c.Request().Header.PeekAll(fiber.HeaderXForwardedFor), []byte(",")))
	for _, hop := range slices.Backward(strings.Split(hops, ",")) {
		if !isTrusted(address, trusted) {
			break
		}
		hop = strings.Trim(hop, " \t")
		if hop == "" { // an empty element of a list is ignored (RFC 9110, section 5.6.1)
			continue
		}
		parsed, ok := parseHop(hop)
		if !ok {
			break
		}
		address = parsed
	}
	return address.String()
}

// SourceOf returns the source that an address counts as: an IPv4 address, or a /64 of IPv6. An invalid address is
// returned as it is.
func SourceOf(address string) string { return prefixOf(address, sourceBits) }

// NetworkOf returns what may have many sources: a /48 of IPv6. Of any other address it is SourceOf.
func NetworkOf(address string) string { return prefixOf(address, networkBits) }

func prefixOf(address string, bits int) string {
	ip, err := netip.ParseAddr(address)
	ip = ip.Unmap()
	switch {
	case err != nil:
		return address
	case ip.Is4():
		return ip.String()
	}
	return netip.PrefixFrom(ip, bits).Masked().String()
}

// peerAddress returns the address at the other end of the connection.
func peerAddress(c *fiber.Ctx) netip.Addr {
	address, _ := netip.AddrFromSlice(c.Context().RemoteIP())
	return address.Unmap()
}

// isTrusted says whether the address is that of a trusted proxy.
func isTrusted(address netip.Addr, trusted []netip.Prefix) bool {
	return slices.ContainsFunc(trusted, func(n netip.Prefix) bool { return n.Contains(address) })
}

// parseHop reads an address as proxies write it: with or without a port, IPv6 with or without brackets.
func parseHop(text string) (netip.Addr, bool) {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if text, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(text, ":") {
			return netip.Addr{}, false
		}
	}
	address, err := netip.ParseAddr(text)
	return address.Unmap().WithZone(""), err == nil
}
