/** Parts of a node or an edge that each break one rule of the runtime and keep all others. */
import type { Answer } from '../../actors/account/outcome.ts'
import type { InboxOrder } from '../../runtime/node/shard/draft.ts'
import type { DecidedAnswer, OutputGate } from '../../runtime/node/shard/output-gate.ts'
import { type Pending, sendVerdicts } from '../../runtime/node/shard/pending-command.ts'
import type { PinBoard } from '../../runtime/node/shard/pin-board.ts'
import type { ShardHost } from '../../runtime/node/host/shard-host.ts'
import type { LedgerEvents } from '../../runtime/ports/ledger-events.ts'
import type { LedgerStore } from '../../runtime/ports/ledger-store.ts'
import type { Signer } from '../../runtime/ports/signer.ts'
import { NOT_DELIVERED, type Transport } from '../../runtime/ports/transport.ts'
import type { WebhookSender } from '../../runtime/ports/webhook-sender.ts'
import type { Routes } from '../../runtime/routing/routes.ts'
import { encodeFrame, WIRE } from '../../runtime/protocol/wire.ts'
import {
  deliveriesBody,
  deliveriesIn,
  deliveryAnswersBody,
  deliveryAnswersIn,
  itemsBody,
  itemsIn,
  verdictsBody,
  verdictsIn,
} from '../support/bodies.ts'
import type { SimProcess } from './kernel/kernel-process.ts'
import { controlCall } from './cluster/ownership-witness.ts'
import { isDelivery, subjectKind } from './subjects.ts'

export const noPins: PinBoard = { open: () => 0, close: () => undefined, pin: (letGo) => letGo(), oldestAgeMs: () => 0 }

export const hastyGate: OutputGate = { decided: (answer) => sendVerdicts([answer]), committed: () => undefined }

export function createHastyRefusals(): OutputGate {
  const answered = new WeakSet<Pending>()
  return {
    decided: (answer) => {
      if (!isWithoutEffect(answer)) return
      answered.add(answer[0])
      sendVerdicts([answer])
    },
    committed: (answers) => sendVerdicts(answers.filter(([pending]) => !answered.has(pending))),
  }
}

function isWithoutEffect([, verdict]: DecidedAnswer): boolean {
  if (verdict.kind !== 'answered') return false
  const answer: Answer = verdict.answer
  return answer.kind === 'refused' || ('replayed' in answer && answer.replayed)
}

export const gaps: InboxOrder = { isNext: (mark, number) => number > mark }

/** Delivers messages before their batch is committed. */
export function carryingUncommitted(store: LedgerStore, host: () => ShardHost): LedgerStore {
  return {
    ...store,
    commit: (batch) => {
      const deliveries = batch.shards.flatMap(({ token, outbox }) =>
        outbox.map(({ target, number, envelope }) => ({
          source: token.shardId,
          target,
          epoch: token.epoch,
          attempt: token.attempt,
          began: number,
          acknowledged: 0,
          messages: [{ number, envelope }],
        })),
      )
      if (deliveries.length > 0) host().receiveDeliveries(deliveriesBody(deliveries), () => undefined)
      return store.commit(batch)
    },
  }
}

export function takingUnknownForFailed(store: LedgerStore): LedgerStore {
  return {
    ...store,
    commit: async (batch) => {
      const verdict = await store.commit(batch)
      return verdict.kind === 'unknown' ? { kind: 'failed', cause: 'unsent', detail: verdict.detail } : verdict
    },
  }
}

/** Loads shards before the fence instead of after it. */
export function loadingBeforeFence(store: LedgerStore): LedgerStore {
  const early = new Map<number, Awaited<ReturnType<LedgerStore['openShard']>>>()
  return {
    ...store,
    raiseAttempt: async (token) => {
      early.set(token.shardId, await store.openShard(token.shardId))
      return await store.raiseAttempt(token)
    },
    openShard: async (shardId) => {
      const start = early.get(shardId)
      early.delete(shardId)
      return start ?? (await store.openShard(shardId))
    },
  }
}

export function forgettingIds(store: LedgerStore): LedgerStore {
  return { ...store, openShard: async (shardId) => ({ ...(await store.openShard(shardId)), lastTransactionId: null }) }
}

/** Treats an account that must be loaded as one that used no keys elsewhere, and skips the second look-up. */
export function forgettingElsewhere(store: LedgerStore): LedgerStore {
  return {
    ...store,
    lookUp: (question) => {
      const asksOnce = Object.entries(question).some(([part, asked]) => part !== 'keys' && asked.length > 0)
      const isFurther = !asksOnce && question.keys.every(({ operation }) => operation === 'elsewhere')
      return store.lookUp(isFurther ? { ...question, keys: [] } : question)
    },
  }
}

/** Reuses the signature of a transaction ID; a command keeps its transaction ID when it is stepped again. */
export function keepingSignatures(signer: Signer): Signer {
  const kept = new Map<string, string>()
  return {
    ...signer,
    signMany: async (keyId, payloads) => {
      const signatures = await signer.signMany(keyId, payloads)
      return signatures.map((signature, index) => {
        const { txn_id: txnId } = JSON.parse(payloads[index] ?? '') as { readonly txn_id: string }
        kept.set(txnId, kept.get(txnId) ?? signature)
        return kept.get(txnId) ?? signature
      })
    },
  }
}

type Handler = Parameters<Transport['serve']>[1]

function servingItems(transport: Transport, change: (handler: Handler) => Handler): Transport {
  return {
    ...transport,
    serve: (subject, handler) => transport.serve(subject, subjectKind(subject) === 'items' ? change(handler) : handler),
  }
}

