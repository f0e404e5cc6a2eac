# Sourced. Load through the front door while something is done to the cluster, and the count of failed requests. The
# generator is vegeta: it keeps a fixed rate however long answers take, and counts every answer.

RATE=30 # requests a second

# targets writes the requests, which are sent in turn: to each service with data, reads of lists and of records; every
# ninth request creates an event. None is retried.
targets() {
	local event=$1 category=$2 staff=$3 read
	jq -n --arg category "$category" --arg organiser "$staff" \
		'{event: {body: "Under load", eventcategory_id: $category, organiser_id: $organiser,
			starts_at_text: "2027-05-03 09:30", ends_at_text: "2027-05-03 10:30"}}' >"$RUN/event.json"
	for read in "/api/elements?namelike=ali" "/api/elements/$staff" \
		"/api/elements/$staff/commitments?start_date=2026-11-23" /api/events/"$event" "/api/events/$event/notes" \
		"/api/eventcategories" "/sessions/1/whoami" "/api/users?active=true"; do
		printf 'GET https://%s%s\n\n' "$HOST" "$read"
	done
	printf 'POST https://%s/api/events\nContent-Type: application/json\n@%s/event.json\n' "$HOST" "$RUN"
}

# under_load WHAT COMMAND... runs a command while requests come, from some seconds before to some seconds after, and
# waits for the last answer. It fails unless every request was answered with 2xx.
under_load() {
	local what=$1 began took attack
	shift
	attack=$(mktemp -p "$RUN")
	login # an unused session ends
	inside "$BIN/vegeta-v$VEGETA_VERSION/vegeta" attack -targets="$RUN/targets" \
		-rate=$RATE -timeout=15s -root-certs="$PKI/ca.crt" -header "Cookie: $(session)" -output="$attack" &
	local generator=$!
	sleep 3
	began=$SECONDS
	"$@" >"$RUN/log/action.log" 2>&1 || fail "$what: $(tail -5 "$RUN/log/action.log")"
	took=$((SECONDS - began))
	memory_peak
	sleep 5
	inside pkill -INT -x vegeta # it sends no more, and waits for answers
	wait "$generator" || true
	judge "$what in $took s" "$attack"
}

# judge WHAT ATTACK prints the figures of a load, and fails when a request failed or too few were sent.
judge() {
	local report sent failed
	report=$(inside "$BIN/vegeta-v$VEGETA_VERSION/vegeta" report -type=json "$2")
	sent=$(jq .requests <<<"$report")
	failed=$(jq '.requests - ([.status_codes | to_entries[] | select(.key | startswith("2")) | .value] | add // 0)' \
		<<<"$report")
	say "$1: $failed of $sent requests failed;" "$(jq -r '
		def ms: . / 1e6 | round;
		"p50 \(.latencies."50th" | ms) ms, p99 \(.latencies."99th" | ms) ms, \(.status_codes | tojson)"
	' <<<"$report")"
	[ "$failed" -eq 0 ] || fail "$1: $failed of $sent requests failed: $(jq -c .errors <<<"$report")"
	[ "$sent" -ge 300 ] || fail "$1: only $sent requests were sent"
}
