/**
 * The privileges of each PostgreSQL role on each table. `migrate` grants exactly these to the roles that exist, each time.
 * An installation with one login for all parts has none of these roles.
 *   G1. Only the owner, who migrates, may define objects, or write tables that no running part writes.
 *   G2. Every table is listed, also those without privileges: a test compares the list with the schema.
 *   G3. Columns that never change once they are written are left out of an UPDATE where a part changes only others.
 *   G4. The number of a commit is its default: no part may choose it for what it inserts. A row of a lower number would
 *       be behind the log and the feed, which have passed it. (`entered_xid` of a final transaction is an earlier commit's.)
 */
import type { Sql } from '../connection/connection.ts'
import { ATTESTATION_COLUMNS } from '../rows/attestation-document.ts'

/** Beside `ledger_owner`, who needs no grant. */
export const GRANTED_ROLES = ['ledger_node', 'ledger_edge', 'ledger_auditor', 'ledger_backup'] as const
export type GrantedRole = (typeof GRANTED_ROLES)[number]

type Rights = Readonly<Partial<Record<GrantedRole, readonly string[]>>>

const READ = ['SELECT']
const ADD = ['SELECT', 'INSERT']
const WRITE = ['SELECT', 'INSERT', 'UPDATE']
const REPLACE = ['SELECT', 'INSERT', 'UPDATE', 'DELETE']

function update(columns: readonly string[]): string {
  return `UPDATE (${columns.join(', ')})`
}

function insert(columns: string): string {
  return `INSERT (${columns})`
}

const OF_TRANSACTION =
  'created_at, shard_id, amount_bucket, group_id, txn_id, account_id, type, token_id, origin, idempotency_key, document'
const FINAL =
  'processed_at, sequence, entered_xid, received_token_id, status, failure_code, receipt_key_id, compensated_by, previous_hash, audit_hash, refunded'
const OF_ENTRY = 'processed_at, sequence, shard_id, account_id, previous_hash, audit_hash, token_id, payload'
const OF_NFT_EVENT =
  'occurred_at, shard_id, number, nft_id, type, from_account_id, to_account_id, txn_id, previous_hash, event_hash, payload'

