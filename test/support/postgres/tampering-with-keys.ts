/**
 * An attacker with the keys: rows are opened, changed and sealed again, with their columns, so that nothing but what they
 * say is wrong. Each throws where it changed nothing: that would show nothing.
 */
import type postgres from 'postgres'
import { Balances } from '../../../actors/account/balances.ts'
import { entryPayload } from '../../../actors/account/record.ts'
import type { AccountState, Balance } from '../../../actors/account/state.ts'
import type { Transaction } from '../../../actors/account/transaction.ts'
import type { ActorState } from '../../../actors/actor-state.ts'
import type { AuditEntry } from '../../../actors/audit-chain.ts'
import { BASE_UNIT } from '../../../actors/money.ts'
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import { sealAccount } from '../../../infra/postgres/rows/account-document.ts'
import { balanceText, holdRefOf, pendingHoldText } from '../../../infra/postgres/rows/account-parts.ts'
import { type ActorRow, keyNameOfActorRow } from '../../../infra/postgres/rows/actor-documents.ts'
import { CHAIN_ENTRY_COLUMNS, type ChainEntryRow, payloadOf } from '../../../infra/postgres/rows/chain-entries.ts'
import {
  ACCOUNTS_LOOK_UP,
  openWholeAccount,
  type WholeAccountRow,
} from '../../../infra/postgres/store/look-up-accounts.ts'
import { createRowSealer, nftKeyName, PLACES } from '../../../infra/postgres/rows/row-sealer.ts'
import { openTransaction, type TransactionRow } from '../../../infra/postgres/rows/transaction-document.ts'
import { accountKeyName, type KeyName, LEDGER_KEY_NAME } from '../../../infra/vault/key-name.ts'
import type { Place } from '../../../infra/vault/place.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { AccountChange, TransactionWrite } from '../../../runtime/ports/ledger-store.ts'
import { vaultOf } from './ledger-database.ts'
import { resealTransaction } from './sealed-rows.ts'

/** A test's database, and what opens it. */
interface Keyed {
  readonly sql: postgres.Sql
  readonly vault: RowVault
  readonly open: (name: KeyName, place: Place, bytes: Uint8Array) => Promise<string>
  readonly seal: (name: KeyName, place: Place, text: string) => Promise<Buffer>
}

/** A database. `vault`: left out of one that a test made by itself. */
interface Target {
  readonly url: string
  readonly sql: postgres.Sql
  readonly vault?: RowVault
}

async function keyed({ url, sql, ...target }: Target): Promise<Keyed> {
  const vault = target.vault ?? (await vaultOf(url))
  const fetch = (name: KeyName): Promise<void> => vault.keys.fetch(sql, [name])
  return {
    sql,
    vault,
    open: async (name, place, bytes) => {
      await fetch(name)
      return vault.open(name, place, bytes)
    },
    seal: async (name, place, text) => {
      await fetch(name)
      return Buffer.from(vault.seal(name, place, text), 'hex')
    },
  }
}

/** What `change` gives for one that is to stay as it is. */
type Left = undefined

async function each<Row>(rows: readonly Row[], change: (row: Row) => Promise<boolean>): Promise<void> {
  let changed = 0
  for (const row of rows) if (await change(row)) changed += 1
  if (changed === 0) throw new Error('nothing was changed')
}

