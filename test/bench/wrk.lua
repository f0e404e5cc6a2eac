-- Sends the requests of a file in turn: its lines are method, path and body, separated by tabs. Prints one line of
-- figures at the end.
local requests, at = {}, 0

function init(args)
	local headers = {Cookie = os.getenv("BENCH_COOKIE")}
	for line in io.lines(args[1]) do
		local method, path, body = line:match("^(%S+)\t(%S+)\t(.*)$")
		if body == "" then
			body = nil
		else
			headers["Content-Type"] = "application/json"
		end
		if path:find("^/api/login") then -- a login has no session, which would have to be ended
			headers = {}
		end
		requests[#requests + 1] = wrk.format(method, path, headers, body)
	end
end

function request()
	at = at % #requests + 1
	return requests[at]
end

function done(summary, latency)
	local e = summary.errors
	io.write(string.format("\nFIGURES %d %d %d %d %d %d %d\n", summary.requests, summary.duration,
		e.connect + e.read + e.write + e.timeout, e.status,
		latency:percentile(50), latency:percentile(95), latency:percentile(99)))
end