export function ignoringDeadlines(transport: Transport): Transport {
  return servingItems(transport, (handler) => (message, reply) => {
    const items = itemsIn(message).map((item) => ({ ...item, deadlineMs: Number.MAX_SAFE_INTEGER }))
    handler(itemsBody(items), reply)
  })
}

/** Treats every attempt as the first; its answers name the attempt of the request. */
export function forgettingAttempts(transport: Transport): Transport {
  return servingItems(transport, (handler) => (message, reply) => {
    const items = itemsIn(message)
    const attempts = new Map(items.map(({ requestId, attempt }) => [requestId, attempt]))
    handler(itemsBody(items.map((item) => ({ ...item, attempt: 1 }))), (verdicts) => {
      const said = verdictsIn(verdicts)
      reply(verdictsBody(said.map((one) => ({ ...one, attempt: attempts.get(one.requestId) ?? one.attempt }))))
    })
  })
}

export function sayingMoved(transport: Transport): Transport {
  return servingItems(transport, (handler) => (message, reply) => {
    handler(message, (verdicts) => {
      const said = verdictsIn(verdicts).map((one) =>
        one.verdict.kind === 'undecided' ? { ...one, verdict: { kind: 'moved', epoch: null } as const } : one,
      )
      reply(verdictsBody(said))
    })
  })
}

/** Acknowledges on entry: refused messages are answered before the handler returns, all others have entered by then. */
export function acknowledgingOnEntry(transport: Transport): Transport {
  return {
    ...transport,
    serve: (subject, handler) => {
      if (!isDelivery(subject)) return transport.serve(subject, handler)
      return transport.serve(subject, (message, reply) => {
        const turnedAway = new Set<string>()
        const wayOf = ({ source, target }: { readonly source: number; readonly target: number }): string =>
          `${source} ${target}`
        handler(message, (answers) => {
          for (const answer of deliveryAnswersIn(answers)) {
            if (answer.kind !== 'taken') turnedAway.add(wayOf(answer))
          }
          reply(answers)
        })
        const entered = deliveriesIn(message).filter((delivery) => !turnedAway.has(wayOf(delivery)))
        const answers = entered.map(({ source, target, messages }) => ({
          source,
          target,
          kind: 'taken' as const,
          mark: messages.at(-1)?.number ?? 0,
        }))
        if (answers.length > 0) reply(deliveryAnswersBody(answers))
      })
    },
  }
}

/** Well below the time after which an attempt is given up. */
const SILENCE_MS = 1_000

/** Treats one second of silence as not delivered. */
export function takingSilenceForAbsence(transport: Transport, { later }: SimProcess): Transport {
  return {
    ...transport,
    request: (subject, message, timeoutMs, onReply) => {
      const silence = later(
        SILENCE_MS,
        `takes silence on ${subject} for absence`,
        () => onReply(NOT_DELIVERED),
        'timer',
      )
      return transport.request(subject, message, timeoutMs, (reply) => {
        silence.cancel()
        onReply(reply)
      })
    },
  }
}

/** Treats the refusal of an earlier attempt as the answer to the latest attempt. */
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

/** Treats a shard as empty although commands wait in it. */
export function releasingUnemptied(host: ShardHost): void {
  host.drain = (shardId) => Promise.resolve(host.serving().get(shardId))
}

/** Serves a shard in the epoch that a message names, without acquiring it from the store. */
export function servingOnWord(transport: Transport, store: LedgerStore, host: () => ShardHost): Transport {
  return {
    ...transport,
    serve: (subject, handler) =>
      transport.serve(subject, (message, reply) => {
        const call = subjectKind(subject) === 'control' ? controlCall(message) : undefined
        if (call?.kind !== 'released') return handler(message, reply)
        const { shardId, epoch } = call
        void store.openShard(shardId).then(
          (start) => {
            host().serve({ shardId, epoch, attempt: 0 }, start)
            reply(encodeFrame(WIRE.writes, { served: true }))
          },
          () => reply(encodeFrame(WIRE.writes, { served: false })),
        )
        return undefined
      }),
  }
}

/** Below the time after which the edge gives up such attempts itself. */
const MOVED_AFTER_MS = 50

/** Treats unanswered requests to a former owner as refused once the shard has another owner. */
export function takingMovesForRefusals(transport: Transport, { later }: SimProcess, routes: Routes): Transport {
  const open = new Set<() => void>()
  routes.onMove(() => {
    later(MOVED_AFTER_MS, 'takes a move for a refusal', () => open.forEach((look) => look()), 'timer')
  })
  return {
    ...transport,
    request: (subject, message, timeoutMs, onReply) => {
      const items = itemsIn(message)
      const look = (): void => {
        const hasMoved = items.some(({ shardId, epoch }) => (routes.find(shardId)?.epoch ?? 0) > epoch)
        if (!hasMoved) return
        open.delete(look)
        onReply(NOT_DELIVERED)
      }
      open.add(look)
      const request = transport.request(subject, message, timeoutMs, (reply) => {
        if (reply === NOT_DELIVERED) open.delete(look)
        onReply(reply)
      })
      return {
        close: () => {
          open.delete(look)
          request.close()
        },
      }
    },
  }
}

/** A page with several events lacks its last one, and ends behind it. */
export function droppingLast(events: LedgerEvents): LedgerEvents {
  return {
    ...events,
    read: async (after, limit) => {
      const page = await events.read(after, limit)
      return page.events.length < 2 ? page : { ...page, events: page.events.slice(0, -1) }
    },
  }
}

/** Goes on to the next event before the receiver has accepted this one. */
export function notAwaitingAcceptance(sender: WebhookSender): WebhookSender {
  return {
    ...sender,
    send: (...message) => {
      void sender.send(...message)
      return Promise.resolve({ httpStatus: 204, error: null, latencyMs: 0 })
    },
  }
}
