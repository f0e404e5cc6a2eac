# Sourced. The memory that the cluster takes, and what it could leave on this machine.

# memory prints the memory of all processes of the cluster, in MB. Shared pages are divided among the processes (PSS).
memory() {
	inside sh -c 'cat /proc/[0-9]*/smaps_rollup 2>/dev/null; true' |
		awk '/^Pss:/ {sum += $2} END {printf "%d", sum / 1024}'
}

# memory_peak stores the highest value of memory so far.
memory_peak() {
	local now before
	now=$(memory)
	before=$(cat "$RUN/peak" 2>/dev/null || echo 0)
	[ "$now" -le "$before" ] || echo "$now" >"$RUN/peak"
}

# traces prints what a cluster could leave behind on this machine.
traces() {
	echo "# mounts"; cut -d' ' -f2,3 /proc/mounts | sort
	echo "# network"; ip -o link | awk '{print $2}' | sort; ls /run/netns 2>/dev/null || true
	echo "# packet filter"; { iptables-save 2>/dev/null || true; } | grep -v '^#' || true
	echo "# control groups"
	find "$GROUPS_ROOT" -maxdepth 2 -type d \( -name '*kube*' -o -name "$NAME" -o -name "$NAME-*" \)
	echo "# settings"
	sysctl -e "${SETTINGS[@]}"
	echo "# processes"
	pgrep -af "$RUN/" | grep -v "^$$ " | cut -d' ' -f2- | grep -v "cluster check" || true
	echo "# folders"
	ls -d "$RUN" "$SHARED" /run/containerd /var/lib/containerd /var/lib/kubelet /var/lib/cni /var/log/pods \
		/var/log/containers /etc/cni 2>/dev/null || true
}
