import { useEffect, useMemo, useState } from 'preact/hooks'
import type { AccountKey, Order } from '../../../client/index.ts'
import { useSession } from '../../session/session.ts'
import { followOrder, isUndecided, type OrderProgress, sendOrder } from './order-progress.ts'

const QUESTION = 'The ledger may have accepted the order before. A new order could pay twice. Sign a new order?'

export interface OrderInProgress {
  readonly progress: OrderProgress | undefined
  readonly isBusy: boolean
  readonly submit: (order: Order, key: AccountKey) => Promise<void>
  /** Sends the same signed order. Undefined unless that may be of use. */
  readonly sendAgain: (() => Promise<void>) | undefined
}

/** The order that a form made last. */
export function useOrder(onDone: () => void): OrderInProgress {
  const { client, keySet } = useSession()
  const stop = useMemo(() => new AbortController(), [])
  useEffect(() => () => stop.abort(), [stop])
  const session = { client, keySet, signal: stop.signal }
  const [progress, setProgress] = useState<OrderProgress>()
  const [isBusy, setBusy] = useState(false)
  const followed = async (follow: () => Promise<OrderProgress>): Promise<void> => {
    setBusy(true)
    await follow()
    setBusy(false)
    onDone()
  }
  const submit = async (order: Order, key: AccountKey): Promise<void> => {
    if (progress !== undefined && isUndecided(progress) && !confirm(QUESTION)) return
    await followed(() => followOrder(session, order, key, setProgress))
  }
  const { order, submission, signedText } = progress ?? {}
  const isSigned = order !== undefined && submission !== undefined && signedText !== undefined
  const sendAgain =
    isSigned && isUndecided(progress ?? { order })
      ? () => followed(() => sendOrder(session, { order, submission, signedText }, setProgress))
      : undefined
  return { progress, isBusy, submit, sendAgain }
}
