{{- define "ebb.labels" -}}
app.kubernetes.io/name: ebb
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ebb.meta" -}}
name: {{ .Release.Name }}
labels:
  {{- include "ebb.labels" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "ebb.security" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "ebb.container" -}}
image: {{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "ebb.pod" -}}
metadata:
  labels:
    {{- include "ebb.labels" . | nindent 4 }}
  annotations:
    checksum/config: {{ include (print .Template.BasePath "/config.yaml") . | sha256sum }}
spec:
  {{- include "ebb.security" . | nindent 2 }}
  # Running steps may end, then have a minute to stop, and the servers close. What is killed later loses nothing.
  terminationGracePeriodSeconds: {{ add .Values.drainSeconds 90 }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "ebb.labels" . | nindent 10 }}
  containers:
    - name: ebb
      {{- include "ebb.container" . | nindent 6 }}
      args: [serve, --config=/etc/ebb/ebb.yaml]
      ports:
        - {name: http, containerPort: 8083}
      {{- range $kind, $probe := dict "startupProbe" "livez" "livenessProbe" "livez" "readinessProbe" "readyz" }}
      {{ $kind }}:
        httpGet: {path: /{{ $probe }}, port: http, scheme: {{ ternary "HTTPS" "HTTP" (ne $.Values.tlsSecret "") }}}
        periodSeconds: 5
        failureThreshold: {{ ternary 60 3 (eq $kind "startupProbe") }}
        timeoutSeconds: 3
      {{- end }}
      {{- if .Values.dsnSecret }}
      env:
        - {name: EBB_DSN_FILE, value: /secrets/dsn/dsn}
      {{- end }}
      volumeMounts:
        - {name: config, mountPath: /etc/ebb, readOnly: true}
        - {name: data, mountPath: /data}
        - {name: tmp, mountPath: /tmp}
        {{- range (list "keys" "dsn" "tls") }}
        {{- if index $.Values (print . "Secret") }}
        - {name: {{ . }}, mountPath: /secrets/{{ . }}, readOnly: true}
        {{- end }}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ .Release.Name }}}
    - name: tmp
      emptyDir: {}
    {{- if .Values.dsnSecret }}
    - name: data
      emptyDir: {}
    {{- end }}
    {{- range (list "keys" "dsn" "tls") }}
    {{- if index $.Values (print . "Secret") }}
    - name: {{ . }}
      secret: {secretName: {{ index $.Values (print . "Secret") }}, defaultMode: 0440}
    {{- end }}
    {{- end }}
{{- end }}
