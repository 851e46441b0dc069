{{- define "runboard.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "runboard.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "runboard.labels" -}}
{{ include "runboard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "runboard.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "runboard.fullname" .) }}
{{- end }}

{{- define "runboard.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* The origin at which browsers reach the page; empty where it is not known. */}}
{{- define "runboard.publicUrl" -}}
{{- with .Values.api -}}
{{- if .publicUrl }}{{ .publicUrl }}{{ else if and .ingress.enabled .ingress.tlsSecret }}https://{{ .ingress.host }}{{ end }}
{{- end }}
{{- end }}

{{/* Which settings a part has from the secret, by its keys. */}}
{{- define "runboard.secretsOf" -}}
{{- $keys := .root.Values.secrets.keys }}
{{- $all := dict
  "api" (dict "BOARD_ADMIN_KEY" $keys.adminKey "BOARD_API_KEYS" $keys.apiKeys)
  "worker" (dict "BOARD_WEBHOOK_SECRET" $keys.webhookSecret) }}
{{- $shared := dict "MONGODB_PASSWORD" $keys.mongodbPassword "BOARD_CREDENTIAL_KEY" $keys.credentialKey "TEMPORAL_API_KEY" $keys.temporalApiKey "OTEL_EXPORTER_OTLP_HEADERS" $keys.otlpHeaders }}
{{- $present := dict }}
{{- range $setting, $key := merge (index $all .part) $shared }}
{{- if $key }}{{ $_ := set $present $setting $key }}{{ end }}
{{- end }}
{{- toYaml $present }}
{{- end }}

{{- define "runboard.podSecurity" -}}
runAsNonRoot: true
# The user `node` of the image.
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
# Files of the service are its user's alone: they are not opened to the group at each start.
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "runboard.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/*
Copies the secrets of a part to files that only its user can read, which the service insists on: those of Kubernetes are root's, and
readable by a group. In memory, and not in the environment, which agents of the same user could read.
*/}}
{{- define "runboard.secretsContainer" -}}
name: secrets
image: {{ include "runboard.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
command: [/bin/sh, -euc]
args:
  - |
    umask 077
    cp -f /run/mounted/* /run/secrets/runboard/
    {{- if .root.Values.temporal.tls.existingSecret }}
    mkdir -p /run/secrets/runboard/temporal
    cp -f /run/mounted-tls/* /run/secrets/runboard/temporal/
    {{- end }}
securityContext:
  {{- include "runboard.containerSecurity" .root | nindent 2 }}
resources:
  requests: { cpu: 10m, memory: 32Mi }
  limits: { memory: 64Mi }
volumeMounts:
  - { name: secrets, mountPath: /run/secrets/runboard }
  - { name: mounted-secrets, mountPath: /run/mounted, readOnly: true }
  {{- if .root.Values.temporal.tls.existingSecret }}
  - { name: mounted-tls, mountPath: /run/mounted-tls, readOnly: true }
  {{- end }}
{{- end }}

{{- define "runboard.env" -}}
- { name: NODE_ENV, value: production }
# A folder of its own in the volume, whose root belongs to Kubernetes.
- { name: BOARD_DATA_DIR, value: /data/board }
- { name: MONGODB_URL, value: {{ required "mongodb.url is required" .root.Values.mongodb.url | quote }} }
- { name: TEMPORAL_ADDRESS, value: {{ required "temporal.address is required" .root.Values.temporal.address | quote }} }
- { name: TEMPORAL_NAMESPACE, value: {{ .root.Values.temporal.namespace | quote }} }
{{- with .root.Values.temporal.httpAddress }}
- { name: TEMPORAL_HTTP_ADDRESS, value: {{ . | quote }} }
{{- end }}
{{- with .root.Values.temporal.tls }}
{{- if .enabled }}
- { name: TEMPORAL_TLS, value: 'true' }
{{- end }}
{{- if .existingSecret }}
- { name: TEMPORAL_TLS_CA_FILE, value: /run/secrets/runboard/temporal/ca.crt }
{{- if .mutual }}
- { name: TEMPORAL_TLS_CERT_FILE, value: /run/secrets/runboard/temporal/tls.crt }
- { name: TEMPORAL_TLS_KEY_FILE, value: /run/secrets/runboard/temporal/tls.key }
{{- end }}
{{- end }}
{{- with .serverName }}
- { name: TEMPORAL_TLS_SERVER_NAME, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- range $setting, $_ := include "runboard.secretsOf" . | fromYaml }}
- { name: {{ $setting }}_FILE, value: /run/secrets/runboard/{{ $setting }} }
{{- end }}
{{- range $name, $value := merge (deepCopy (index .root.Values .part).config) .root.Values.config }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- define "runboard.mounts" -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /run/secrets/runboard, readOnly: true }
{{- if .root.Values.repositories.existingClaim }}
- { name: repositories, mountPath: /repositories }
{{- end }}
{{- end }}

{{- define "runboard.volumes" -}}
- name: data
  persistentVolumeClaim:
    claimName: {{ .root.Values.data.existingClaim | default (printf "%s-data" (include "runboard.fullname" .root)) }}
- name: tmp
  emptyDir: {}
- name: secrets
  emptyDir: { medium: Memory, sizeLimit: 1Mi }
- name: mounted-secrets
  secret:
    secretName: {{ required "secrets.existingSecret is required" .root.Values.secrets.existingSecret }}
    items:
      {{- range $setting, $key := include "runboard.secretsOf" . | fromYaml }}
      - { key: {{ $key | quote }}, path: {{ $setting }} }
      {{- end }}
{{- with .root.Values.temporal.tls.existingSecret }}
- name: mounted-tls
  secret: { secretName: {{ . }} }
{{- end }}
{{- with .root.Values.repositories.existingClaim }}
- name: repositories
  persistentVolumeClaim: { claimName: {{ . }} }
{{- end }}
{{- end }}

{{/* What the pods of both parts have in common. */}}
{{- define "runboard.pod" -}}
serviceAccountName: {{ include "runboard.serviceAccount" .root }}
# Neither part calls Kubernetes.
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "runboard.podSecurity" .root | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with index .root.Values .part }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
initContainers:
  - {{ include "runboard.secretsContainer" . | nindent 4 | trim }}
volumes:
  {{- include "runboard.volumes" . | nindent 2 }}
{{- end }}

{{/* Where both parts may go: names, MongoDB and Temporal. */}}
{{- define "runboard.storesEgress" -}}
# Names are resolved by the DNS of the cluster.
- to:
    - namespaceSelector: {}
      podSelector: { matchLabels: { k8s-app: kube-dns } }
  ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
- ports:
    - { protocol: TCP, port: {{ .ports.mongodb }} }
  {{- with .mongodbTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
- ports:
    - { protocol: TCP, port: {{ .ports.temporal }} }
    - { protocol: TCP, port: {{ .ports.temporalHttp }} }
  {{- with .temporalTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
