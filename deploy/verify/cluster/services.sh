# Sourced. What else a cluster is expected to have: name service, front door, metrics. They run as processes of the
# machine, so they need no images. The front door's address is the node's.

WEB=443      # the port of the front door's Ingresses
GATEWAY=8443 # the port of its Gateway

services_up() {
	names_up
	metrics_up
	frontdoor_up
}

names_up() {
	cat >"$RUN/Corefile" <<-END
		.:53 {
		  errors
		  hosts {
		    $NODE $HOST
		    fallthrough
		  }
		  kubernetes cluster.local {
		    kubeconfig $RUN/admin.kubeconfig
		  }
		  bind $NODE
		}
	END
	keep coredns "$BIN/coredns-v$COREDNS_VERSION/coredns" -conf "$RUN/Corefile"
	need 30 coredns inside sh -c "ss -lun | grep -q '$NODE:53 '"
}

metrics_up() {
	local kubeconfig=$RUN/admin.kubeconfig
	keep metrics-server "$BIN/metrics-server-v$METRICS_SERVER_VERSION/metrics-server" \
		--secure-port=4443 --cert-dir="$RUN/metrics" --metric-resolution=15s \
		--kubeconfig="$kubeconfig" --authentication-kubeconfig="$kubeconfig" --authorization-kubeconfig="$kubeconfig" \
		--kubelet-preferred-address-types=InternalIP --kubelet-certificate-authority="$PKI/ca.crt"
	kubectl apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: Service
		metadata: {name: metrics-server, namespace: kube-system}
		spec: {ports: [{port: 443, targetPort: 4443}]}
		---
		apiVersion: discovery.k8s.io/v1
		kind: EndpointSlice
		metadata: {name: metrics-server, namespace: kube-system, labels: {kubernetes.io/service-name: metrics-server}}
		addressType: IPv4
		endpoints: [{addresses: ["$NODE"]}]
		ports: [{port: 4443, protocol: TCP}]
		---
		apiVersion: apiregistration.k8s.io/v1
		kind: APIService
		metadata: {name: v1beta1.metrics.k8s.io}
		spec:
		  group: metrics.k8s.io
		  version: v1beta1
		  groupPriorityMinimum: 100
		  versionPriority: 100
		  insecureSkipTLSVerify: true
		  service: {name: metrics-server, namespace: kube-system}
	END
}

# frontdoor_up sets strict prefixes: without them Traefik's Ingresses let the prefix /api match /apix; its HTTPRoutes
# never do.
frontdoor_up() {
	local definitions
	definitions=$(fetched "sigs.k8s.io/gateway-api@v$GATEWAY_API_VERSION")/config/crd/standard
	kubectl apply --server-side -f "$definitions" >/dev/null
	kubectl create namespace front >/dev/null
	kubectl --namespace front create secret tls front --cert="$PKI/ingress.crt" --key="$PKI/ingress.key" >/dev/null
	kubectl apply -f - >/dev/null <<-END
		apiVersion: networking.k8s.io/v1
		kind: IngressClass
		metadata: {name: traefik}
		spec: {controller: traefik.io/ingress-controller}
		---
		apiVersion: gateway.networking.k8s.io/v1
		kind: GatewayClass
		metadata: {name: traefik}
		spec: {controllerName: traefik.io/gateway-controller}
		---
		apiVersion: gateway.networking.k8s.io/v1
		kind: Gateway
		metadata: {name: front, namespace: front}
		spec:
		  gatewayClassName: traefik
		  listeners:
		  - name: https
		    protocol: HTTPS
		    port: $GATEWAY
		    tls: {certificateRefs: [{name: front}]}
		    allowedRoutes: {namespaces: {from: All}}
	END
	keep traefik env KUBECONFIG="$RUN/admin.kubeconfig" "$BIN/traefik-v$TRAEFIK_VERSION/traefik" \
		--entrypoints.web.address="$NODE:$WEB" --entrypoints.web.http.tls \
		--entrypoints.gateway.address="$NODE:$GATEWAY" --entrypoints.traefik.address=127.0.0.1:8099 --ping \
		--providers.kubernetesingress --providers.kubernetesingress.strictprefixmatching --providers.kubernetesgateway \
		--global.checknewversion=false --global.sendanonymoususage=false --log.level=INFO
	need 60 traefik inside curl -sf http://127.0.0.1:8099/ping
}
