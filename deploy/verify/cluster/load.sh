# Sourced. Load through the front door while something is done to the cluster, and the count of what failed. The generator is vegeta: a fixed rate whatever
# the answers take, every answer counted.

RATE=150    # requests a second
DURATION=70 # seconds: 10,500 requests

# targets writes what is asked for, in turn: each service, reads of lists and of records, and every ninth request makes an event. None is tried again.
targets() {
	local event=$1 category=$2 staff=$3 read
	jq -n --arg category "$category" --arg organiser "$staff" \
		'{event: {body: "Under load", eventcategory_id: $category, organiser_id: $organiser, starts_at_text: "2027-05-03 09:30", ends_at_text: "2027-05-03 10:30"}}' >"$RUN/event.json"
	for read in "/api/elements?namelike=ali" "/api/elements/$staff" "/api/elements/$staff/commitments?start_date=2026-11-23" /api/events/"$event" "/api/events/$event/notes" \
		"/api/eventcategories" "/sessions/1/whoami" "/api/users?active=true"; do
		printf 'GET https://%s%s\n\n' "$HOST" "$read"
	done
	printf 'POST https://%s/api/events\nContent-Type: application/json\n@%s/event.json\n' "$HOST" "$RUN"
}

# under_load WHAT COMMAND... runs a command while requests come, waits for the last of them, and fails unless every one was answered with 2xx and the command
# was done before the last.
under_load() {
	local what=$1 began=$SECONDS took attack
	shift
	attack=$(mktemp -p "$RUN")
	inside "$BIN/vegeta-v$VEGETA_VERSION/vegeta" attack -targets="$RUN/targets" -rate=$RATE -duration=${DURATION}s -timeout=15s -root-certs="$PKI/ca.crt" \
		-header "Cookie: $(session)" -output="$attack" &
	local generator=$!
	sleep 3
	"$@" >"$RUN/log/action.log" 2>&1 || fail "$what: $(tail -5 "$RUN/log/action.log")"
	took=$((SECONDS - began))
	memory_peak
	[ "$took" -lt "$DURATION" ] || fail "$what took $took s, longer than the load; raise DURATION in load.sh"
	wait "$generator"
	judge "$what in $took s" "$attack"
}

# judge WHAT ATTACK
judge() {
	local report sent failed
	report=$(inside "$BIN/vegeta-v$VEGETA_VERSION/vegeta" report -type=json "$2")
	sent=$(jq .requests <<<"$report")
	failed=$(jq '.requests - ([.status_codes | to_entries[] | select(.key | startswith("2")) | .value] | add // 0)' <<<"$report")
	say "$1: $failed of $sent requests failed; p50 $(jq '.latencies."50th" / 1e6 | round' <<<"$report") ms, p99 $(jq '.latencies."99th" / 1e6 | round' <<<"$report") ms, $(jq -c .status_codes <<<"$report")"
	[ "$failed" -eq 0 ] || fail "$1: $failed of $sent requests failed: $(jq -c .errors <<<"$report")"
	[ "$sent" -ge 10000 ] || fail "$1: only $sent requests were sent"
}
