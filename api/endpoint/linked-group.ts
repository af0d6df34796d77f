/**
 * The net amount per asset of a linked group's transactions, so that its parties can see whether their legs match (D10).
 *   L1. A group of up to SMALL_GROUP transactions costs a page of a list. A larger one is read in a bounded number of slots.
 *   L2. A request joins an equal one that waits for a slot, never one that is being read: a reply shows all that was
 *       committed before its request.
 */
import type { AccountScope } from '../../actors/account-scope.ts'
import type { GroupView } from '../../actors/group/state.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { formatQuantity, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import { assetMembers, isNft } from '../../actors/nft-id.ts'
import type { LedgerReads, TransactionCursor, TransactionView } from '../../runtime/ports/ledger-reads.ts'
import { createSharedSlots, SlotsExhausted } from '../../runtime/common/slots.ts'
import type { GuardedCall } from './route.ts'
import { TRANSACTIONS_OF_GROUP } from './scoped-reads.ts'
import { groupMembers } from '../views/views.ts'

/** Limit on the transactions that one request sums: a larger group has neither `net` nor `balanced`. */
const MAX_SUMMED = 5_000
const PAGE_SIZE = 1_000
const SMALL_GROUP = 100
/** Leaves most of the 8 read connections to all other requests. */
const SLOTS = { concurrency: 2, maxWaiting: 16, maxPerHolder: 4 }

type Reads = Pick<LedgerReads, 'transactions'>
type Net = ReturnType<typeof netMembers>

export interface GroupBodies {
  /** Adds `net` and `balanced` to a linked group. For a scoped client they cover the transactions in its scope. */
  readonly of: (call: Pick<GuardedCall, 'caller' | 'scope'>, group: GroupView) => Promise<Result<object, 'overloaded'>>
}

export function createGroupBodies(reads: Reads): GroupBodies {
  const slots = createSharedSlots(SLOTS)
  const waiting = new Map<string, Promise<Net | undefined>>()

  function netOfLarge(clientId: string, scope: AccountScope, groupId: string): Promise<Net | undefined> {
    const key = `${groupId} ${scope.text}`
    const joined = waiting.get(key)
    if (joined !== undefined) return joined
    const leave = (): void => void (waiting.get(key) === net && waiting.delete(key))
    const net: Promise<Net | undefined> = slots
      .run(clientId, async () => {
        // A free slot runs this before `net` is assigned.
        await Promise.resolve()
        leave()
        const legs = await legsOf(reads, scope, groupId, { most: MAX_SUMMED, pageSize: PAGE_SIZE })
        return legs && netMembers(legs)
      })
      .finally(leave)
    waiting.set(key, net)
    return net
  }

  return {
    async of({ caller, scope }, group) {
      if (group.status !== 'linked') return ok(groupMembers(group))
      const few = await legsOf(reads, scope, group.groupId, { most: SMALL_GROUP, pageSize: SMALL_GROUP })
      try {
        const net = few === undefined ? await netOfLarge(caller.clientId, scope, group.groupId) : netMembers(few)
        return ok({ ...groupMembers(group), ...net })
      } catch (error) {
        if (error instanceof SlotsExhausted) return refuse('overloaded')
        throw error
      }
    },
  }
}

/** Undefined if there are more than `most`. */
async function legsOf(
  reads: Reads,
  scope: AccountScope,
  groupId: string,
  { most, pageSize }: { readonly most: number; readonly pageSize: number },
): Promise<readonly TransactionView[] | undefined> {
  const legs: TransactionView[] = []
  let after: TransactionCursor | null = null
  for (let read = 0; read < most; read += pageSize) {
    const page = await reads.transactions({ ...TRANSACTIONS_OF_GROUP, groupId, limit: pageSize, after })
    legs.push(...page.transactions.filter(({ accountId }) => scope.includes(accountId)))
    if (page.next === null) return legs
    after = page.next
  }
  return undefined
}

function netMembers(legs: readonly TransactionView[]): object {
  const sums = new Map<string, Quantity>()
  for (const { tokenId, amount } of legs.flatMap(movesOf)) sums.set(tokenId, (sums.get(tokenId) ?? ZERO) + amount)
  const net = [...sums]
    .filter(([, sum]) => sum !== 0n)
    .map(([tokenId, sum]) => ({ ...assetMembers(tokenId), amount: formatQuantity(sum) }))
  const completed = legs.every(({ status }) => status === 'completed')
  return { net, balanced: completed && legs.length >= 2 && net.length === 0 }
}

/** Netting excludes mints and burns. */
function movesOf({ status, type, tokenId, amount, receive }: TransactionView) {
  if (status !== 'completed' || type === 'mint' || (type === 'burn' && !isNft(tokenId))) return []
  const quantity = parseQuantity(amount)
  const moves = [{ tokenId, amount: type === 'credit' ? quantity : -quantity }]
  return receive === null ? moves : [...moves, { tokenId: receive.tokenId, amount: parseQuantity(receive.amount) }]
}
