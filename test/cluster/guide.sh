# Sourced. Runs docs/operate.md as it is written, from an empty namespace to a loaded school and back: its blocks of
# commands, in their order, in one shell that knows no more than a reader does.

GUIDE=$CHECKOUT/docs/operate.md

# commands SECTION... prints the blocks of commands below the guide's headings of that name.
commands() {
	local section
	for section in "$@"; do
		awk -v heading="## $section" '
			/^## / {wanted = $0 == heading}
			/^```/ {inside = wanted && $0 == "```sh"; next}
			inside' "$GUIDE"
	done
}

# values prints the first block of values in the guide.
values() { awk '/^```/ {if (inside) exit; inside = $0 == "```yaml"; next} inside' "$GUIDE"; }

# given makes what the guide leaves to its reader: the host's certificate and address, images in the registry, and the
# files of a school.
given() {
	local work=$1 host registry version program
	mkdir "$work"
	ln -s "$CHECKOUT/charts" "$work/charts"
	values >"$work/values.yaml"
	host=$(sed -n 's/^host: //p' "$work/values.yaml")
	registry=$(sed -n 's/^  registry: //p' "$work/values.yaml")
	version=$(sed -n 's/^  tag: //p' "$work/values.yaml")
	certificate ca guide "$host" "" "DNS:$host"
	cp "$PKI/guide.crt" "$work/belfry.crt"
	cp "$PKI/guide.key" "$work/belfry.key"
	echo "$FRONT $host" >>"$RUN/hosts"
	for program in "${SERVICES[@]}" belfryctl; do
		retag "belfry.test/belfry-$program:now" "$registry/belfry-$program:$version"
	done
	"$RUN/belfryctl" demo --pupils 60 --years 1 --out "$work/school" >/dev/null
}

# retag FROM TO gives an image another name on all nodes, as a registry would.
retag() {
	local node
	for node in "${NODES[@]}"; do ctr "$node" images tag --force "$1" "$2" >/dev/null; done
}

check_guide() {
	step "docs/operate.md as it is written, from an empty namespace to a loaded school, stopped, started and removed"
	local work=$RUN/guide began=$SECONDS
	given "$work"
	commands "Install" "The first administrator" "Load the school" "Change settings" "Uninstall" >"$work/commands"
	inside env MONGODB_URI="mongodb://mongodb.stores:27017/" REDIS_URL="redis://valkey.stores:6379/2" \
		SSL_CERT_FILE="$PKI/ca.crt" KUBECONFIG="$RUN/admin.kubeconfig" \
		PATH="$RUN:$KUBERNETES:$BIN/helm-v$HELM_VERSION:$PATH" \
		sh -c 'cd "$1" && exec bash -euo pipefail commands' sh "$work" >"$RUN/log/guide.log" 2>&1 ||
		fail "the guide's commands: $(tail -20 "$RUN/log/guide.log")"
	[ "$(grep -c "^ok      log out" "$RUN/log/guide.log")" -eq 2 ] ||
		fail "not every step of the two checks of the guide was done: $(cat "$RUN/log/guide.log")"
	say "$(grep -cv '^ ' "$work/commands") commands in $((SECONDS - began)) s; the users then, and what was loaded:"
	grep -E '^(NUMBER|ID)|Ada King|administrator@|records in' "$RUN/log/guide.log" |
		while read -r line; do say "  $line"; done
	kubectl delete namespace belfry >/dev/null
}