/** The account's row, balances and holds, with the digest that binds them. */
export function changeAccount(accountId: string, change: (account: AccountState) => AccountState) {
  return async (copy: Target): Promise<void> => {
    const { sql, vault } = await keyed(copy)
    const ref = vault.accountRef(accountId)
    const name = accountKeyName(ref)
    await vault.keys.fetch(sql, [name])
    const [row] = await sql.unsafe<WholeAccountRow[]>(
      ACCOUNTS_LOOK_UP.replace(/FROM unnest[^\n]*\n[^\n]*$/, 'FROM accounts a WHERE a.account_id = $1::text'),
      [ref],
    )
    if (row === undefined) throw new Error(`${accountId} is not there`)
    const [, before] = openWholeAccount(row, vault, accountId)
    const after = change(before)
    const sealed = (place: Place, text: string): Buffer => Buffer.from(vault.seal(name, place, text), 'hex')
    const { digest, lasting, lastingVersion } = sealAccount(
      { previousVersion: before.version, account: after, since: changeOf(before, after) },
      createRowSealer(vault, row.shard_id, new Map()),
    )
    await sql`
      UPDATE accounts SET version = ${after.version}, status = ${after.status}, sequence = ${after.sequence}, tip = ${Buffer.from(after.tip, 'hex')},
             completed_count = ${after.completedCount}, failed_count = ${after.failedCount}, nft_count = ${after.nftCount},
             updated_at = ${new Date(after.updatedAtMs)}, last_time = ${new Date(after.lastTimeMs)},
             digest = ${Buffer.from(digest, 'base64')}, lasting_version = coalesce(${lastingVersion}::bigint, lasting_version),
             lasting = coalesce(${lasting === null ? null : Buffer.from(lasting, 'base64')}::bytea, lasting) WHERE account_id = ${ref}`
    for (const tokenId of before.balances.keys()) {
      if (!after.balances.has(tokenId)) {
        await sql`DELETE FROM balances WHERE account_id = ${ref} AND token_id = ${tokenId}`
      }
    }
    for (const [tokenId, balance] of after.balances) {
      const document = sealed(PLACES.balance(row.shard_id, ref, tokenId), balanceText(balance))
      await sql`UPDATE balances SET document = ${document} WHERE account_id = ${ref} AND token_id = ${tokenId}`
    }
    for (const [holdId, hold] of after.holds) {
      if (hold.kind === 'pending') {
        const own = pendingHoldText(hold)
        const document = own === null ? null : sealed(PLACES.hold(row.shard_id, ref, holdId), own)
        await sql`UPDATE pending_transactions SET hold = ${document} WHERE account_id = ${ref} AND txn_id = ${holdId}`
        continue
      }
      const holdRef = holdRefOf(vault, accountId, holdId)
      const document = sealed(PLACES.hold(row.shard_id, ref, holdRef), JSON.stringify(hold))
      await sql`UPDATE holds SET document = ${document} WHERE account_id = ${ref} AND hold_id = ${holdRef}`
    }
  }
}

/** Whatever may differ. */
export function changeOf(previous: AccountState, after: AccountState): AccountChange {
  const of = (one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): readonly string[] => [
    ...new Set([...one.keys(), ...other.keys()]),
  ]
  return { previous, tokenIds: of(previous.balances, after.balances), holdIds: of(previous.holds, after.holds) }
}

/** The account's balance in the base unit. */
export function changeBase(accountId: string, change: (balance: Balance) => Partial<Balance>) {
  return changeAccount(accountId, (account) => {
    const before = account.balances.get(BASE_UNIT)
    if (before === undefined) throw new Error(`${accountId} has none`)
    return { ...account, balances: Balances.of([...account.balances, [BASE_UNIT, { ...before, ...change(before) }]]) }
  })
}

