/**
 * Moves accounts to another ledger. All accounts are checked first; then each account's actor empties and closes it.
 * The operation is idempotent and resumes where it stopped.
 *   V1. A token whose issuer was erased cannot leave, because every ledger would refuse it.
 *   V2. A refusal after the move has begun says that some accounts may have left already.
 */
import { accountAddress } from '../../actors/address.ts'
import { isErasedName } from '../../actors/identifiers.ts'
import { BASE_UNIT } from '../../actors/money.ts'
import { untilFailure } from '../../runtime/common/in-parallel.ts'
import type { GatewayOutcome, LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import type { BegunExport, ExportOrder } from '../../runtime/ports/ledger-exports.ts'
import type { RowVault } from '../vault/row-vault.ts'
import type { AccountPlace } from '../postgres/reads/account-reads.ts'
import type postgres from 'postgres'
import { readAccounts, type ReadAccount } from './export-accounts.ts'
import { conflict, fieldOf, type Refused } from './export-selection.ts'
import { readTokens } from './export-things.ts'

/** An account that has yet to leave, and its tokens. */
export interface Departure {
  readonly accountId: string
  readonly tokenIds: readonly string[]
}

export type MoveRefusal = Exclude<BegunExport, { readonly kind: 'begun' | 'busy' }>

/** Accounts that leave concurrently. */
const AT_ONCE = 32
/** Value may arrive after each check of an account, so the check is repeated. */
const MAX_ROUNDS = 8

/** The accounts that have yet to leave, or a refusal. Throws UnreadableRow or an error of the driver. */
export async function checkDepartures(
  sql: postgres.Sql,
  vault: RowVault,
  places: readonly AccountPlace[],
  order: ExportOrder,
): Promise<readonly Departure[] | Refused> {
  const departing: Departure[] = []
  for await (const read of readAccounts(sql, { name: 'departing', vault, places })) {
    const { accountId } = read.document
    const problem = problemOfDeparture(read, order.audience)
    if (problem !== undefined) return immovable(order, accountId, problem)
    if (read.document.status !== 'closed') departing.push({ accountId, tokenIds: heldBy(read) })
  }
  const lost = await issuedByErased(sql, vault, new Set(departing.flatMap(({ tokenIds }) => tokenIds)))
  const stuck = departing.find(({ tokenIds }) => tokenIds.some((tokenId) => lost.has(tokenId)))
  return stuck === undefined
    ? departing
    : immovable(order, stuck.accountId, 'it holds a token whose issuer was erased.')
}

/** V1. */
async function issuedByErased(
  sql: postgres.Sql,
  vault: RowVault,
  held: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const tokenIds = new Set([...held].filter((tokenId) => tokenId !== BASE_UNIT))
  const lost = new Set<string>()
  for await (const body of readTokens({ sql, vault, owners: null, tokenIds })) {
    if (body.record === 'token' && isErasedName(body.issuer)) lost.add(body.symbol)
  }
  return lost
}

function problemOfDeparture({ document, balances, holds, pending }: ReadAccount, audience: string): string | undefined {
  const { moved, status, nftCount, nftRoom } = document
  if (moved !== undefined && moved.audience !== audience) return 'it has moved, or is moving, to another ledger.'
  if (moved !== undefined && status === 'closed') return undefined
  if (status !== 'frozen') return `it is ${status}, and must be frozen.`
  if (nftCount > 0 || nftRoom > 0) return 'it owns NFTs or is about to receive some.'
  const isBusy = [...balances.values()].some(
    ({ reserved, incoming, room }) => reserved !== 0n || incoming !== 0n || room !== 0n,
  )
  return isBusy || holds.length > 0 || pending > 0 ? 'it has pending transactions or holds.' : undefined
}

function heldBy({ balances }: ReadAccount): readonly string[] {
  return [...balances].flatMap(([tokenId, { balance }]) => (balance === 0n ? [] : [tokenId]))
}

/** Empties and closes all accounts. `look` finds those that have yet to leave. */
export async function departAll(
  gateway: LedgerGateway,
  order: ExportOrder,
  look: () => Promise<readonly Departure[] | Refused>,
): Promise<MoveRefusal | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const departing = await look()
    if ('kind' in departing) return round === 0 ? departing : onTheWay(departing)
    if (departing.length === 0) return undefined
    const refused = await departTogether(gateway, order, departing)
    if (refused !== undefined) return onTheWay(refused)
  }
  return onTheWay(conflict('An account to be moved keeps receiving value.', null))
}

/** V2. */
function onTheWay<T extends MoveRefusal>(refusal: T): T {
  if (refusal.kind !== 'refused') return refusal
  return {
    ...refusal,
    detail: `${refusal.detail} Some accounts may have left already. Repeat the request to continue the move.`,
  }
}

async function departTogether(
  gateway: LedgerGateway,
  order: ExportOrder,
  departing: readonly Departure[],
): Promise<MoveRefusal | undefined> {
  let refused: MoveRefusal | undefined
  const depart = async (one: Departure): Promise<void> => {
    const found = await departOne(gateway, order, one)
    refused ??= found
  }
  await untilFailure(departing, AT_ONCE, depart, () => refused !== undefined)
  return refused
}

/** Value that arrived meanwhile is not a refusal: the next round finds it. */
async function departOne(
  gateway: LedgerGateway,
  order: ExportOrder,
  { accountId, tokenIds }: Departure,
): Promise<MoveRefusal | undefined> {
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

function refusalOf(
  outcome: GatewayOutcome,
  order: ExportOrder,
  accountId: string,
): MoveRefusal | 'not_empty' | undefined {
  // The outcome is unknown because other accounts may have left.
  if (outcome.kind === 'unavailable') return { kind: 'unavailable', reason: outcome.reason, outcome: 'unknown' }
  const { answer } = outcome
  if (answer.kind === 'departed') return undefined
  if (answer.kind !== 'refused') throw new Error(`unexpected reply to a departure: ${answer.kind}`)
  if (answer.code === 'account_not_empty') return 'not_empty'
  return immovable(order, accountId, answer.detail)
}

function immovable(order: ExportOrder, accountId: string, why: string): Refused {
  return conflict(`Account ${accountId} cannot be moved: ${why}`, fieldOf(order, accountId))
}
