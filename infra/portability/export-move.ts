/**
 * Accounts that go to another ledger: all of them are looked at before anything leaves, then each is emptied and closed, by
 * its own home. Done again it goes on where it ended.
 *   V1. Nothing leaves that nobody would take: a token whose issuer was erased is refused by every ledger.
 *   V2. Who is refused once the move has begun is told that part of what was to go may have left.
 */
import { accountAddress } from '../../actors/address.ts'
import { isErasedName } from '../../actors/identifiers.ts'
import { BASE_UNIT } from '../../actors/money.ts'
import type { GatewayOutcome, LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import type { BegunExport, ExportOrder } from '../../runtime/ports/ledger-exports.ts'
import type { RowVault } from '../vault/row-vault.ts'
import type { AccountPlace } from '../postgres/reads/account-reads.ts'
import type postgres from 'postgres'
import { readAccounts, type ReadAccount } from './export-accounts.ts'
import { conflict, fieldOf, type Refused } from './export-selection.ts'
import { readTokens } from './export-things.ts'

/** What is still to leave. */
export interface Departing {
  readonly accountId: string
  readonly tokenIds: readonly string[]
}

export type Unmoved = Exclude<BegunExport, { readonly kind: 'begun' | 'busy' }>

/** Accounts that leave at the same time. */
const AT_ONCE = 32
/** Value may come in between two looks at an account, as often as somebody sends some. */
const MAX_ROUNDS = 8

/** Why not all of them can go; or those that have not gone yet. Throws UnreadableRow, or what the driver throws. */
export async function lookAtDepartures(
  sql: postgres.Sql,
  vault: RowVault,
  places: readonly AccountPlace[],
  order: ExportOrder,
): Promise<readonly Departing[] | Refused> {
  const departing: Departing[] = []
  for await (const read of readAccounts(sql, { name: 'departing', vault, places })) {
    const { accountId } = read.document
    const problem = problemOfDeparture(read, order.audience)
    if (problem !== undefined) return immovable(order, accountId, problem)
    if (read.document.status !== 'closed') departing.push({ accountId, tokenIds: heldBy(read) })
  }
  const lost = await issuedByErased(sql, vault, new Set(departing.flatMap(({ tokenIds }) => tokenIds)))
  const stuck = departing.find(({ tokenIds }) => tokenIds.some((tokenId) => lost.has(tokenId)))
  return stuck === undefined ? departing : immovable(order, stuck.accountId, 'the issuer of what it holds was erased.')
}

/** V1. */
async function issuedByErased(
  sql: postgres.Sql,
  vault: RowVault,
  held: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const tokenIds = new Set([...held].filter((tokenId) => tokenId !== BASE_UNIT))
  const lost = new Set<string>()
  if (tokenIds.size === 0) return lost
  for await (const body of readTokens({ sql, vault, owners: null, tokenIds })) {
    if (body.record === 'token' && isErasedName(body.issuer)) lost.add(body.symbol)
  }
  return lost
}

function problemOfDeparture({ document, balances, holds, pending }: ReadAccount, audience: string): string | undefined {
  const { moved, status, nftCount, nftRoom } = document
  if (moved !== undefined && moved.audience !== audience) return 'it has gone, or is going, to another ledger.'
  if (moved !== undefined && status === 'closed') return undefined
  if (status !== 'frozen') return `it is ${status}, and must be frozen.`
  if (nftCount > 0 || nftRoom > 0) return 'it has NFTs, or is promised some.'
  const isBusy = [...balances.values()].some(
    ({ reserved, incoming, room }) => reserved !== 0n || incoming !== 0n || room !== 0n,
  )
  return isBusy || holds.length > 0 || pending > 0 ? 'something of it is under way.' : undefined
}

function heldBy({ balances }: ReadAccount): readonly string[] {
  return [...balances].flatMap(([tokenId, { balance }]) => (balance === 0n ? [] : [tokenId]))
}

/** Empties and closes them. `look`: which of them have not gone, and what they have. */
export async function departAll(
  gateway: LedgerGateway,
  order: ExportOrder,
  look: () => Promise<readonly Departing[] | Refused>,
): Promise<Unmoved | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const departing = await look()
    if ('kind' in departing) return round === 0 ? departing : onTheWay(departing)
    if (departing.length === 0) return undefined
    const refused = await departTogether(gateway, order, departing)
    if (refused !== undefined) return onTheWay(refused)
  }
  return onTheWay(conflict('Value keeps coming in at an account that is to be moved.', null))
}

/** V2. */
function onTheWay<T extends Unmoved>(unmoved: T): T {
  if (unmoved.kind !== 'refused') return unmoved
  return {
    ...unmoved,
    detail: `${unmoved.detail} What was to go may have left in part: asked again, the move goes on.`,
  }
}

async function departTogether(
  gateway: LedgerGateway,
  order: ExportOrder,
  departing: readonly Departing[],
): Promise<Unmoved | undefined> {
  let refused: Unmoved | undefined
  const waiting = departing[Symbol.iterator]()
  const work = async (): Promise<void> => {
    for (const one of waiting) {
      refused ??= await departOne(gateway, order, one)
      if (refused !== undefined) return
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return refused
}

/** What came in meanwhile is no refusal: the next look sees it. */
async function departOne(
  gateway: LedgerGateway,
  order: ExportOrder,
  { accountId, tokenIds }: Departing,
): Promise<Unmoved | undefined> {
  const { caller, trail, audience } = order
  for (const tokenId of [...tokenIds, null]) {
    const outcome = await gateway.ask({
      actor: accountAddress(accountId),
      caller,
      trail,
      operation: { kind: 'depart', audience, tokenId },
    })
    const refused = refusalOf(outcome, order, accountId)
    if (refused === 'not_empty') return undefined
    if (refused !== undefined) return refused
  }
  return undefined
}

function refusalOf(outcome: GatewayOutcome, order: ExportOrder, accountId: string): Unmoved | 'not_empty' | undefined {
  // Others may have left before it.
  if (outcome.kind === 'unavailable') return { kind: 'unavailable', reason: outcome.reason, outcome: 'unknown' }
  const { answer } = outcome
  if (answer.kind === 'departed') return undefined
  if (answer.kind !== 'refused') throw new Error(`a departure was answered ${answer.kind}`)
  if (answer.code === 'account_not_empty') return 'not_empty'
  return immovable(order, accountId, answer.detail)
}

function immovable(order: ExportOrder, accountId: string, why: string): Refused {
  return conflict(`Account ${accountId} cannot be moved: ${why}`, fieldOf(order, accountId))
}