/** Entries of a chain, in order. A transaction is its own entry, and says what the entry says of it. */
export function changeEntries(accountId: string, change: (entry: AuditEntry) => AuditEntry | Left) {
  return async (copy: Target): Promise<void> => {
    const { sql, vault, seal } = await keyed(copy)
    const ref = vault.accountRef(accountId)
    await vault.keys.fetch(sql, [accountKeyName(ref)])
    const columns = CHAIN_ENTRY_COLUMNS.join(', ')
    const rows = await sql.unsafe<ChainEntryRow[]>(
      `SELECT ${columns} FROM chain_entries WHERE account_id = $1 ORDER BY sequence`,
      [ref],
    )
    await each(rows, async (row) => {
      const entry = {
        sequence: Number(row.sequence),
        txnId: row.txn_id,
        previousHash: row.previous_hash.toString('hex'),
        auditHash: row.audit_hash.toString('hex'),
        payload: payloadOf(row, vault),
      }
      const after = change(entry)
      if (after === undefined) return false
      if (row.txn_id !== null) {
        const { transaction, receipt } = openTransaction(row, vault)
        await resealTransaction(sql, vault, row, { transaction: saying(transaction, after), receipt })
        return true
      }
      const place = PLACES.entry(row.shard_id, ref, entry.sequence)
      await sql`
        UPDATE audit_entries SET previous_hash = ${Buffer.from(after.previousHash, 'hex')},
               audit_hash = ${Buffer.from(after.auditHash, 'hex')},
               payload = ${await seal(accountKeyName(ref), place, after.payload)}
         WHERE account_id = ${ref} AND sequence = ${row.sequence}`
      return true
    })
  }
}

/** The transaction whose entry this is: with another amount or salt, and other hashes. */
function saying(before: Transaction, { payload, previousHash, auditHash }: AuditEntry): Transaction {
  const { amount, salt } = JSON.parse(payload) as { readonly amount: string; readonly salt: string }
  const entry = before.entry && { ...before.entry, salt }
  const after = { ...before, amount, entry, previousHash, auditHash }
  if (entryPayload(after) !== payload) throw new Error('no transaction has this entry')
  return after
}

/** With every column that says something of it. */
export function changeTransactions(change: (stored: TransactionWrite) => TransactionWrite | Left) {
  return async (copy: Target): Promise<void> => {
    const { sql, vault } = await keyed(copy)
    const rows = await sql<TransactionRow[]>`SELECT * FROM all_transactions ORDER BY txn_id`
    await each(rows, async (row) => {
      await vault.keys.fetch(sql, [accountKeyName(row.account_id)])
      const after = change(openTransaction(row, vault))
      if (after === undefined) return false
      await resealTransaction(sql, vault, row, after)
      return true
    })
  }
}

interface StoredActorRow extends ActorRow {
  readonly document: Buffer
}

/** `change`: gives the new state, or a text that is none. Columns follow the state. */
export function changeActors<Kind extends ActorState['kind']>(
  kind: Kind,
  change: (state: Extract<ActorState, { kind: Kind }>) => Extract<ActorState, { kind: Kind }> | string | Left,
) {
  return async (copy: Target): Promise<void> => {
    const { sql, vault, open, seal } = await keyed(copy)
    const rows = await sql<StoredActorRow[]>`SELECT * FROM actors WHERE kind = ${kind} ORDER BY actor_id`
    await each(rows, async (row) => {
      const name = keyNameOfActorRow(row)
      const place = PLACES.actor(row.shard_id, kind, row.actor_id, Number(row.version))
      const after = change(JSON.parse(await open(name, place, row.document)) as Extract<ActorState, { kind: Kind }>)
      if (after === undefined) return false
      const document = await seal(name, place, typeof after === 'string' ? after : JSON.stringify(after))
      await sql`UPDATE actors SET document = ${document} WHERE kind = ${kind} AND actor_id = ${row.actor_id}`
      if (typeof after !== 'string') await followColumns(sql, vault, row.actor_id, after)
      return true
    })
  }
}

async function followColumns(sql: postgres.Sql, vault: RowVault, actorId: string, state: ActorState): Promise<void> {
  if (state.kind === 'instance') {
    const isOwned = state.status === 'active' || state.status === 'held'
    await sql`UPDATE actors SET status = ${state.status}, owner = ${isOwned ? vault.accountRef(state.owner) : null}
               WHERE kind = 'instance' AND actor_id = ${actorId}`
  } else if (state.kind === 'hold') {
    const dueAt = state.dueAtMs === null ? null : new Date(state.dueAtMs)
    await sql`UPDATE actors SET status = ${state.status}, due_at = ${dueAt} WHERE kind = 'hold' AND actor_id = ${actorId}`
  } else if (state.kind === 'class') {
    await sql`UPDATE actors SET issuer = ${vault.accountRef(state.issuer)} WHERE kind = 'class' AND actor_id = ${actorId}`
  }
}

