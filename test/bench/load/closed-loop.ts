/** Each connection sends its next request after the reply to the previous one. */
import type { Stock } from './stock.ts'
import type { RawConnection } from './raw-connection.ts'
import type { Tally } from './tally.ts'

/** Resolves with the last reply. */
export function closedLoop(
  connections: readonly RawConnection[],
  stock: Stock,
  { seconds, ending }: { readonly seconds: number; readonly ending: { readonly asked: boolean } },
  tally: Tally,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const untilMs = performance.now() + seconds * 1000
    let busy = 0
    const next = (connection: RawConnection): void => {
      const sentMs = performance.now()
      const request = sentMs < untilMs && !ending.asked ? stock.requests[stock.next] : undefined
      if (request === undefined) {
        if (busy === 0) resolve()
        return
      }
      stock.next += 1
      busy += 1
      connection.send(
        request,
        (status, body) => {
          busy -= 1
          tally.take(status, body, sentMs)
          next(connection)
        },
        reject,
      )
    }
    for (const connection of connections) next(connection)
  })
}
