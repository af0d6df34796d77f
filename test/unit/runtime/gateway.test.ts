/** Goal: W1 to W4: the edge says `not_applied` only when it is proved, and `unknown` when it is not. */
import { describe, expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import { Gateway, GATEWAY_DEFAULTS } from '../../../runtime/edge/gateway.ts'
import { Routes } from '../../../runtime/routes.ts'
import { decodeItems, encodeVerdicts, type Item, type Verdict } from '../../../runtime/messages.ts'
import type { GatewayOutcome } from '../../../runtime/ports/ledger-gateway.ts'
import type { ShardRecord } from '../../../runtime/ports/ledger-store.ts'
import { NOT_DELIVERED, type NotDelivered } from '../../../runtime/ports/transport.ts'
import { CALLER, START_MS } from '../../support/accounts.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { NO_RARE_PATHS } from '../../../runtime/ports/rare-paths.ts'

interface Sent {
  readonly subject: string
  readonly items: readonly Item[]
  readonly answer: (reply: readonly Verdict[] | NotDelivered) => void
}

async function edge(records: readonly Partial<ShardRecord>[] = [{ shardId: 0 }, { shardId: 1, session: 'two' }]) {
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
        const items = decodeItems(message)
        const answer = (reply: readonly Verdict[] | NotDelivered) =>
          onReply(
            reply === NOT_DELIVERED
              ? reply
              : encodeVerdicts(
                  items.map(({ requestId, attempt }, index) => ({
                    requestId,
                    attempt,
                    verdict: reply[index] ?? { kind: 'undecided' },
                  })),
                ),
          )
        sent.push({ subject, items, answer })
        return { close: () => undefined }
      },
      serve: () => ({ drain: () => Promise.resolve() }),
      maxMessageBytes: () => 100_000,
    },
    routes,
    clock,
    random: { hex: () => `request-${(serial += 1)}`, integer: (below) => Math.floor(below / 2) },
    homeOf: ({ id }) => Number(id.slice(1)),
    settings: { ...GATEWAY_DEFAULTS, maxWaiting: 4 },
  })
  const ask = (accountId = 'a0', payload = '{}') => {
    const asked: { outcome: GatewayOutcome | undefined } = { outcome: undefined }
    void gateway
      .ask({ actor: accountAddress(accountId), caller: CALLER, operation: { kind: 'submit', payload, signature: 's' } })
      .then((outcome) => (asked.outcome = outcome))
    return asked
  }
  return { clock, sent, ask, gateway }
}

const accepted = (enqueuedAtMs: number, replayed = false): Verdict => ({
  kind: 'answered',
  answer: {
    kind: 'accepted',
    receipt: { txnId: 'txn', accountId: 'a0', shardId: 0, enqueuedAtMs, groupId: null },
    replayed,
    mismatch: false,
  },
})
const refused: Verdict = {
  kind: 'answered',
  answer: { kind: 'refused', code: 'account_not_found', detail: '', field: null },
}
const answerOf = (verdict: Verdict): Answer | undefined => (verdict.kind === 'answered' ? verdict.answer : undefined)

