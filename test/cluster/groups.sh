# Sourced. The cluster's control groups, /NAME and one for each node below it. Version 1 has a hierarchy for each
# controller. Version 2 has one for all, and a group has only the controllers that its parent hands down: the kubelet
# refuses a group without them.

GROUPS_ROOT=/sys/fs/cgroup
CONTROLLERS=(cpu cpuset memory pids hugetlb io) # of them the kubelet needs the first four

groups_unified() { [ -f "$GROUPS_ROOT/cgroup.controllers" ]; }

# groups_up makes the groups of the nodes.
groups_up() {
	local node hierarchy
	if groups_unified; then
		mkdir -p "$GROUPS_ROOT/$NAME"
		hand_down "$GROUPS_ROOT" >"$RUN/handed"
		hand_down "$GROUPS_ROOT/$NAME" >/dev/null
		for node in "${NODES[@]}"; do mkdir -p "$GROUPS_ROOT/$NAME/$node"; done
		return
	fi
	for hierarchy in "$GROUPS_ROOT"/*; do
		grep -q " $hierarchy cgroup " /proc/mounts || continue
		for node in . "${NODES[@]}"; do
			mkdir -p "$hierarchy/$NAME/$node"
			groups_inherit "$hierarchy/$NAME/$node"
		done
	done
}

# groups_inherit: a new group of cpuset has no processor, and none below it may have one, until it is given some.
groups_inherit() {
	local file
	for file in cpuset.cpus cpuset.mems; do
		if [ -f "$1/$file" ] && [ -z "$(cat "$1/$file")" ]; then cat "$1/../$file" >"$1/$file"; fi
	done
}

# hand_down GROUP hands the group's controllers down to those below it, and prints those that were not before. A group
# with processes may not, unless it is the root of all: they move to a group of their own below it. That is so in a
# container, whose root is somebody's group.
hand_down() {
	local controller
	for controller in "${CONTROLLERS[@]}"; do
		grep -qw "$controller" "$1/cgroup.controllers" || continue
		! grep -qw "$controller" "$1/cgroup.subtree_control" || continue
		{ echo "+$controller" >"$1/cgroup.subtree_control"; } 2>/dev/null ||
			{ move_processes "$1" "$1/$NAME-others" && echo "+$controller" >"$1/cgroup.subtree_control"; } ||
			fail "the group $1 does not hand down its controller $controller"
		echo "$controller"
	done
}

# move_processes FROM TO moves until none is left: a process may have begun another one meanwhile.
move_processes() {
	local pid
	mkdir -p "$2"
	while [ -n "$(cat "$1/cgroup.procs")" ]; do
		while read -r pid; do
			{ echo "$pid" >"$2/cgroup.procs"; } 2>/dev/null || [ ! -d "/proc/$pid" ] || return 1
		done <"$1/cgroup.procs"
	done
}

# groups_down removes the groups, and takes back what was handed down unless another cluster has it too.
groups_down() {
	local hierarchy controller
	for hierarchy in "$GROUPS_ROOT" "$GROUPS_ROOT"/*; do
		[ ! -d "$hierarchy/$NAME" ] || wait_for 20 remove_groups "$hierarchy/$NAME" ||
			fail "the control groups below $hierarchy/$NAME cannot be removed"
	done
	[ -f "$RUN/handed" ] || return 0
	while read -r controller; do
		{ echo "-$controller" >"$GROUPS_ROOT/cgroup.subtree_control"; } 2>/dev/null || true
	done <"$RUN/handed"
	if [ -d "$GROUPS_ROOT/$NAME-others" ]; then
		move_processes "$GROUPS_ROOT/$NAME-others" "$GROUPS_ROOT"
		rmdir "$GROUPS_ROOT/$NAME-others"
	fi
}

# remove_groups fails while any is busy: a group whose last process has just ended may be busy for a moment.
remove_groups() {
	find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
	[ ! -d "$1" ]
}
