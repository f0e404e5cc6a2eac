{{/* A rule of a network policy. Takes (dict "peers" LIST "ports" LIST "direction" "to"); without peers, any
     peer is allowed. */}}
{{- define "belfry.opening" -}}
- ports:
    {{- range .ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
  {{- with .peers }}
  {{ $.direction }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The peers that are components of the release. Takes (dict "root" $ "components" LIST), returns a JSON list. */}}
{{- define "belfry.peers" -}}
{{- $peers := list -}}
{{- range .components -}}
{{- $labels := include "belfry.selector" (dict "root" $.root "component" .) | fromYaml -}}
{{- $peers = append $peers (dict "podSelector" (dict "matchLabels" $labels)) -}}
{{- end -}}
{{- toJson $peers -}}
{{- end -}}

{{/* The rules that every pod needs to look up names. */}}
{{- define "belfry.egressDNS" -}}
- ports:
    {{- range .Values.networkPolicy.dnsPorts }}
    - {protocol: UDP, port: {{ . }}}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
  {{- with .Values.networkPolicy.dns }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The rules for what all services with data use: name servers, stores and the collector. */}}
{{- define "belfry.egressShared" -}}
{{- $policy := .Values.networkPolicy -}}
{{ include "belfry.egressDNS" . }}
{{ include "belfry.opening" (dict "peers" $policy.mongodb.to "ports" $policy.mongodb.ports "direction" "to") }}
{{ include "belfry.opening" (dict "peers" $policy.redis.to "ports" $policy.redis.ports "direction" "to") }}
{{- include "belfry.egressFurther" . }}
{{- end -}}

{{/* The rules for the collector and those of the operator. */}}
{{- define "belfry.egressFurther" -}}
{{- $policy := .Values.networkPolicy -}}
{{- with $policy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- if .Values.telemetry.endpoint }}
{{ include "belfry.opening" (dict "peers" $policy.telemetry.to "ports" $policy.telemetry.ports "direction" "to") }}
{{- end }}
{{- end -}}

{{/* The DNS names of an Ingress or HTTPRoute (of), as a JSON list. */}}
{{- define "belfry.hosts" -}}
{{- $why := "set host, the DNS name at which clients reach this deployment" -}}
{{- required (printf "%s: %s" .of $why) .root.Values.host | prepend .root.Values.extraHosts | toJson -}}
{{- end -}}

{{/* Fails unless trustedProxies is set: an Ingress or HTTPRoute (of) makes the controller's pods the peers of all
clients. */}}
{{- define "belfry.requireProxies" -}}
{{- if not .root.Values.trustedProxies -}}
{{- $why := "set trustedProxies, the networks of the pods that connect to Belfry, or all clients count as one" -}}
{{- fail (printf "%s: %s" .of $why) -}}
{{- end -}}
{{- end -}}
