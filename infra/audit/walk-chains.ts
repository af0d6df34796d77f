/**
 * Verifies every account's chain, and the account's row and balances against it. Then finds chains without an account.
 *   G1. A chain is verified up to the sequence in the account's row. Entries never change, and row, balances and holds are
 *       from one snapshot, so later commits do not matter.
 *   G2. A chain longer than a page is verified in several steps. Each step reads the account again, and continues to its
 *       current sequence.
 */
import { ChainWalk, type StoredWalk } from '../../runtime/audit/chain-walk.ts'
import type { Finding } from '../../runtime/audit/finding.ts'
import { appendTo } from '../../runtime/common/append-to.ts'
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import { keyNameOfAccountRow } from '../postgres/rows/account-document.ts'
import {
  ACCOUNTS_AFTER,
  ACCOUNTS_FROM,
  type AccountRow,
  type ChainRow,
  CHAINS_EXAMINED,
  CHAINS_PAGE,
  ENTRIES_PAGE,
  type EntryRow,
  linkOf,
  openAccountRow,
  PAGE_WEIGHT,
  walkedEntryOf,
} from './chain-rows.ts'
import { fetchKeysOfAccounts, opened } from './opened.ts'
import { type Look, orUnreadable, SAW_NOTHING, type Step, type Walk } from './walk.ts'

/**
 * The next page begins after this account (its reference), or continues its chain from `within`. `chains`: the search for
 * chains without an account.
 */
export interface ChainsCursor {
  readonly at: 'accounts' | 'chains'
  readonly shardId: number
  readonly accountId: string
  readonly within: StoredWalk | null
}

const FIRST_CHAIN: ChainsCursor = { at: 'chains', shardId: -1, accountId: '', within: null }

export const chainsWalk: Walk<ChainsCursor> = {
  name: 'chains',
  subjects: ['chains_verify', 'no_negative_balance'],
  start: { ...FIRST_CHAIN, at: 'accounts' },
  step,
}

async function step(look: Look, cursor: ChainsCursor): Promise<Step<ChainsCursor>> {
  const { at, shardId, accountId, within } = cursor
  if (at === 'chains') return orphansStep(look, cursor)
  if (within !== null) return stepWithin(look, shardId, accountId, within)
  const rows = await look.query<AccountRow>(ACCOUNTS_AFTER, [shardId, accountId])
  return stepOver(
    look,
    rows.map((row) => ({ row, walk: new ChainWalk(row.account_id, undefined, look.vault.accountRef) })),
  )
}

/** G2. */
async function stepWithin(
  look: Look,
  shardId: number,
  accountId: string,
  within: StoredWalk,
): Promise<Step<ChainsCursor>> {
  const [row] = await look.query<AccountRow>(ACCOUNTS_FROM, [shardId, accountId])
  if (row?.shard_id === shardId && row.account_id === accountId) {
    return stepOver(look, [{ row, walk: new ChainWalk(accountId, within, look.vault.accountRef) }])
  }
  const gone: Finding = { subject: 'chains_verify', place: `account ${accountId}`, problem: 'it is gone' }
  return { ...SAW_NOTHING, next: { at: 'accounts', shardId, accountId, within: null }, findings: [gone] }
}

interface Walked {
  readonly row: AccountRow
  readonly walk: ChainWalk
}

/** Several accounts come with all their entries; a single one with at most a page of them. */
async function stepOver(look: Look, accounts: readonly Walked[]): Promise<Step<ChainsCursor>> {
  const last = accounts.at(-1)
  if (last === undefined) return { ...SAW_NOTHING, next: FIRST_CHAIN }
  await look.fetchKeys(accounts.map(({ row }) => keyNameOfAccountRow(row)))
  const erased = await fetchKeysOfAccounts(
    look,
    accounts.map(({ row }) => row),
  )
  const entries = await readEntries(look, accounts)
  const findings: Finding[] = []
  let counted = 0
  let balances = 0
  for (const { row, walk } of accounts) {
    const own = entries.get(keyOf(row)) ?? []
    for (const entry of own) {
      if (entry.counted) counted += 1
      const finding = erased.has(row.account_id) ? walk.takeErased(linkOf(entry)) : takeEntry(look, walk, entry)
      if (finding !== undefined) findings.push(finding)
    }
    if (own.length === PAGE_WEIGHT && walk.next() <= Number(row.sequence)) {
      const next: ChainsCursor = {
        at: 'accounts',
        shardId: row.shard_id,
        accountId: row.account_id,
        within: walk.stored(),
      }
      return { next, checked: { chains_verify: counted }, findings }
    }
    balances += row.balance_parts?.length ?? 0
    // The next pass checks the row of an account that was erased after its row was read.
    if (row.status === 'erased' || !erased.has(row.account_id)) findings.push(...finished(look, walk, row))
  }
  const { shard_id: shardId, account_id: accountId } = last.row
  const next: ChainsCursor = { at: 'accounts', shardId, accountId, within: null }
  return { next, checked: { chains_verify: counted, no_negative_balance: balances }, findings }
}

function takeEntry({ vault }: Look, walk: ChainWalk, row: EntryRow): Finding | undefined {
  const entry = opened(() => walkedEntryOf(row, vault))
  if (entry.isOpen) return walk.take(entry.value)
  return walk.takeUnread({ sequence: Number(row.sequence), auditHash: row.audit_hash.toString('hex') }, entry.problem)
}

async function readEntries(look: Look, accounts: readonly Walked[]): Promise<ReadonlyMap<string, readonly EntryRow[]>> {
  const column = (type: 'integer' | 'text' | 'bigint', valueOf: (account: Walked) => string | number): string =>
    arrayLiteral(type, accounts.map(valueOf))
  const found = await look.query<EntryRow>(ENTRIES_PAGE, [
    column('integer', ({ row }) => row.shard_id),
    column('text', ({ row }) => row.account_id),
    column('bigint', ({ walk }) => walk.next()),
    column('bigint', ({ row }) => row.sequence),
    look.countBelow,
  ])
  const byAccount = new Map<string, EntryRow[]>()
  for (const entry of found) appendTo(byAccount, keyOf(entry), entry)
  return byAccount
}

function keyOf({ shard_id: shardId, account_id: accountId }: AccountRow | EntryRow): string {
  return `${shardId} ${accountId}`
}

function finished({ vault }: Look, walk: ChainWalk, row: AccountRow): readonly Finding[] {
  const { head, findings } = openAccountRow(row, vault)
  if (head === undefined) return findings
  const place = `account ${row.account_id}`
  const unreadable: Finding = { subject: 'no_negative_balance', place, problem: 'it cannot be read' }
  return [...findings, ...orUnreadable(() => walk.finish(head), [unreadable])]
}

async function orphansStep(look: Look, { shardId, accountId }: ChainsCursor): Promise<Step<ChainsCursor>> {
  const rows = await look.query<ChainRow>(CHAINS_PAGE, [shardId, accountId])
  const last = rows.at(-1)
  const findings = rows
    .filter(({ orphaned }) => orphaned)
    .map(({ account_id: ref }): Finding => {
      return { subject: 'chains_verify', place: `account ${ref}`, problem: 'it has a chain and is not there' }
    })
  if (last === undefined || rows.length < CHAINS_EXAMINED) return { ...SAW_NOTHING, next: null, findings }
  const next: ChainsCursor = { at: 'chains', shardId: last.shard_id, accountId: last.account_id, within: null }
  return { ...SAW_NOTHING, next, findings }
}