interface EventRow {
  readonly shard_id: number
  readonly nft_id: string
  readonly number: number
  readonly type: NftEvent['type']
  readonly from_account_id: string | null
  readonly to_account_id: string
  readonly txn_id: string
  readonly occurred_at: Date
  readonly previous_hash: Buffer
  readonly event_hash: Buffer
  readonly payload: Buffer
}

/** Entries of an NFT's history. `from` and `to` are what the payload says, and become the columns. */
export function changeEvents(nftId: string, change: (event: NftEvent) => NftEvent | Left) {
  return async (copy: Target): Promise<void> => {
    const { sql, vault, open, seal } = await keyed(copy)
    const rows = await sql<EventRow[]>`SELECT * FROM nft_events WHERE nft_id = ${nftId} ORDER BY number`
    await each(rows, async (row) => {
      const { number, type, txn_id: txnId } = row
      const name = nftKeyName(nftId, row.shard_id)
      const place = PLACES.nftEvent(row.shard_id, nftId, number)
      const payload = await open(name, place, row.payload)
      const said = JSON.parse(payload) as { readonly from: string | null; readonly to: string }
      const after = change({
        number,
        type,
        txnId,
        payload,
        from: said.from,
        to: said.to,
        atMs: row.occurred_at.getTime(),
        previousHash: row.previous_hash.toString('hex'),
        eventHash: row.event_hash.toString('hex'),
      })
      if (after === undefined) return false
      await sql`
        UPDATE nft_events SET type = ${after.type}, txn_id = ${after.txnId}, occurred_at = ${new Date(after.atMs)},
               from_account_id = ${after.from === null ? null : vault.accountRef(after.from)},
               to_account_id = ${vault.accountRef(after.to)}, event_hash = ${Buffer.from(after.eventHash, 'hex')},
               payload = ${await seal(name, place, after.payload)} WHERE nft_id = ${nftId} AND number = ${number}`
      return true
    })
  }
}

export type Crossings = readonly (readonly [
  shardId: number,
  readonly { readonly tokenId: string; readonly credited: string; readonly debited: string }[],
])[]

/** Value that entered the ledger, a row a commit. */
export function changeCrossings(change: (crossings: Crossings) => Crossings | Left) {
  return async (copy: Target): Promise<void> => {
    const { sql, open, seal } = await keyed(copy)
    const rows = await sql<{ session: string; number: string; document: Buffer }[]>`
      SELECT session, number, document FROM boundary_crossings ORDER BY session, number`
    await each(rows, async ({ session, number, document }) => {
      const place = PLACES.crossings(session, Number(number))
      const after = change(JSON.parse(await open(LEDGER_KEY_NAME, place, document)) as Crossings)
      if (after === undefined) return false
      const sealed = await seal(LEDGER_KEY_NAME, place, JSON.stringify(after))
      await sql`UPDATE boundary_crossings SET document = ${sealed} WHERE session = ${session} AND number = ${number}`
      return true
    })
  }
}

/** One that no commit wrote. */
export function addCrossing(crossings: Crossings) {
  return async (copy: Target): Promise<void> => {
    const { sql, seal } = await keyed(copy)
    const document = await seal(LEDGER_KEY_NAME, PLACES.crossings('mine', 1), JSON.stringify(crossings))
    const shards = crossings.map(([shardId]) => shardId)
    await sql`INSERT INTO boundary_crossings (session, number, shards, document)
              VALUES ('mine', 1, ${shards}, ${document})`
  }
}
