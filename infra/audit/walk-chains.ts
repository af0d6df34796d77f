/**
 * Walks every account's chain, and holds the account and its balances against it.
 *   G1. An account that changes meanwhile is walked up to where it was when its row was read: entries never change, and
 *       its row, balances and holds were read at that same moment.
 *   G2. A chain that is longer than a page is walked over several, and may be left between them; where it is taken up
 *       again the account is read anew, and the walk goes on to where it is then.
 */
import { ChainWalk, type StoredWalk } from '../../actors/audit/chain-walk.ts'
import type { Finding } from '../../actors/audit/finding.ts'
import { arrayLiteral } from '../postgres/array-literal.ts'
import {
  ACCOUNTS_AFTER,
  ACCOUNTS_FROM,
  type AccountRow,
  ENTRIES_PAGE,
  type EntryRow,
  headOf,
  PAGE_WEIGHT,
  walkedEntryOf,
} from './chain-rows.ts'
import { type Look, orUnreadable, SAW_NOTHING, type Step, type Walk } from './walk.ts'

/** The account that the next page begins behind; or, with `within`, the one whose chain was left there. */
export interface ChainsCursor {
  readonly shardId: number
  readonly accountId: string
  readonly within: StoredWalk | null
}

export const chainsWalk: Walk<ChainsCursor> = {
  name: 'chains',
  subjects: ['chains_verify', 'no_negative_balance'],
  start: { shardId: -1, accountId: '', within: null },
  step,
}

async function step(look: Look, cursor: ChainsCursor): Promise<Step<ChainsCursor>> {
  const { shardId, accountId, within } = cursor
  if (within !== null) return stepWithin(look, shardId, accountId, within)
  const rows = await look.query<AccountRow>(ACCOUNTS_AFTER, [shardId, accountId])
  return stepOver(
    look,
    rows.map((row) => ({ row, walk: new ChainWalk(row.account_id) })),
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
    return stepOver(look, [{ row, walk: new ChainWalk(accountId, within) }])
  }
  const gone: Finding = { subject: 'chains_verify', place: `account ${accountId}`, problem: 'it is gone' }
  return { next: { shardId, accountId, within: null }, checked: {}, findings: [gone], pending: [] }
}

interface Walked {
  readonly row: AccountRow
  readonly walk: ChainWalk
}

/** One account at least has its whole page of entries; more than one have all that they have. */
async function stepOver(look: Look, accounts: readonly Walked[]): Promise<Step<ChainsCursor>> {
  const last = accounts.at(-1)
  if (last === undefined) return { ...SAW_NOTHING, next: null }
  const entries = await readEntries(look, accounts)
  const findings: Finding[] = []
  let counted = 0
  let balances = 0
  for (const { row, walk } of accounts) {
    const own = entries.get(keyOf(row)) ?? []
    for (const entry of own) {
      if (entry.counted) counted += 1
      const finding = walk.take(walkedEntryOf(entry))
      if (finding !== undefined) findings.push(finding)
    }
    if (own.length === PAGE_WEIGHT && walk.next() <= Number(row.sequence)) {
      const next = { shardId: row.shard_id, accountId: row.account_id, within: walk.stored() }
      return { next, checked: { chains_verify: counted }, findings, pending: [] }
    }
    balances += row.balance_parts?.length ?? 0
    findings.push(...finished(walk, row))
  }
  const next = { shardId: last.row.shard_id, accountId: last.row.account_id, within: null }
  return { next, checked: { chains_verify: counted, no_negative_balance: balances }, findings, pending: [] }
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
  for (const entry of found) {
    const own = byAccount.get(keyOf(entry))
    if (own === undefined) byAccount.set(keyOf(entry), [entry])
    else own.push(entry)
  }
  return byAccount
}

function keyOf({ shard_id: shardId, account_id: accountId }: AccountRow | EntryRow): string {
  return `${shardId} ${accountId}`
}

function finished(walk: ChainWalk, row: AccountRow): readonly Finding[] {
  const place = `account ${row.account_id}`
  const unreadable: Finding = { subject: 'no_negative_balance', place, problem: 'it cannot be read' }
  return orUnreadable(() => walk.finish(headOf(row)), [unreadable])
}
