# Sourced. The stores of the tests, run for this cluster alone, outside it. They listen on the host's loopback address;
# a forwarder makes them available to the pods at the node's address.

stores() (
	cd "$CHECKOUT" &&
		env -u MONGODB_URI -u REDIS_URL STORES_DIR="$RUN/stores" go run ./deploy/dev/stores/cmd/stores "$1"
)

stores_up() {
	local addresses
	addresses=$(stores up 2>"$RUN/log/stores.log") ||
		fail "the stores did not come up: $(tail -5 "$RUN/log/stores.log")"
	# It enters the machine's namespaces, except the network's: it connects from the host's.
	nsenter --target "$MACHINE" --mount --pid -- \
		setsid sh -c 'log=$1; shift; exec "$@" >>"$log" 2>&1 </dev/null &' sh "$RUN/log/forward.log" \
		"$RUN/forward" /proc/1/ns/net "$NODE:27017=$(address MONGODB_URI)" "$NODE:6379=$(address REDIS_URL)"
	need 10 forward inside sh -c "ss -ltn | grep -q '$NODE:6379 '"
}

# address VARIABLE prints the host:port of an address that `stores up` printed.
address() { sed -n "s,^export $1='[a-z]*://\([^/']*\).*,\1,p" <<<"$addresses"; }

stores_down() {
	[ ! -d "$RUN/stores" ] || stores wipe 2>/dev/null
}
