# Sourced. Builds the cluster's programs into the user's cache, each once per version, and installs the Debian packages.

# built says whether every program is in the cache.
built() {
	local program
	for program in "${PROGRAMS[@]}"; do
		[ -x "$program" ] || return 1
	done
}

# build makes what is missing. One machine builds once, however many checkouts ask.
build() {
	built && return
	mkdir -p "$BIN"
	(
		flock 9
		built && exit
		local began=$SECONDS
		say "building Kubernetes $KUBERNETES_VERSION and what goes with it into $CACHE," \
			"once on this machine: about half an hour on two cores"
		need_space 10 "$CACHE"
		export GOWORK=off GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS="-mod=mod -buildvcs=false -trimpath '-ldflags=-s -w'"
		build_kubernetes
		build_etcd
		build_traefik
		build_module helm "$HELM_VERSION" helm.sh/helm/v3/cmd/helm
		build_module coredns "$COREDNS_VERSION" github.com/coredns/coredns
		build_module metrics-server "$METRICS_SERVER_VERSION" sigs.k8s.io/metrics-server/cmd/metrics-server
		build_policies
		build_module vegeta "$VEGETA_VERSION" github.com/tsenart/vegeta/v12
		say "built everything in $((SECONDS - began)) s;" \
			"the programs take $(du -hc "${PROGRAMS[@]}" | tail -1 | cut -f1)"
	) 9>"$CACHE/kubernetes.lock"
}

# compile MODULE FOLDER OUTPUT ARGUMENTS... builds in the folder MODULE, which it removes. It puts the programs into
# FOLDER when all of them are built.
compile() {
	local module=$1 folder=$2 output=$3 began=$SECONDS
	shift 3
	say "building $(basename "$folder")"
	rm -rf "$folder.draft"
	mkdir -p "$folder.draft"
	(cd "$module" && go build -o "$folder.draft/$output" "$@") >"$folder.log" 2>&1 ||
		fail "$(basename "$folder") could not be built: $(tail -5 "$folder.log")"
	rm -rf "$folder" "$module" "$folder.log"
	mv "$folder.draft" "$folder"
	say "built $(basename "$folder") in $((SECONDS - began)) s"
}

# build_module NAME VERSION PACKAGE builds a program whose module can be built on its own.
build_module() {
	local folder=$BIN/$1-v$2 module
	[ -x "$folder/$1" ] && return
	module=$(mktemp -d)
	(cd "$module" && go mod init belfry.invalid/cluster && go get "$3@v$2") >"$folder.log" 2>&1 ||
		fail "$1 could not be fetched: $(tail -5 "$folder.log")"
	compile "$module" "$folder" "$1" "$3"
}

# build_kubernetes: the module's go.mod replaces its parts by folders of its repository, which a published module does
# not contain. These parts are published as their own modules, of the matching version.
build_kubernetes() {
	[ -x "$KUBERNETES/kubectl" ] && return
	local module source version=v$KUBERNETES_VERSION minor stamp=k8s.io/component-base/version
	minor=$(cut -d. -f2 <<<"$KUBERNETES_VERSION")
	module=$(mktemp -d)
	source=$(fetched "k8s.io/kubernetes@$version")
	{
		printf 'module belfry.invalid/cluster\n\ngo %s\n\nrequire k8s.io/kubernetes %s\n\n' \
			"$(sed -n 's/^go //p' "$source/go.mod")" "$version"
		grep -oE 'k8s.io/[a-z-]+ => ./staging' "$source/go.mod" |
			sed "s#\(.*\) => .*#replace \1 => \1 v0.${KUBERNETES_VERSION#1.}#"
	} >"$module/go.mod"
	cp "$source/go.sum" "$module/go.sum"
	local stamps="-X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$minor"
	stamps+=" -X $stamp.gitTreeState=clean -X $stamp.gitCommit=$version"
	compile "$module" "$KUBERNETES" "" -ldflags "-s -w $stamps" \
		k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler,kubelet,kube-proxy,kubectl}
}

# build_etcd: as with Kubernetes, its replacements must be left out. go build ignores them in a module that is required.
build_etcd() {
	local folder=$BIN/etcd-v$ETCD_VERSION module
	[ -x "$folder/etcd" ] && return
	module=$(mktemp -d)
	printf 'module belfry.invalid/cluster\n\ngo 1.24\n\nrequire go.etcd.io/etcd/server/v3 v%s\n' "$ETCD_VERSION" \
		>"$module/go.mod"
	compile "$module" "$folder" etcd go.etcd.io/etcd/server/v3
}

# build_traefik: its published module lacks a nested one, which is two empty structures in the open-source program.
build_traefik() {
	local folder=$BIN/traefik-v$TRAEFIK_VERSION module
	[ -x "$folder/traefik" ] && return
	module=$(mktemp -d)
	cp -r --no-preserve=mode "$(fetched "github.com/traefik/traefik/v3@v$TRAEFIK_VERSION")/." "$module"
	mkdir "$module/pkg/config/dynamic/ext"
	printf 'module github.com/traefik/traefik/dynamic/ext\n' >"$module/pkg/config/dynamic/ext/go.mod"
	printf 'package ext\n\ntype HTTP struct{}\n\ntype Router struct{}\n' >"$module/pkg/config/dynamic/ext/ext.go"
	compile "$module" "$folder" traefik ./cmd/traefik
}

# build_policies: a module of this checkout, which is not part of its workspace.
build_policies() {
	[ -x "$POLICIES" ] && return
	local module
	module=$(mktemp -d)
	cp "$HERE"/policies/{main.go,go.mod,go.sum} "$module"
	compile "$module" "$(dirname "$POLICIES")" policies .
}

# fetched prints the folder that holds a module's source.
fetched() {
	go mod download -json "$1" | jq -er .Dir
}

# install_packages installs the Debian packages and lets no service of theirs start: the cluster starts its own
# containerd.
install_packages() {
	local package missing=() policy=/usr/sbin/policy-rc.d
	for package in "${PACKAGES[@]}"; do
		dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	command -v apt-get >/dev/null || fail "please install: ${missing[*]}"
	say "installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	( # a policy of this script's goes again, also after a failure; a container image's own stays
		trap 'if grep -q "made by belfry cluster" $policy; then rm $policy; fi' EXIT
		[ -e $policy ] || { printf '#!/bin/sh\nexit 101 # made by belfry cluster\n' >$policy && chmod +x $policy; }
		apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
	)
}
