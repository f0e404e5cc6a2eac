# The part of Tilt's result that the test compares: for each resource its label, when it runs, what it waits for, its
# images with what is synced, ports and links.
def names: sort | join(" ");
def url: "\(.URL.Scheme)://\(.URL.Host)\(.URL.Path)";
.Manifests | sort_by(.Name)[] |
	"\(.Name) (\(.Labels | keys | names)), " + {"0": "on edits", "1": "once", "2": "when asked"}["\(.TriggerMode)"],
	(.ResourceDependencies // [] | select(. != []) | "  after " + names),
	(.ImageTargets[]? | "  image \(.selector), " +
		(.LiveUpdateSpec | "\(.syncs[] | "\(.localPath) to \(.containerPath)"), then \(.execs[].args | join(" "))")),
	(.ImageTargets[]? | .BuildDetails.args[2] | "  loaded by " + sub(".* && "; "")),
	(.DeployTarget.portForwardTemplateSpec.forwards[]? | "  port \(.localPort) to \(.containerPort)"),
	(.DeployTarget.ServeCmd.Argv | select(. != null and . != []) | "  serves by " + join(" ")),
	(.DeployTarget.Links[]? | "  link \(url)")
