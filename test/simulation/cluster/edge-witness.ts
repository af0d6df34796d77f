/** Observes an edge's requests: counts the attempts that it gave up because their shard had moved. */
import type { Transport } from '../../../runtime/ports/transport.ts'
import { GATEWAY_DEFAULTS } from '../../../runtime/edge/gateway.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { itemsIn } from '../../support/bodies.ts'

/** Attempts given up on the rare path have ended by then, including their longest backoff. */
const NOT_BEFORE_MS = 400

interface Attempt {
  readonly epoch: number
  readonly sentMs: number
  isAnswered: boolean
}

export function watchedAttempts(transport: Transport, { count }: Kernel, process: SimProcess): Transport {
  const latest = new Map<string, Attempt>()
  return {
    ...transport,
    request: (subject, message, timeoutMs, onReply) => {
      const attempts = itemsIn(message).map(({ requestId, epoch }) => {
        const before = latest.get(requestId)
        const sentMs = process.monotonicMs()
        const waitedMs = sentMs - (before?.sentMs ?? sentMs)
        const isInTime = waitedMs > NOT_BEFORE_MS && waitedMs < GATEWAY_DEFAULTS.attemptTimeoutMs
        if (before?.isAnswered === false && epoch > before.epoch && isInTime) count('edge:gave_up_what_moved')
        const attempt: Attempt = { epoch, sentMs, isAnswered: false }
        latest.set(requestId, attempt)
        return attempt
      })
      return transport.request(subject, message, timeoutMs, (reply) => {
        // Answers to one message arrive in parts: the first proves that a receiver exists.
        for (const attempt of attempts) attempt.isAnswered = true
        onReply(reply)
      })
    },
  }
}
