# Sourced. What else a cluster is expected to have: name service, metrics, front door. Name service and front door are
# pods of the first node, in images of their one program. The front door's address is that node's.

WEB=443      # the port of the front door's Ingresses
GATEWAY=8443 # the port of its Gateway
FRONT=10.99.0.11
NAME_SERVER=${SERVICE_NETWORK%.0/*}.10
FRONT_IMAGE=cluster.belfry.test/traefik:$TRAEFIK_VERSION
NAMES_IMAGE=cluster.belfry.test/coredns:$COREDNS_VERSION

services_up() {
	names_up
	metrics_up
	frontdoor_up
	need 90 node1-kubelet names_serve
	need 90 node1-kubelet kubectl --namespace gateway wait --for=condition=Available \
		deployment/traefik --timeout="$(patient 1)"
}

names_serve() {
	kubectl --namespace kube-system wait --for=condition=Available deployment/coredns --timeout="$(patient 1)"
}

# program NAMESPACE NAME IMAGE PROGRAM loads the image of a program, and lets its pods do all that an administrator may.
program() {
	local archive=$RUN/images/$2.tar
	program_image "$archive" "$3" "$4" 0
	load_on node1 "$archive"
	rm "$archive"
	kubectl --namespace "$1" create serviceaccount "$2" >/dev/null
	kubectl create clusterrolebinding "$2" --clusterrole=cluster-admin --serviceaccount="$1:$2" >/dev/null
}

names_up() {
	program kube-system coredns "$NAMES_IMAGE" "$BIN/coredns-v$COREDNS_VERSION/coredns"
	kubectl apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: ConfigMap
		metadata: {name: coredns, namespace: kube-system}
		data:
		  Corefile: |
		    .:53 {
		      errors
		      ready
		      hosts {
		        $FRONT $HOST
		        fallthrough
		      }
		      kubernetes cluster.local
		    }
		---
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: coredns, namespace: kube-system}
		spec:
		  selector: {matchLabels: {k8s-app: kube-dns}}
		  template:
		    metadata: {labels: {k8s-app: kube-dns}}
		    spec:
		      serviceAccountName: coredns
		      dnsPolicy: Default
		      nodeSelector: {kubernetes.io/hostname: node1}
		      containers:
		      - name: coredns
		        image: $NAMES_IMAGE
		        args: [-conf, /etc/coredns/Corefile]
		        readinessProbe: {httpGet: {path: /ready, port: 8181}, periodSeconds: 1}
		        volumeMounts: [{name: settings, mountPath: /etc/coredns}]
		      volumes: [{name: settings, configMap: {name: coredns}}]
		---
		apiVersion: v1
		kind: Service
		metadata: {name: kube-dns, namespace: kube-system}
		spec:
		  clusterIP: $NAME_SERVER
		  selector: {k8s-app: kube-dns}
		  ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53, protocol: TCP}]
	END
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
		endpoints: [{addresses: ["$PLANE"]}]
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
# never do. A pod that takes no connection within two seconds is given up for another one (dialtimeout, retry): it is on
# a node that was lost a moment ago.
frontdoor_up() {
	local definitions
	definitions=$(fetched "sigs.k8s.io/gateway-api@v$GATEWAY_API_VERSION")/config/crd/standard
	kubectl apply --server-side -f "$definitions" >/dev/null
	kubectl create namespace gateway >/dev/null
	kubectl --namespace gateway create secret tls public --cert="$PKI/ingress.crt" --key="$PKI/ingress.key" >/dev/null
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
		metadata: {name: public, namespace: gateway}
		spec:
		  gatewayClassName: traefik
		  listeners:
		  - name: https
		    protocol: HTTPS
		    port: $GATEWAY
		    tls: {certificateRefs: [{name: public}]}
		    allowedRoutes: {namespaces: {from: All}}
	END
	program gateway traefik "$FRONT_IMAGE" "$BIN/traefik-v$TRAEFIK_VERSION/traefik"
	kubectl apply -f - >/dev/null <<-END
		apiVersion: v1
		kind: ConfigMap
		metadata: {name: traefik, namespace: gateway}
		data:
		  again.yaml: |
		    http: {middlewares: {again: {retry: {attempts: 4, initialInterval: 100ms}}}}
		---
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: traefik, namespace: gateway}
		spec:
		  selector: {matchLabels: {app: traefik}}
		  template:
		    metadata: {labels: {app: traefik}}
		    spec:
		      serviceAccountName: traefik
		      nodeSelector: {kubernetes.io/hostname: node1}
		      containers:
		      - name: traefik
		        image: $FRONT_IMAGE
		        args:
		        - --entrypoints.web.address=:$WEB
		        - --entrypoints.web.http.tls
		        - --entrypoints.web.http.middlewares=again@file
		        - --entrypoints.gateway.address=:$GATEWAY
		        - --entrypoints.gateway.http.middlewares=again@file
		        - --serverstransport.forwardingtimeouts.dialtimeout=2s
		        - --providers.file.directory=/etc/traefik/again
		        - --entrypoints.traefik.address=:8099
		        - --ping
		        - --providers.kubernetesingress
		        - --providers.kubernetesingress.strictprefixmatching
		        - --providers.kubernetesgateway
		        - --global.checknewversion=false
		        - --global.sendanonymoususage=false
		        - --log.level=INFO
		        ports: [{containerPort: $WEB, hostPort: $WEB}, {containerPort: $GATEWAY, hostPort: $GATEWAY}]
		        readinessProbe: {httpGet: {path: /ping, port: 8099}, periodSeconds: 1}
		        volumeMounts: [{name: again, mountPath: /etc/traefik/again}]
		      volumes: [{name: again, configMap: {name: traefik}}]
	END
}
