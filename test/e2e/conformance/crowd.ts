/** More rows of one list than any page may have; made once, by the first that needs them. */
import { accepted } from '../../support/client-moves.ts'
import { once } from './once.ts'

export interface Crowd {
  /** `account_id=…`. */
  readonly scope: string
  readonly accountId: string
  readonly size: number
}

const SIZE = 1_001
const AT_ONCE = 143

export const crowdOf = once(async ({ transactor }): Promise<Crowd> => {
  const holder = await transactor.register('crowd@conformance')
  for (let sent = 0; sent < SIZE; sent += AT_ONCE) {
    const orders = Array.from({ length: Math.min(AT_ONCE, SIZE - sent) }, () =>
      accepted(transactor, holder, { type: 'credit', amount: '1' }),
    )
    await Promise.all(orders)
  }
  return { scope: `account_id=${holder.accountId}`, accountId: holder.accountId, size: SIZE }
})
