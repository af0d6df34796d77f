/** An edge of which each message is looked at, and answered by hand or always alike. */
import { accountAddress } from '../../../../actors/address.ts'
import { Gateway, GATEWAY_DEFAULTS } from '../../../../runtime/edge/gateway.ts'
import type { Item, Operation, Verdict } from '../../../../runtime/protocol/messages.ts'
import type { GatewayOutcome } from '../../../../runtime/edge/ledger-gateway.ts'
import type { ShardRecord } from '../../../../runtime/ports/ledger-store.ts'
import { NO_RARE_PATHS } from '../../../../runtime/ports/rare-paths.ts'
import type { Trail } from '../../../../runtime/ports/trail.ts'
import { NOT_DELIVERED, type NotDelivered } from '../../../../runtime/ports/transport.ts'
import { Routes } from '../../../../runtime/routing/routes.ts'
import { CALLER, START_MS } from '../../../support/accounts.ts'
import { itemsIn, verdictsBody } from '../../../support/bodies.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

export interface Sent {
  readonly subject: string
  readonly items: readonly Item[]
  readonly answer: (reply: readonly Verdict[] | NotDelivered) => void
  /** Its form in a message. */
  readonly reply: (text: string) => void
}

export const submitted = (payload: string): Operation => ({ kind: 'submit', payload, signature: 'secret' })

interface Watched extends Pick<ConstructorParameters<typeof Gateway>[0], 'metrics' | 'log' | 'accountTag'> {
  /** The nodes' reply to each item. */
  readonly always?: Verdict | NotDelivered | undefined
  readonly maxWaiting?: number
}

export async function edge(
  records: readonly Partial<ShardRecord>[] = [{ shardId: 0 }, { shardId: 1, session: 'two' }],
  { always, maxWaiting = 4, ...watched }: Watched = {},
) {
  const clock = createManualClock(START_MS)
  const sent: Sent[] = []
  const shards = records.map((record, shardId): ShardRecord => ({
    shardId,
    epoch: 1,
    attempt: 0,
    nodeId: 'node',
    session: 'one',
    ...record,
  }))
  const routes = new Routes({
    store: { shards: () => Promise.resolve(shards) },
    leases: { watchHints: () => ({ stop: () => undefined }) },
    clock,
    rare: NO_RARE_PATHS,
  })
  await routes.start()
  let serial = 0
  const gateway = new Gateway({
    rare: NO_RARE_PATHS,
    transport: {
      request: (subject, message, _timeoutMs, onReply) => {
        const items = itemsIn(message)
        const answer = (reply: readonly Verdict[] | NotDelivered) =>
          onReply(
            reply === NOT_DELIVERED
              ? reply
              : verdictsBody(
                  items.map(({ requestId, attempt }, index) => ({
                    requestId,
                    attempt,
                    verdict: reply[index] ?? { kind: 'undecided' },
                  })),
                ),
          )
        sent.push({ subject, items, answer, reply: onReply })
        if (always !== undefined) answer(always === NOT_DELIVERED ? always : items.map(() => always))
        return { close: () => undefined }
      },
      serve: () => ({ drain: () => Promise.resolve() }),
      maxMessageBytes: () => 100_000,
    },
    routes,
    clock,
    random: { hex: () => `request-${(serial += 1)}`, integer: (below) => Math.floor(below / 2) },
    homeOf: ({ id }) => Number(id.slice(1)),
    settings: { ...GATEWAY_DEFAULTS, maxWaiting },
    ...watched,
  })
  const ask = (accountId = 'a0', operation = submitted('{}'), trail?: Trail) => {
    const asked: { outcome: GatewayOutcome | undefined } = { outcome: undefined }
    void gateway
      .ask({
        actor: accountAddress(accountId),
        caller: CALLER,
        operation,
        ...(trail === undefined ? {} : { trail }),
      })
      .then((outcome) => (asked.outcome = outcome))
    return asked
  }
  return { clock, sent, ask, gateway }
}
