/** What an edge hears of its nodes, with one rule broken each. */
import { NOT_DELIVERED, type Transport } from '../../runtime/ports/transport.ts'
import type { SimProcess } from './kernel-process.ts'
import { itemsIn, verdictsIn, verdictsBody } from '../support/bodies.ts'

/** Well before an attempt is given up. */
const SILENCE_MS = 1_000

/** Who has said nothing for a second is not there. */
export function takingSilenceForNobody(transport: Transport, { later }: SimProcess): Transport {
  return {
    ...transport,
    request: (subject, message, timeoutMs, onReply) => {
      const silence = later(SILENCE_MS, `takes silence on ${subject} for nobody`, () => onReply(NOT_DELIVERED), 'timer')
      return transport.request(subject, message, timeoutMs, (reply) => {
        silence.cancel()
        onReply(reply)
      })
    },
  }
}

/** What refuses an earlier attempt is taken for the answer to the latest. */
export function believingOldRefusals(transport: Transport): Transport {
  const latest = new Map<string, number>()
  return {
    ...transport,
    request: (subject, message, timeoutMs, onReply) => {
      for (const { requestId, attempt } of itemsIn(message)) latest.set(requestId, attempt)
      return transport.request(subject, message, timeoutMs, (reply) => {
        if (reply === NOT_DELIVERED) {
          onReply(reply)
          return
        }
        const verdicts = verdictsIn(reply).map((one) => {
          const isRefusal = one.verdict.kind === 'answered' && one.verdict.answer.kind === 'refused'
          return isRefusal ? { ...one, attempt: latest.get(one.requestId) ?? one.attempt } : one
        })
        onReply(verdictsBody(verdicts))
      })
    },
  }
}
