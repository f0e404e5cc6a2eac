# Sourced. The node: Debian's containerd, runc and CNI plugins, the kubelet and kube-proxy.

PAUSE_IMAGE=cluster.belfry.test/pause:1

node_up() {
	containerd_up
	kubelet_settings >"$RUN/kubelet.yaml"
	echo "nameserver $NODE" >"$RUN/resolv.conf"
	local hierarchy
	# Version 1 has one hierarchy for each controller, version 2 one for all.
	for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
		if grep -q " $hierarchy cgroup" /proc/mounts; then mkdir -p "$hierarchy/$NAME"; fi
	done
	keep kubelet "$KUBERNETES/kubelet" --config="$RUN/kubelet.yaml" --kubeconfig="$RUN/kubelet.kubeconfig" \
		--root-dir="$RUN/kubelet" --hostname-override=node1 --node-ip="$NODE"
	proxy_settings >"$RUN/proxy.yaml"
	keep kube-proxy "$KUBERNETES/kube-proxy" --config="$RUN/proxy.yaml"
	need 90 kubelet kubectl wait --for=condition=Ready node/node1 --timeout=1s
}

containerd_up() {
	containerd_settings >"$RUN/containerd.toml"
	network_settings >"$RUN/cni/10-bridge.conflist"
	keep containerd containerd --config "$RUN/containerd.toml"
	need 60 containerd ctr version
	pause_image "$RUN/images/pause.tar"
	load "$RUN/images/pause.tar"
}

ctr() { inside ctr --address "$RUN/containerd.sock" --namespace k8s.io "$@"; }

# load brings image archives into containerd.
load() {
	local archive
	for archive in "$@"; do
		ctr images import --snapshotter overlayfs "$archive" >/dev/null || fail "$archive could not be loaded"
	done
}

# containerd_settings: restrict_oom_score_adj, because the machine's processes may be forbidden to lower their score.
# Network namespaces are below the state folder, so that none is left in /run/netns.
containerd_settings() {
	cat <<-END
		version = 2
		root = "$RUN/containerd/root"
		state = "$RUN/containerd/state"
		[grpc]
		  address = "$RUN/containerd.sock"
		[plugins."io.containerd.grpc.v1.cri"]
		  sandbox_image = "$PAUSE_IMAGE"
		  disable_apparmor = true
		  restrict_oom_score_adj = true
		  netns_mounts_under_state_dir = true
		[plugins."io.containerd.grpc.v1.cri".containerd]
		  snapshotter = "overlayfs"
		[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
		  runtime_type = "io.containerd.runc.v2"
		[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
		  SystemdCgroup = false
		[plugins."io.containerd.grpc.v1.cri".cni]
		  bin_dir = "/usr/lib/cni"
		  conf_dir = "$RUN/cni"
	END
}

network_settings() {
	cat <<-END
		{"cniVersion": "0.4.0", "name": "pods", "plugins": [
		  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
		   "ipam": {"type": "host-local", "ranges": [[{"subnet": "${PODS%/*}/24"}]],
		            "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "$RUN/cni-addresses"}},
		  {"type": "portmap", "capabilities": {"portMappings": true}}]}
	END
}

# kubelet_settings: failCgroupV1, because otherwise the kubelet refuses kernels that start with control groups of
# version 1. It has its own root among the control groups, so that what is left there can be distinguished from others'.
kubelet_settings() {
	cat <<-END
		apiVersion: kubelet.config.k8s.io/v1beta1
		kind: KubeletConfiguration
		failCgroupV1: false
		failSwapOn: false
		cgroupDriver: cgroupfs
		cgroupRoot: /$NAME
		containerRuntimeEndpoint: unix://$RUN/containerd.sock
		authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $PKI/ca.crt}}
		authorization: {mode: Webhook}
		tlsCertFile: $PKI/kubelet.crt
		tlsPrivateKeyFile: $PKI/kubelet.key
		clusterDNS: [$NODE]
		clusterDomain: cluster.local
		resolvConf: $RUN/resolv.conf
		imageGCHighThresholdPercent: 100
		evictionHard: {memory.available: 50Mi, nodefs.available: 1Gi, imagefs.available: 1Gi}
	END
}

proxy_settings() {
	cat <<-END
		apiVersion: kubeproxy.config.k8s.io/v1alpha1
		kind: KubeProxyConfiguration
		clientConnection: {kubeconfig: $RUN/proxy.kubeconfig}
		mode: iptables
		clusterCIDR: $PODS
		hostnameOverride: node1
		conntrack: {maxPerCore: 0, min: 0}
	END
}

# pause_image ARCHIVE writes the image of a pod's first container, in the format of docker save.
pause_image() {
	local dir config
	dir=$(mktemp -d)
	tar -C "$RUN" --owner=0 --group=0 -cf "$dir/layer.tar" pause
	printf '{"os":"linux","architecture":"%s","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
		"$(go env GOARCH)" '{"Entrypoint":["/pause"],"User":"65535:65535"}' \
		"$(sha256sum "$dir/layer.tar" | cut -d' ' -f1)" >"$dir/config.json"
	config=$(sha256sum "$dir/config.json" | cut -d' ' -f1).json
	mv "$dir/config.json" "$dir/$config"
	printf '[{"Config":"%s","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$config" "$PAUSE_IMAGE" >"$dir/manifest.json"
	tar -C "$dir" -cf "$1" .
	rm -rf "$dir"
}
