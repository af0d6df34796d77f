/**
 * A ledger as version 9 of the schema had it: rows in columns of their own, and IDs in place of references. What a commit of
 * that program wrote, column by column.
 */
import type postgres from 'postgres'
import { type AccountState, type Hold, valueOf } from '../../actors/account/state.ts'
import type { Transaction, TransactionRecord } from '../../actors/account/transaction.ts'
import { type ActorState } from '../../actors/actor-state.ts'
import { actorKey } from '../../actors/address.ts'
import { canonicalJson } from '../../actors/canonical-json.ts'
import { formatQuantity, ZERO } from '../../actors/money.ts'
import { nftNameOf } from '../../actors/nft-id.ts'
import { MIGRATIONS } from '../../infra/postgres/migrations.ts'
import type { ClientRecord } from '../../runtime/ports/access-store.ts'
import type { Attestation, SubmissionKey } from '../../runtime/ports/attestation-store.ts'
import type { ReceiptWrite } from '../../runtime/ports/ledger-store.ts'
import type { Rows } from './ledger-rows.ts'

type Row = Record<string, string | number | boolean | Date | Buffer | null>

/** `sealedShardSecret`: as the ledger's row has it. */
export async function createVersion9(
  sql: postgres.Sql,
  ledger: { readonly ledgerId: string; readonly shardCount: number; readonly sealedShardSecret: Buffer },
): Promise<void> {
  await sql`CREATE TABLE schema_migrations (
    version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
  for (const { version, name, sql: text } of MIGRATIONS.filter((migration) => migration.version <= 9)) {
    await sql.unsafe(text)
    await sql`INSERT INTO schema_migrations (version, name) VALUES (${version}, ${name})`
  }
  const { ledgerId, shardCount, sealedShardSecret } = ledger
  await sql`
    INSERT INTO ledger (ledger_id, shard_count, sealed_shard_secret, created_at)
    VALUES (${ledgerId}, ${shardCount}, ${sealedShardSecret}, now())`
  await sql`INSERT INTO shards (shard_id) SELECT generate_series(0, ${shardCount - 1}::integer)`
}

/** What one commit of a shard wrote. */
export async function writeVersion9(sql: postgres.Sql, shardId: number, rows: Rows, session: string): Promise<void> {
  const writes = writesTo(sql, shardId)
  await writeAccounts(writes, rows)
  await writeTransactions(sql, shardId, writes, rows)
  await writeHoldsAndActors(writes, rows)
  await writeMessages(writes, rows)
  await writeCounts(sql, rows, session)
}

interface Writes {
  readonly insert: (table: string, row: Row) => Promise<void>
  /** By two columns beside the shard. */
  readonly remove: (table: string, key: Row) => Promise<void>
}

function writesTo(sql: postgres.Sql, shardId: number): Writes {
  return {
    insert: async (table, row) => void (await sql`INSERT INTO ${sql(table)} ${sql({ shard_id: shardId, ...row })}`),
    remove: async (table, key) => {
      const matches = Object.entries(key).map(([column, value]) => sql`AND ${sql(column)} = ${String(value)}`)
      await sql`DELETE FROM ${sql(table)} WHERE shard_id = ${shardId} ${matches}`
    },
  }
}

async function writeAccounts({ insert, remove }: Writes, rows: Rows): Promise<void> {
  for (const { account } of rows.accounts) {
    await remove('accounts', { account_id: account.accountId })
    await insert('accounts', accountRow(account))
  }
  for (const { accountId, tokenId, balance } of rows.balances) {
    const key = { account_id: accountId, token_id: tokenId }
    await remove('balances', key)
    await insert('balances', {
      ...key,
      balance: formatQuantity(balance.balance),
      reserved: formatQuantity(balance.reserved),
      incoming: formatQuantity(balance.incoming),
      room: formatQuantity(balance.room),
      updated_at: new Date(balance.updatedAtMs),
    })
  }
  for (const { accountId, key, fromSequence, atMs } of rows.keys) {
    const row = { account_id: accountId, key_id: key.keyId, from_sequence: fromSequence, public_key: key.publicKey }
    await insert('account_keys', { ...row, registered_at: new Date(atMs) })
  }
  for (const { accountId, sequence, txnId, previousHash, auditHash, payload } of rows.entries) {
    const hashes = { previous_hash: bytes(previousHash), audit_hash: bytes(auditHash) }
    await insert('audit_entries', { account_id: accountId, sequence, txn_id: txnId, ...hashes, payload })
  }
}

async function writeTransactions(sql: postgres.Sql, shardId: number, { insert }: Writes, rows: Rows): Promise<void> {
  for (const { transaction, receipt } of rows.transactions) {
    await insert('transactions', { ...transactionRow(transaction), ...decisionRow(transaction, receipt) })
  }
  for (const { txnId, finished, compensatedBy } of rows.transactionChanges) {
    const decided = finished === null ? {} : decisionRow(finished.transaction, finished.receipt)
    const changes = { ...decided, ...(compensatedBy === null ? {} : { compensated_by: compensatedBy }) }
    await sql`UPDATE transactions SET ${sql(changes)} WHERE shard_id = ${shardId} AND txn_id = ${txnId}`
  }
  for (const { accountId, idempotencyKey, payloadHash, keyId, operation, answer, atMs } of rows.operations) {
    const row = { account_id: accountId, operation, idempotency_key: idempotencyKey, payload_hash: bytes(payloadHash) }
    await insert('operations', { ...row, key_id: keyId, answer: JSON.stringify(answer), recorded_at: new Date(atMs) })
  }
}

async function writeHoldsAndActors({ insert, remove }: Writes, rows: Rows): Promise<void> {
  for (const { accountId, holdId, hold } of rows.holds) {
    await remove('holds', { account_id: accountId, hold_id: holdId })
    await insert('holds', { account_id: accountId, hold_id: holdId, ...holdRow(hold) })
  }
  for (const { accountId, holdId } of rows.removedHolds)
    await remove('holds', { account_id: accountId, hold_id: holdId })
  for (const { address, state } of rows.actors) {
    await remove('actors', { kind: address.kind, actor_id: address.id })
    if (state !== null) await insert('actors', { kind: address.kind, actor_id: address.id, ...actorRow(state) })
  }
  for (const { nftId, event } of rows.nftEvents) {
    const { number, type, from, to, txnId, atMs, previousHash, eventHash, payload } = event
    const parties = { from_account_id: from, to_account_id: to, txn_id: txnId, occurred_at: new Date(atMs) }
    const hashes = { previous_hash: bytes(previousHash), event_hash: bytes(eventHash) }
    await insert('nft_events', { nft_id: nftId, number, type, ...parties, ...hashes, payload })
  }
}

async function writeMessages({ insert }: Writes, rows: Rows): Promise<void> {
  for (const { target, number, envelope, atMs } of rows.outbox) {
    const carries = envelope.carries.map(({ tokenId, quantity }) => [tokenId, quantity])
    const message = {
      receiver: actorKey(envelope.to),
      message: JSON.stringify(envelope),
      carries: JSON.stringify(carries),
    }
    await insert('outbox', { target_shard: target, number, ...message, written_at: new Date(atMs) })
  }
  for (const { target, sent } of rows.sent) await insert('outbox_channels', { target_shard: target, sent })
  for (const { source, mark } of rows.marks) await insert('inbox_marks', { source_shard: source, mark })
}

async function writeCounts(sql: postgres.Sql, rows: Rows, session: string): Promise<void> {
  const decided = [
    ...rows.transactions.map(({ transaction }) => transaction.status),
    ...rows.transactionChanges.map(({ finished }) => finished?.transaction.status),
  ]
  const [completed, failed] = ['completed', 'failed'].map((status) => decided.filter((one) => one === status).length)
  await sql`
    INSERT INTO sessions (session, node_id, started_at, probed_at, completed_count, failed_count)
    VALUES (${session}, 'old-node', now(), now(), ${completed ?? 0}, ${failed ?? 0})
    ON CONFLICT (session) DO UPDATE
      SET completed_count = sessions.completed_count + excluded.completed_count,
          failed_count = sessions.failed_count + excluded.failed_count`
  for (const { tokenId, credited, debited } of rows.boundary) {
    await sql`
      INSERT INTO boundary_totals (session, token_id, credited, debited)
      VALUES (${session}, ${tokenId}, ${credited}, ${debited})
      ON CONFLICT (session, token_id) DO UPDATE
        SET credited = boundary_totals.credited + excluded.credited, debited = boundary_totals.debited + excluded.debited`
  }
}

function bytes(hash: string): Buffer {
  return Buffer.from(hash, 'hex')
}

function accountRow(account: AccountState): Row {
  return {
    account_id: account.accountId,
    version: account.version,
    status: account.status,
    incoming: account.incoming,
    key_id: account.key?.keyId ?? null,
    public_key: account.key?.publicKey ?? null,
    sequence: account.sequence,
    tip: bytes(account.tip),
    completed_count: account.completedCount,
    failed_count: account.failedCount,
    nft_count: account.nftCount,
    nft_room: account.nftRoom,
    registered_by: account.registeredBy,
    created_at: new Date(account.createdAtMs),
    updated_at: new Date(account.updatedAtMs),
    last_time: new Date(account.lastTimeMs),
  }
}

function transactionRow(transaction: Transaction): Row {
  return {
    txn_id: transaction.txnId,
    account_id: transaction.accountId,
    type: transaction.type,
    amount: transaction.amount,
    quantity: transaction.amount,
    token_id: transaction.tokenId,
    group_id: transaction.groupId,
    origin: transaction.origin,
    metadata: transaction.metadata === null ? null : canonicalJson(transaction.metadata),
    to_account_id: transaction.toAccountId,
    from_account_id: transaction.fromAccountId,
    created_at: new Date(transaction.createdAtMs),
    idempotency_key: transaction.idempotencyKey,
    payload: transaction.payload,
    payload_hash: bytes(transaction.payloadHash),
    signature: transaction.signature,
    key_id: transaction.keyId,
  }
}

function decisionRow(transaction: TransactionRecord, receipt: ReceiptWrite | null): Row {
  const { previousHash, auditHash } = transaction
  return {
    status: transaction.status,
    failure_code: transaction.failure?.code ?? null,
    failure_detail: transaction.failure?.detail ?? null,
    details: detailsText(transaction),
    processed_at: transaction.processedAtMs === null ? null : new Date(transaction.processedAtMs),
    sequence: transaction.sequence,
    previous_hash: previousHash === null ? null : bytes(previousHash),
    audit_hash: auditHash === null ? null : bytes(auditHash),
    receipt_key_id: receipt?.keyId ?? null,
    receipt_signature: receipt?.signature ?? null,
  }
}

/** JSON of what is not null, or null. */
function detailsText({ receive, compensates, counterTxnId }: TransactionRecord): string | null {
  const members = Object.entries({ receive, compensates, counterTxnId }).filter(([, value]) => value !== null)
  return members.length === 0 ? null : JSON.stringify(Object.fromEntries(members))
}

function holdRow(hold: Hold): Row {
  const value = valueOf(hold)
  return {
    document: JSON.stringify(hold),
    token_id: value?.tokenId ?? null,
    value: formatQuantity(value?.quantity ?? ZERO),
    pending_txn_id: hold.kind === 'leg' && hold.state === 'holding' ? hold.txnId : null,
  }
}

function actorRow(state: ActorState): Row {
  const isOwned = state.kind === 'instance' && state.status !== 'minting' && state.status !== 'burned'
  return {
    version: state.version,
    status: state.kind === 'exchange' ? 'waiting' : state.status,
    document: JSON.stringify(state),
    due_at: state.dueAtMs === null ? null : new Date(state.dueAtMs),
    client_id: 'clientId' in state ? state.clientId : null,
    class_id:
      state.kind === 'class'
        ? state.classId
        : state.kind === 'instance'
          ? (nftNameOf(state.id)?.classId ?? null)
          : null,
    class_name: state.kind === 'class' ? state.name : null,
    issuer: state.kind === 'class' ? state.issuer : null,
    owner: isOwned ? state.owner : null,
    created_at: new Date(0),
  }
}

export async function writeAttestation9(
  sql: postgres.Sql,
  attestation: Attestation,
  key: SubmissionKey | null,
): Promise<void> {
  const { revocation } = attestation
  const row: Row = {
    attestation_id: attestation.attestationId,
    subject_class: attestation.subjectClass,
    subject_instance: attestation.subjectInstance,
    attester: attestation.attester,
    status: revocation === null ? 'active' : 'revoked',
    attestation_type: attestation.attestationType,
    statement: attestation.statement,
    evidence_url: attestation.evidenceUrl,
    submitted_by: attestation.submittedBy,
    attester_verified: attestation.attesterVerified,
    created_at: new Date(attestation.createdAtMs),
    key_id: attestation.seal.keyId,
    signature: attestation.seal.signature,
    idempotency_key: key?.idempotencyKey ?? null,
    payload_hash: key === null ? null : bytes(key.payloadHash),
    revoked_at: revocation === null ? null : new Date(revocation.atMs),
    revoked_by: revocation?.by ?? null,
    revocation_reason: revocation?.reason ?? null,
    revocation_key_id: revocation?.seal.keyId ?? null,
    revocation_signature: revocation?.seal.signature ?? null,
  }
  await sql`INSERT INTO attestations ${sql(row)}`
}

export async function writeClient9(sql: postgres.Sql, client: ClientRecord): Promise<void> {
  const { clientId, secretHash, role, boundary, createdAtMs, revokedAtMs } = client
  await sql`
    INSERT INTO clients (client_id, secret_hash, role, boundary, created_at, revoked_at)
    VALUES (${clientId}, ${secretHash}, ${role}, ${sql.json(boundary)}, ${new Date(createdAtMs)},
            ${revokedAtMs === null ? null : new Date(revokedAtMs)})`
}
