/** Refunds of received transfers: some runs have them. Parts, wholes and excesses of the same few transfers. */
import { BASE_UNIT, formatQuantity, parseQuantity } from '../../../actors/money.ts'
import type { Transaction } from '../../../actors/account/transaction.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { isNftAsset } from '../reference/fields.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'
import type { Cast, ClientAccount } from './cast.ts'

/** Transfers of an account that its clients refund again and again. */
const FAVORED = 3

export class RefundRequests {
  private readonly cast: Cast
  /** A stream of its own: runs without refunds are the same as before. */
  private readonly random: SeededRandom

  constructor(cast: Cast) {
    this.cast = cast
    this.random = cast.random.fork('refunds')
  }

  /** In place of a transfer; undefined: none. */
  draw(account: ClientAccount): GatewayRequest | undefined {
    const { cast, random } = this
    if (!cast.refunds || !random.chance(0.4)) return undefined
    const received = this.receivedBy(account)
    const original = received[random.integer(random.chance(0.9) ? Math.min(FAVORED, received.length) : received.length)]
    if (original === undefined) return undefined
    const { txnId, counterTxnId, tokenId, fromAccountId, amount } = original
    const half = tokenId === BASE_UNIT ? formatQuantity(parseQuantity(amount) / 2n) : amount
    return cast.submission(account, 'transfer', {
      refunds: random.chance(0.7) ? (counterTxnId ?? txnId) : txnId,
      token_id: random.chance(0.95) ? tokenId : cast.pickAsset(),
      amount: half === '0' || random.chance(0.4) ? amount : half,
      ...(random.chance(0.2) ? { to_account_id: fromAccountId ?? cast.counterparty(account).accountId } : {}),
      ...(random.chance(0.03) ? { to_account_id: cast.counterparty(account).accountId } : {}),
      ...(random.chance(0.2) ? { group_id: cast.groupId() } : {}),
    })
  }

  /** As clients read them: credits of transfers, captures, and a few that no transfer caused. */
  private receivedBy({ accountId }: ClientAccount): readonly Transaction[] {
    const own: Transaction[] = []
    for (const { transaction } of this.cast.world.database.rows.transactions.values()) {
      const { type, tokenId, counterTxnId, sequence, holdId } = transaction
      const isReceived = type === 'credit' || holdId !== undefined
      const isOwn = transaction.accountId === accountId && isReceived && !isNftAsset(tokenId)
      if (isOwn && (counterTxnId !== null || sequence === 1)) own.push(transaction)
    }
    return own
  }
}
