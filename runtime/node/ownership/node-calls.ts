/**
 * Calls between nodes about shards, which save a shard the wait for the next round. The store alone decides who owns a
 * shard: a lost, late or false call costs only time.
 *   G1. A shard is offered before it is drained, and announced once it is free: a silent node gets none.
 *   G2. A node is unreachable only if its subject has no listener; silence alone does not prove it.
 */
import { controlSubject } from '../../protocol/messages.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  NOT_DELIVERED,
  type NotDelivered,
  type PendingRequest,
  type Service,
  type Transport,
} from '../../ports/transport.ts'
import { type Guarded, isAbsentOr, isCount, isFlag, isKindOf, isListOf, isObjectOf } from '../../../actors/shapes.ts'
import { decodeFrame, encodeFrame } from '../../protocol/wire.ts'
import type { NodeContext } from '../shard/node-context.ts'

interface NodeCallsDependencies extends Pick<NodeContext, 'session' | 'wire' | 'unsupported'> {
  readonly transport: Pick<Transport, 'request' | 'serve'>
  readonly clock: Pick<Clock, 'after'>
}

export interface NodeCallsHandler {
  /** Selects the shards that this node would take at once. */
  readonly wouldTake: (shardIds: readonly number[]) => readonly number[]
  /** Takes a shard that was released in this epoch; resolves once it is served here, with false if it is not. */
  readonly take: (shardId: number, epoch: number) => Promise<boolean>
}

type Call = Guarded<typeof isCall>
const isCall = isKindOf({
  ping: {},
  offer: { shardIds: isListOf(isCount) },
  released: { shardId: isCount, epoch: isCount },
})

/** The reply: `shardIds` to an offer, `served` to a release. */
type CallAnswer = Guarded<typeof isCallAnswer>
const isCallAnswer = isObjectOf({
  shardIds: isAbsentOr(isListOf(isCount)),
  served: isAbsentOr(isFlag),
})

const OFFER_TIMEOUT_MS = 300
/** Time for an acquire, a load, and the messages. */
const RELEASED_TIMEOUT_MS = 2_000
const PING_TIMEOUT_MS = 500

export class NodeCalls {
  private readonly dependencies: NodeCallsDependencies

  constructor(dependencies: NodeCallsDependencies) {
    this.dependencies = dependencies
  }

  serve({ wouldTake, take }: NodeCallsHandler): Service {
    const { transport, session, wire, unsupported } = this.dependencies
    return transport.serve(controlSubject(session), (message, reply) => {
      const frame = decodeFrame(message, wire)
      if (!isCall(frame?.body)) return unsupported.answer('calls', message, reply)
      const { version, body: call } = frame
      const answer = (value: CallAnswer): void => reply(encodeFrame(version, value))
      switch (call.kind) {
        case 'ping':
          answer({})
          return
        case 'offer':
          answer({ shardIds: wouldTake(call.shardIds) })
          return
        case 'released':
          void take(call.shardId, call.epoch).then((served) => answer({ served }))
      }
    })
  }

  /** G1: the shards that the session would take; none without a reply. */
  async offer(session: string, shardIds: readonly number[]): Promise<readonly number[]> {
    const answer = await this.call(session, { kind: 'offer', shardIds }, OFFER_TIMEOUT_MS)
    return answer === undefined || answer === NOT_DELIVERED ? [] : (answer.shardIds ?? [])
  }

  /** Whether the session serves the shard now. If not, the next node whose round finds the shard takes it. */
  async released(session: string, shardId: number, epoch: number): Promise<boolean> {
    const answer = await this.call(session, { kind: 'released', shardId, epoch }, RELEASED_TIMEOUT_MS)
    return answer !== undefined && answer !== NOT_DELIVERED && answer.served === true
  }

  /** G2. */
  async isReachable(session: string): Promise<boolean> {
    return (await this.call(session, { kind: 'ping' }, PING_TIMEOUT_MS)) !== NOT_DELIVERED
  }

  /** undefined: no reply in time. */
  private call(session: string, call: Call, timeoutMs: number): Promise<CallAnswer | NotDelivered | undefined> {
    const { transport, clock, wire } = this.dependencies
    return new Promise((resolve) => {
      let request: PendingRequest | undefined
      const end = (answer: CallAnswer | NotDelivered | undefined): void => {
        timer.cancel()
        request?.close()
        resolve(answer)
      }
      const timer = clock.after(timeoutMs, () => end(undefined))
      request = transport.request(controlSubject(session), encodeFrame(wire.writes, call), timeoutMs, (reply) => {
        if (reply === NOT_DELIVERED) return end(reply)
        const answer = decodeFrame(reply, wire)?.body
        // An unreadable reply counts as none, but shows that the node is reachable.
        end(isCallAnswer(answer) ? answer : undefined)
      })
    })
  }
}