describe('the gateway', () => {
  test('W1: what one tick brings for one node travels together, and each item gets its own verdict', async () => {
    const { clock, sent, ask } = await edge()
    const [first, second, other] = [ask('a0'), ask('a0'), ask('a1')]
    await clock.pass(1)
    expect(sent.map(({ subject, items }) => [subject, items.length])).toEqual([
      ['ledger.node.one', 2],
      ['ledger.node.two', 1],
    ])
    sent[0]?.answer([accepted(START_MS), refused])
    await clock.pass(0)
    expect(first.outcome).toEqual({ kind: 'answered', answer: answerOf(accepted(START_MS)) })
    expect(second.outcome).toEqual({ kind: 'answered', answer: answerOf(refused) })
    expect(other.outcome).toBeUndefined()
  })

  test('W1: messages stay below what the transport takes', async () => {
    const { clock, sent, ask } = await edge()
    for (let index = 0; index < 4; index += 1) ask('a0', 'x'.repeat(15_000))
    await clock.pass(1)
    expect(sent.map(({ items }) => items.length)).toEqual([1, 1, 1, 1])
  })

  test('W2: what was never delivered, or moved, is not_applied after some patience', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    await clock.pass(1)
    sent[0]?.answer(NOT_DELIVERED)
    await clock.pass(50)
    sent[1]?.answer([{ kind: 'moved', epoch: null }])
    for (let passed = 0; passed < GATEWAY_DEFAULTS.patienceMs && asked.outcome === undefined; passed += 50) {
      await clock.pass(50)
      sent.at(-1)?.answer(NOT_DELIVERED)
      // Said twice, it is one attempt turned away.
      sent.at(-1)?.answer(NOT_DELIVERED)
    }
    await clock.pass(0)
    expect(asked.outcome).toEqual({ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'not_applied' })
    expect(sent.length).toBeGreaterThan(5)
  })

  test('W3: an attempt without a verdict makes it unknown, whatever later attempts say of delivery', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    await clock.pass(GATEWAY_DEFAULTS.attemptTimeoutMs + 100)
    expect(sent.length).toBe(2)
    for (let passed = 0; passed < GATEWAY_DEFAULTS.deadlineMs && asked.outcome === undefined; passed += 50) {
      sent.at(-1)?.answer(NOT_DELIVERED)
      await clock.pass(50)
    }
    expect(asked.outcome).toEqual({ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' })
  })

  test('W3: what the owner cannot decide is unknown, and asked again', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    await clock.pass(1)
    sent[0]?.answer([{ kind: 'undecided' }])
    await clock.pass(300)
    expect(sent[1]?.items[0]).toMatchObject({ requestId: sent[0]?.items[0]?.requestId, attempt: 2 })
    sent[1]?.answer([accepted(START_MS, true)])
    await clock.pass(0)
    expect(asked.outcome).toEqual({ kind: 'answered', answer: answerOf(accepted(START_MS)) })
  })

  test('W3: a refusal of an earlier attempt does not end what a later one may still do', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    await clock.pass(GATEWAY_DEFAULTS.attemptTimeoutMs + 300)
    expect(sent.length).toBe(2)
    sent[0]?.answer([refused])
    await clock.pass(0)
    expect(asked.outcome).toBeUndefined()
    sent[1]?.answer([accepted(START_MS + 4_100)])
    await clock.pass(0)
    expect(asked.outcome?.kind).toBe('answered')
  })

  test('W3: an earlier attempt that was applied after all counts', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    await clock.pass(GATEWAY_DEFAULTS.attemptTimeoutMs + 300)
    sent[0]?.answer([accepted(START_MS)])
    await clock.pass(0)
    expect(asked.outcome).toMatchObject({ kind: 'answered', answer: { replayed: false } })
  })

  test('W3: a refusal of what has no key proves nothing once an attempt is uncertain', async () => {
    const { clock, sent, gateway } = await edge()
    const asked: { outcome: GatewayOutcome | undefined } = { outcome: undefined }
    const operation = { kind: 'change_status', status: 'closed', incoming: null, reason: 'r' } as const
    void gateway
      .ask({ actor: accountAddress('a0'), caller: CALLER, operation })
      .then((outcome) => (asked.outcome = outcome))
    await clock.pass(1)
    sent[0]?.answer([{ kind: 'undecided' }])
    await clock.pass(300)
    sent[1]?.answer([refused])
    await clock.pass(0)
    expect(asked.outcome).toEqual({ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' })
  })

  test('a replay of what another request did stays one', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    await clock.pass(1)
    sent[0]?.answer([{ kind: 'undecided' }])
    await clock.pass(300)
    sent[1]?.answer([accepted(START_MS - 60_000, true)])
    await clock.pass(0)
    expect(asked.outcome).toMatchObject({ kind: 'answered', answer: { replayed: true } })
  })

  test('W4: overloaded is said at once and not retried', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    await clock.pass(1)
    sent[0]?.answer([{ kind: 'overloaded' }])
    await clock.pass(5_000)
    expect(asked.outcome).toEqual({ kind: 'unavailable', reason: 'overloaded', outcome: 'not_applied' })
    expect(sent.length).toBe(1)
  })

  test('more requests than may wait are turned away before they are sent', async () => {
    const { clock, sent, ask } = await edge()
    const all = Array.from({ length: 5 }, () => ask())
    await clock.pass(1)
    expect(all[4]?.outcome).toEqual({ kind: 'unavailable', reason: 'overloaded', outcome: 'not_applied' })
    expect(sent.flatMap(({ items }) => items).length).toBe(4)
  })

  test('no shards, no owner at all, and no owner of this one are told apart', async () => {
    const cases = [
      { records: [], reason: 'no_shards' },
      { records: [{ session: null }], reason: 'no_healthy_shards' },
      { records: [{ session: null }, { session: 'two' }], reason: 'shard_unavailable' },
    ] as const
    for (const { records, reason } of cases) {
      const { clock, ask } = await edge(records)
      const asked = ask()
      await clock.pass(GATEWAY_DEFAULTS.patienceMs)
      expect(asked.outcome).toEqual({ kind: 'unavailable', reason, outcome: 'not_applied' })
    }
  })
})
