package main

import "fmt"

// Parts of expressions.
const (
	public   = `OURS,belfry_listener!~".* internal"`
	internal = `OURS,belfry_listener=~".* internal"`
	requests = "http_server_request_duration_seconds"
)

// rate is the rate of a counter by some labels.
func rate(by, metric, of string) string {
	return fmt.Sprintf("sum by (%s) (rate(%s{%s}[$__rate_interval]))", by, metric, of)
}

// quantile is a share of a histogram by some labels.
func quantile(share, by, metric, of string) string {
	return fmt.Sprintf("histogram_quantile(%s, %s)", share, rate("le, "+by, metric+"_bucket", of))
}

// boards are the dashboards. A test asks a real Prometheus each query, and demands that each metric of Belfry's own is
// in one.
var boards = []board{
	{uid: "belfry-requests", title: "Belfry: requests", panels: []panel{
		{title: "Requests", unit: "reqps", about: "What clients ask, by service.", queries: []query{
			{rate("service", requests+"_count", public), "{{service}}"},
		}},
		{title: "Share that failed", unit: "percentunit",
			about: "Answers of 5xx. 503: a store or another service is away or slow. 500: a fault of Belfry.",
			queries: []query{{
				"(" + rate("service", requests+"_count", public+`,http_response_status_code=~"5.."`) + " or 0 * " +
					rate("service", requests+"_count", public) + ") / " +
					rate("service", requests+"_count", public), "{{service}}",
			}}},
		{title: "Answers by status", unit: "reqps", about: "Answers by status code.", queries: []query{
			{rate("http_response_status_code", requests+"_count", public), "{{http_response_status_code}}"},
		}},
		{title: "Busiest routes", unit: "reqps", about: "The ten routes that are asked most.", queries: []query{
			{"topk(10, " + rate("http_request_method, http_route", requests+"_count", public) + ")",
				"{{http_request_method}} {{http_route}}"},
		}},
		{title: "Slowest routes", unit: "s", about: "The ten slowest routes: one request in twenty takes longer.",
			queries: []query{
				{"topk(10, " + quantile("0.95", "http_request_method, http_route", requests, public) + " > 0)",
					"{{http_request_method}} {{http_route}}"},
			}},
		{title: "Routes that fail", unit: "reqps",
			about: "Where answers of 5xx come from. Empty as long as all is well.",
			queries: []query{
				{rate("http_request_method, http_route, http_response_status_code", requests+"_count",
					public+`,http_response_status_code=~"5.."`) + " > 0",
					"{{http_response_status_code}} {{http_request_method}} {{http_route}}"},
			}},
		{title: "Time to answer", unit: "s", about: "Half, one in twenty and one in a hundred take longer.",
			queries: []query{
				{quantile("0.5", "namespace", requests, public), "half"},
				{quantile("0.95", "namespace", requests, public), "1 in 20"},
				{quantile("0.99", "namespace", requests, public), "1 in 100"},
			}},
		{title: "Logins", unit: "reqps", about: "Logins by the status of their answer: 401 wrong, 429 refused.",
			queries: []query{
				{rate("http_response_status_code", requests+"_count", `OURS,http_route="/api/login"`),
					"{{http_response_status_code}}"},
			}},
		{title: "Between services", unit: "reqps", about: "Requests of other services, by the service that is asked.",
			queries: []query{{rate("service", requests+"_count", internal), "{{service}}"}}},
	}},
	{uid: "belfry-stores", title: "Belfry: stores and pods", panels: []panel{
		{title: "Stores that answer", unit: "short",
			about:   "1: all pods of the service reach the store. 0: one does not.",
			queries: []query{{"min by (service, store) (belfry_store_up{OURS})", "{{service}} {{store}}"}}},
		{title: "Commands of MongoDB", unit: "ops", about: "Commands that the services send, by kind.",
			queries: []query{
				{rate("db_operation_name", "db_client_operation_duration_seconds_count",
					`OURS,db_system_name="mongodb"`),
					"{{db_operation_name}}"},
			}},
		{title: "Slowest commands of MongoDB", unit: "s", about: "One in twenty takes longer, by kind and collection.",
			queries: []query{
				{"topk(10, " + quantile("0.95", "db_operation_name, db_collection_name",
					"db_client_operation_duration_seconds", `OURS,db_system_name="mongodb"`) + " > 0)",
					"{{db_operation_name}} {{db_collection_name}}"},
			}},
		{title: "Failed commands of MongoDB", unit: "ops",
			about: "Empty as long as all is well; a write that met another one counts too.", queries: []query{
				{rate("service, error_type", "db_client_operation_duration_seconds_count",
					`OURS,db_system_name="mongodb",error_type!=""`) + " > 0", "{{service}} {{error_type}}"},
			}},
		{title: "Connections to Redis", unit: "short", about: "Connections of all pods, by state.", queries: []query{
			{"sum by (service, state) (db_client_connections_usage{OURS})", "{{service}} {{state}}"},
		}},
		{title: "Commands of Redis", unit: "s", about: "One command in twenty takes longer. Notes is left out: it " +
			"waits for messages by a command.", queries: []query{
			{quantile("0.95", "service", "db_client_connections_use_time_milliseconds", `OURS,service!~".*-notes"`) +
				" / 1000", "{{service}}"},
		}},
		{title: "Memory", unit: "bytes", about: "Of each pod. The limit is services.NAME.resources.limits.memory.",
			queries: []query{{"process_resident_memory_bytes{OURS}", "{{pod}}"}}},
		{title: "CPU", unit: "short", about: "Processors that each pod uses.", queries: []query{
			{rate("pod", "process_cpu_seconds_total", "OURS"), "{{pod}}"},
		}},
		{title: "Time since the start", unit: "s", about: "A line that falls to 0 is a restart.", queries: []query{
			{"time() - process_start_time_seconds{OURS}", "{{pod}}"},
		}},
	}},
	{uid: "belfry-work", title: "Belfry: messages, sessions, notices, memory", panels: []panel{
		{title: "Outbox", unit: "s", about: "How long the oldest message waits that events could not hand to Redis.",
			queries: []query{{"max by (collection) (belfry_outbox_age_seconds{OURS})", "{{collection}}"}}},
		{title: "Log of changes", unit: "s",
			about:   "How long the oldest change waits that the log of changes could not take.",
			queries: []query{{"max by (service) (belfry_changes_age_seconds{OURS})", "{{service}}"}}},
		{title: "Streams", unit: "short", about: "Streams of changes that are open.",
			queries: []query{{"belfry_streams_open{OURS}", "{{pod}}"}}},
		{title: "Messages that wait", unit: "short", about: "Messages in Redis that a group has not handled.",
			queries: []query{{"max by (group) (belfry_consumer_waiting{OURS})", "{{group}}"}}},
		{title: "Messages", unit: "ops",
			about: "Messages by what became of them. Those that are lost were too old, or " +
				"not readable.", queries: []query{
				{rate("group, outcome", "belfry_consumer_delay_seconds_count", "OURS"), "{{group}} {{outcome}}"},
			}},
		{title: "Delay of messages", unit: "s",
			about: "Time from a change to the end of its message: one in twenty takes " +
				"longer.", queries: []query{
				{quantile("0.95", "group, outcome", "belfry_consumer_delay_seconds", "OURS"), "{{group}} {{outcome}}"},
			}},
		{title: "Users with sessions", unit: "short",
			about:   "Those whose sessions expired within ten minutes among them.",
			queries: []query{{"max(belfry_session_users{OURS})", "users"}}},
		{title: "Notices", unit: "ops",
			about: "Mails and deliveries that were tried. `again` is tried again, `failed` " +
				"given up.", queries: []query{
				{rate("channel, outcome", "belfry_notice_attempts_total", "OURS"), "{{channel}} {{outcome}}"},
			}},
		{title: "Notes on absent pupils", unit: "short", about: "Notes that were written within a day, by change.",
			queries: []query{
				{"sum by (change) (increase(belfry_absence_notes_total{OURS}[1d]))", "{{change}}"},
			}},
		{title: "Nightly check of absences", unit: "s",
			about: "How long a check took, on average since the pods started.",
			queries: []query{
				{"sum by (outcome) (belfry_absence_duration_seconds_sum{OURS}) / " +
					"sum by (outcome) (belfry_absence_duration_seconds_count{OURS})", "{{outcome}}"},
			}},
		{title: "Who has looked at whom", unit: "short",
			about: "Entries within an hour, by outcome. Dropped: there was no room, or no time to write them.",
			queries: []query{
				{"sum by (outcome) (increase(belfry_access_entries_total{OURS}[1h]))", "{{outcome}}"},
			}},
		{title: "Found in memory", unit: "percentunit",
			about: "Share of the directory's records that were found in memory, by shelf.", queries: []query{
				{rate("shelf", "belfry_directory_lookups_total", `OURS,outcome="hit"`) + " / " +
					rate("shelf", "belfry_directory_lookups_total", "OURS"), "{{shelf}}"},
			}},
		{title: "Looked up in memory", unit: "ops", about: "Refused: a record was there, and had changed meanwhile.",
			queries: []query{
				{rate("outcome", "belfry_directory_lookups_total", "OURS"), "{{outcome}}"},
			}},
		{title: "Memory of the directory", unit: "bytes",
			about:   "About what each pod keeps; the bound is directoryMemory.",
			queries: []query{{"belfry_directory_bytes{OURS}", "{{pod}}"}}},
	}},
}
