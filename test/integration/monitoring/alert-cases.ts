/** Series in which each alert of infra/deploy/monitoring/alerts.yaml fires, and series just short of it. */

export interface AlertCase {
  /** In promtool's notation, one sample each 15 s from time 0 on. */
  readonly fires: Readonly<Record<string, string>>
  readonly silent: Readonly<Record<string, string>>
  /** Time of the evaluation. */
  readonly at: string
  /** Labels beside the severity. */
  readonly labels: Readonly<Record<string, string>>
  readonly severity: 'critical' | 'warning'
  readonly summary: string
}

const NODE = 'job="ledger",part="node",instance="node-1:9090"'
const NODE_LABELS = { job: 'ledger', part: 'node', instance: 'node-1:9090' }
const EDGE = 'job="ledger",part="edge",instance="edge-1:9090"'
const EDGE_LABELS = { job: 'ledger', part: 'edge', instance: 'edge-1:9090' }
const AUDITOR = 'job="ledger",part="auditor",instance="auditor:9090"'
const SERVER = 'job="ledger-servers",instance="postgres:9100",fstype="ext4",mountpoint="/"'

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  LedgerPartDown: {
    fires: { [`up{${NODE}}`]: '1 0x10' },
    silent: { [`up{${NODE}}`]: '1x8 0x2' },
    at: '2m',
    labels: NODE_LABELS,
    severity: 'critical',
    summary: 'node node-1:9090 does not respond.',
  },
  LedgerPartRestarting: {
    fires: { [`process_start_time_seconds{${NODE}}`]: '10x3 70x3 130x3 190x3 250x20' },
    // An upgrade and two repairs.
    silent: { [`process_start_time_seconds{${NODE}}`]: '10x3 70x3 130x3 190x30' },
    at: '5m',
    labels: NODE_LABELS,
    severity: 'critical',
    summary: 'node node-1:9090 restarted 4 times in the last 15 minutes.',
  },
  LedgerShardsWithoutOwner: {
    fires: { [`ledger_shards_without_owner{${EDGE}}`]: '0 16x10' },
    // A failover takes less than a minute.
    silent: { [`ledger_shards_without_owner{${EDGE}}`]: '0x5 16x3 0x10' },
    at: '2m',
    labels: {},
    severity: 'critical',
    summary: '16 shards have no owner that can commit: their accounts are unavailable.',
  },
  LedgerShardQuarantined: {
    fires: { [`ledger_shards_quarantined{${NODE}}`]: '0 1x10' },
    silent: { [`ledger_shards_quarantined{${NODE}}`]: '0x10' },
    at: '1m',
    labels: NODE_LABELS,
    severity: 'critical',
    summary: 'node-1:9090 refuses 1 shards, because an invariant broke there.',
  },
  LedgerServerUnreachable: {
    fires: { [`ledger_session_renewed_age_seconds{${NODE}}`]: '1+15x10' },
    silent: {
      [`ledger_session_renewed_age_seconds{${NODE}}`]: '2x20',
      [`ledger_postgres_probed_age_seconds{${NODE}}`]: '2x20',
    },
    at: '1m',
    labels: NODE_LABELS,
    severity: 'critical',
    summary: 'node-1:9090 has not reached NATS or PostgreSQL for 1m 1s.',
  },
  LedgerClockSkew: {
    fires: { [`ledger_clock_skew_seconds{${NODE}}`]: '3x10' },
    silent: { [`ledger_clock_skew_seconds{${NODE}}`]: '1.9x10' },
    at: '2m',
    labels: NODE_LABELS,
    severity: 'warning',
    summary: 'The clock of node-1:9090 differs from that of PostgreSQL by 3s.',
  },
  LedgerCommitsFailing: {
    fires: { [`ledger_commits_failing{${NODE}}`]: '0 1x10' },
    silent: { [`ledger_commits_failing{${NODE}}`]: '0x2 1 0x10' },
    at: '30s',
    labels: NODE_LABELS,
    severity: 'critical',
    summary: 'PostgreSQL refuses or delays the commits of node-1:9090.',
  },
  LedgerCommitsUnknown: {
    fires: { [`ledger_commits_total{${NODE},result="unknown"}`]: '0x4 1x10' },
    silent: {
      [`ledger_commits_total{${NODE},result="unknown"}`]: '3x20',
      [`ledger_commits_total{${NODE},result="applied"}`]: '0+10x20',
    },
    at: '2m',
    labels: { instance: 'node-1:9090' },
    severity: 'warning',
    summary: 'Commits of node-1:9090 ended with an unknown outcome in the last 10 minutes.',
  },
  LedgerMessagesWaiting: {
    fires: { [`ledger_backlog_messages{${NODE}}`]: '2000+10x200' },
    // Many and falling; the alert also needs that they become more.
    silent: { [`ledger_backlog_messages{${NODE}}`]: '5000-10x200' },
    at: '40m',
    labels: NODE_LABELS,
    severity: 'warning',
    summary: 'node-1:9090 has 2400 messages or more that no other shard has acknowledged, and they become more.',
  },
  LedgerMessagesNotOpened: {
    fires: { [`ledger_messages_not_opened_total{${EDGE},direction="reply"}`]: '0x4 2x10' },
    silent: { [`ledger_messages_not_opened_total{${EDGE},direction="reply"}`]: '2x20' },
    at: '2m',
    labels: { part: 'edge', instance: 'edge-1:9090' },
    severity: 'warning',
    summary: 'edge edge-1:9090 dropped messages that it could not open.',
  },
  LedgerEventsStalled: {
    fires: { [`ledger_log_stalled_seconds{${EDGE}}`]: '0 15+15x10' },
    silent: { [`ledger_log_stalled_seconds{${EDGE}}`]: '0x20' },
    at: '1m',
    labels: {},
    severity: 'warning',
    summary: 'A transaction in PostgreSQL has held back events and the log for 1m 0s.',
  },
  LedgerEventLag: {
    fires: {
      [`ledger_event_lag_seconds_bucket{${EDGE},le="10"}`]: '0x20',
      [`ledger_event_lag_seconds_bucket{${EDGE},le="30"}`]: '0+1x20',
      [`ledger_event_lag_seconds_bucket{${EDGE},le="+Inf"}`]: '0+1x20',
    },
    silent: {
      [`ledger_event_lag_seconds_bucket{${EDGE},le="1"}`]: '0+1x20',
      [`ledger_event_lag_seconds_bucket{${EDGE},le="10"}`]: '0+1x20',
      [`ledger_event_lag_seconds_bucket{${EDGE},le="+Inf"}`]: '0+1x20',
    },
    at: '2m',
    labels: {},
    severity: 'warning',
    summary: 'The slowest hundredth of events reached listeners after 29.8s.',
  },
  LedgerWebhookFailing: {
    fires: { [`ledger_webhooks_failing{${EDGE}}`]: '1x100' },
    silent: { [`ledger_webhooks_failing{${EDGE}}`]: '1x40 0 1x100' },
    at: '16m',
    labels: EDGE_LABELS,
    severity: 'warning',
    summary: '1 webhooks of edge-1:9090 fail.',
  },
  LedgerWebhookDisabled: {
    fires: { [`ledger_webhooks_disabled_total{${EDGE},reason="delivery_failed"}`]: '0x4 1x10' },
    silent: { [`ledger_webhooks_disabled_total{${EDGE},reason="delivery_failed"}`]: '1x20' },
    at: '2m',
    labels: { reason: 'delivery_failed' },
    severity: 'warning',
    summary: 'Webhooks were disabled in the last hour: delivery_failed.',
  },
  LedgerAuditFinding: {
    fires: { [`ledger_audit_findings{${AUDITOR},subject="chains_verify"}`]: '0 2x10' },
    silent: { [`ledger_audit_findings{${AUDITOR},subject="chains_verify"}`]: '0x10' },
    at: '1m',
    labels: { subject: 'chains_verify' },
    severity: 'critical',
    summary: 'The auditor has 2 findings: chains_verify.',
  },
  LedgerAuditStale: {
    fires: { [`ledger_audit_pass_completed_timestamp_seconds{${AUDITOR}}`]: '0x6000' },
    silent: { [`ledger_audit_pass_completed_timestamp_seconds{${AUDITOR}}`]: '3600x6000' },
    at: '25h1m',
    labels: {},
    severity: 'warning',
    summary: 'The auditor has not checked the whole ledger for 1d 1h 1m 0s.',
  },
  LedgerLogNotWitnessed: {
    fires: { [`ledger_log_unpublished_age_seconds{${EDGE}}`]: '1+15x10' },
    silent: { [`ledger_log_unpublished_age_seconds{${EDGE}}`]: '1+14x10' },
    at: '1m',
    labels: {},
    severity: 'warning',
    summary: 'Entries of the log have waited for witnesses for 1m 1s.',
  },
  LedgerLogRolledBack: {
    fires: { [`ledger_log_rolled_back{${EDGE}}`]: '0 1x10' },
    silent: { [`ledger_log_rolled_back{${EDGE}}`]: '0x10' },
    at: '1m',
    labels: {},
    severity: 'critical',
    summary: 'The database has lost entries of the log, or has other ones.',
  },
  LedgerDiskNearlyFull: {
    fires: { [`ledger_data_dir_free_bytes{${NODE}}`]: '9x20', [`ledger_data_dir_size_bytes{${NODE}}`]: '100x20' },
    silent: { [`ledger_data_dir_free_bytes{${NODE}}`]: '10x20', [`ledger_data_dir_size_bytes{${NODE}}`]: '100x20' },
    at: '2m',
    labels: NODE_LABELS,
    severity: 'critical',
    summary: 'The disk of the data directory of node-1:9090 has 9% left.',
  },
  LedgerServerDiskNearlyFull: {
    fires: { [`node_filesystem_avail_bytes{${SERVER}}`]: '9x20', [`node_filesystem_size_bytes{${SERVER}}`]: '100x20' },
    silent: {
      [`node_filesystem_avail_bytes{${SERVER}}`]: '10x20',
      [`node_filesystem_size_bytes{${SERVER}}`]: '100x20',
    },
    at: '2m',
    labels: { job: 'ledger-servers', instance: 'postgres:9100', fstype: 'ext4', mountpoint: '/' },
    severity: 'critical',
    summary: '/ of postgres:9100 has 9% left.',
  },
  LedgerCertificateNearEnd: {
    fires: { [`ledger_certificate_expires_timestamp_seconds{${NODE},certificate="postgres"}`]: '1209659x10' },
    silent: { [`ledger_certificate_expires_timestamp_seconds{${NODE},certificate="postgres"}`]: '1209660x10' },
    at: '1m',
    labels: { certificate: 'postgres' },
    severity: 'warning',
    summary: 'A certificate of postgres expires in 13d 23h 59m 59s.',
  },
}

/** The auditor reports nothing: it is down, or has not completed its first turn. */
export const SILENT_AUDITOR_CASES: Readonly<Record<string, AlertCase>> = {
  LedgerAuditFinding: {
    fires: { [`ledger_audit_findings{${AUDITOR},subject="chains_verify"}`]: '2x10 _x40' },
    // Its next report has none.
    silent: { [`ledger_audit_findings{${AUDITOR},subject="chains_verify"}`]: '2x10 _x10 0x20' },
    at: '10m',
    labels: { subject: 'chains_verify' },
    severity: 'critical',
    summary: 'The auditor has 2 findings: chains_verify.',
  },
  LedgerAuditStale: {
    fires: { [`up{${AUDITOR}}`]: '1x300' },
    silent: {
      [`up{${AUDITOR}}`]: '1x300',
      [`ledger_audit_pass_completed_timestamp_seconds{${AUDITOR}}`]: '_x200 3000x100',
    },
    at: '1h1m',
    labels: {},
    severity: 'warning',
    summary: 'The auditor has not reported a pass for an hour.',
  },
}