export const TABLE_RIGHTS: Readonly<Record<string, Rights>> = {
  schema_migrations: { ledger_node: READ, ledger_edge: READ, ledger_auditor: READ },
  ledger: { ledger_node: READ, ledger_edge: READ, ledger_auditor: READ, ledger_backup: READ },

  shards: {
    ledger_node: ['SELECT', update(['epoch', 'attempt', 'node_id', 'session', 'updated_at'])],
    ledger_edge: READ,
  },
  sessions: { ledger_node: WRITE, ledger_edge: READ },
  drained_nodes: { ledger_node: READ },
  accepted_servers: {
    ledger_node: ['SELECT', update(['went_back_at'])],
    ledger_edge: READ,
    ledger_auditor: READ,
  },
  shard_health: { ledger_node: READ, ledger_edge: WRITE },
  commit_counts: { ledger_node: ['SELECT', 'INSERT', 'DELETE'], ledger_edge: READ },
  shard_counts: { ledger_node: WRITE, ledger_edge: READ },

  accounts: { ledger_node: WRITE, ledger_edge: READ, ledger_auditor: READ },
  // Erasing an account deletes its key and the texts of its balances.
  data_keys: { ledger_node: ['SELECT', 'INSERT', 'DELETE'], ledger_edge: READ, ledger_auditor: READ },
  account_keys: { ledger_node: ADD },
  balances: { ledger_node: REPLACE, ledger_edge: READ, ledger_auditor: READ },
  holds: { ledger_node: REPLACE, ledger_edge: READ, ledger_auditor: READ },
  audit_entries: { ledger_node: [insert(OF_ENTRY)], ledger_edge: READ, ledger_auditor: READ },
  transactions: {
    ledger_node: ['SELECT', insert(`${OF_TRANSACTION}, ${FINAL}`), update(['compensated_by', 'refunded'])],
    ledger_edge: READ,
    ledger_auditor: READ,
  },
  pending_transactions: {
    ledger_node: ['SELECT', insert(`${OF_TRANSACTION}, is_hold, hold`), 'DELETE', update(['hold'])],
    ledger_edge: READ,
    ledger_auditor: READ,
  },
  all_transactions: { ledger_node: READ, ledger_edge: READ, ledger_auditor: READ },
  transaction_feed: { ledger_edge: READ, ledger_auditor: READ },
  all_holds: { ledger_edge: READ, ledger_auditor: READ },
  chain_entries: { ledger_edge: READ, ledger_auditor: READ },
  commits: {
    ledger_node: ['SELECT', insert('final, pending, ended')],
    ledger_edge: READ,
    ledger_auditor: READ,
  },
  operations: { ledger_node: ADD, ledger_edge: READ },
  actors: { ledger_node: REPLACE, ledger_edge: READ, ledger_auditor: READ },
  nft_events: { ledger_node: [insert(OF_NFT_EVENT)], ledger_edge: READ, ledger_auditor: READ },
  outbox: { ledger_node: ['SELECT', 'INSERT', 'DELETE'], ledger_edge: READ, ledger_auditor: READ },
  outbox_channels: { ledger_node: WRITE, ledger_edge: READ, ledger_auditor: READ },
  outbox_acknowledgements: { ledger_node: WRITE },
  inbox_marks: { ledger_node: WRITE, ledger_edge: READ, ledger_auditor: READ },
  boundary_crossings: { ledger_node: ['SELECT', 'INSERT', 'DELETE'], ledger_edge: READ, ledger_auditor: READ },

  // `FOR SHARE`, which holds a client's revocation back, wants the right to change some column: one that says nothing.
  clients: {
    ledger_edge: ['SELECT', insert('client_id, document, revoked_at'), update(['document', 'revoked_at', 'held'])],
  },
  refresh_families: { ledger_edge: REPLACE },
  access_resets: { ledger_edge: READ },
  used_refresh_tokens: { ledger_edge: ['SELECT', 'INSERT', 'DELETE'] },
  spent_assertions: { ledger_edge: ['SELECT', 'INSERT', 'DELETE'] },
  // Public keys. Private keys are in a table for each part that signs or decrypts with them.
  service_keys: { ledger_node: READ, ledger_edge: READ, ledger_auditor: READ, ledger_backup: READ },
  node_private_keys: { ledger_node: READ },
  edge_private_keys: { ledger_edge: READ },
  administrative_entries: {
    ledger_edge: ['SELECT', insert('sequence, account_id, previous_hash, audit_hash, document')],
  },
  attestations: {
    ledger_edge: ['SELECT', insert(ATTESTATION_COLUMNS.join(', ')), update(['status', 'revoked_at', 'document'])],
    ledger_auditor: READ,
  },
  idempotent_requests: { ledger_edge: REPLACE },
  idempotent_answer_parts: { ledger_edge: ['SELECT', 'INSERT', 'DELETE'] },
  liability_runs: { ledger_edge: REPLACE },
  liability_pages: { ledger_edge: ['SELECT', 'INSERT', 'DELETE'] },
  log_head: { ledger_edge: [...ADD, update(['size', 'root', 'position'])], ledger_backup: READ },
  log_lease: { ledger_edge: [...ADD, 'DELETE', update(['until', 'holder'])] },
  log_batches: { ledger_edge: ['SELECT', insert('first, entries, until_xid')] },
  log_tiles: { ledger_edge: [...ADD, update(['content'])] },
  log_published: { ledger_edge: [...ADD, update(['size', 'note'])], ledger_backup: READ },
  // `ledger checkpoint` has the login of an edge.
  log_statements: { ledger_edge: ['SELECT', insert('hash')] },
  imports: { ledger_edge: REPLACE },
  import_parts: { ledger_edge: REPLACE },
  webhooks: { ledger_edge: REPLACE },
  webhook_deliveries: { ledger_edge: WRITE },

  audit_progress: { ledger_edge: READ, ledger_auditor: WRITE },
  audit_findings: { ledger_edge: READ, ledger_auditor: REPLACE },
}

/** By its arguments' types, as PostgreSQL names it. */
export const FUNCTION_RIGHTS: Readonly<Record<string, readonly GrantedRole[]>> = {
  'ledger_demand(boolean, text)': ['ledger_node'],
  // Only triggers call these, which needs no right.
  'ledger_check_administrative()': [],
  'ledger_note_client()': [],
  'ledger_note_revocation()': [],
  'ledger_note_session()': [],
  'ledger_reset_access()': [],
}

/** Takes what the roles have of the tables and gives them what is theirs, in one transaction. */
export async function grantToRoles(sql: Sql): Promise<void> {
  const existing = await sql<{ rolname: GrantedRole }[]>`
    SELECT rolname FROM pg_roles WHERE rolname IN ${sql(GRANTED_ROLES)}`
  const roles = existing.map(({ rolname }) => rolname)
  if (roles.length === 0) return
  await sql.begin(async (transaction) => {
    for (const statement of grantStatements(roles)) await transaction.unsafe(statement)
  })
}

export function grantStatements(roles: readonly GrantedRole[]): readonly string[] {
  const all = roles.join(', ')
  return [
    'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
    `GRANT USAGE ON SCHEMA public TO ${all}`,
    `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, ${all}`,
    ...Object.entries(TABLE_RIGHTS).flatMap(([table, rights]) =>
      roles.flatMap((role) => {
        const granted = rights[role]
        return granted === undefined ? [] : [`GRANT ${granted.join(', ')} ON ${table} TO ${role}`]
      }),
    ),
    ...Object.entries(FUNCTION_RIGHTS).flatMap(([name, callers]) => [
      `REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`,
      ...roles.filter((role) => callers.includes(role)).map((role) => `GRANT EXECUTE ON FUNCTION ${name} TO ${role}`),
    ]),
  ]
}
