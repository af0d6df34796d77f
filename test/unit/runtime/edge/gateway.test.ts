/** W1 to W4: the edge replies `not_applied` only with proof, and otherwise `unknown`. */
import { describe, expect, test } from 'vitest'
import type { AccountView, Answer } from '../../../../actors/account/outcome.ts'
import type { HoldView } from '../../../../actors/hold/state.ts'
import { GATEWAY_DEFAULTS } from '../../../../runtime/edge/gateway.ts'
import type { Operation, Verdict } from '../../../../runtime/protocol/messages.ts'
import { NOT_DELIVERED } from '../../../../runtime/ports/transport.ts'
import { encodeFrame, UNSUPPORTED_VERSION } from '../../../../runtime/protocol/wire.ts'
import { START_MS } from '../../../support/accounts.ts'
import { register } from '../../../support/shard-hosting.ts'
import { edge, type Sent, submitted } from './gateway-fixture.ts'

const CLOSES: Operation = { kind: 'change_status', status: 'closed', incoming: null, reason: 'r' }
const DECLINES: Operation = { kind: 'decline_legs', payload: '{}', signature: 's' }
const RELEASES: Operation = { kind: 'release_hold', payload: '{}', signature: 's' }

const HOLD: HoldView = {
  holdId: 'hld_1',
  accountId: 'a0',
  toAccountId: 'a1',
  tokenId: 'BASE',
  amount: '1',
  captured: '0',
  remaining: '1',
  status: 'active',
  metadata: null,
  expiresAtMs: START_MS + 60_000,
  createdAtMs: START_MS,
  endedAtMs: null,
}

const ACCOUNT: AccountView = {
  accountId: 'a0',
  status: 'active',
  incoming: 'accept',
  key: null,
  shardId: 0,
  sequence: 0,
  auditHash: '',
  createdAtMs: START_MS,
  updatedAtMs: START_MS,
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
    for (let index = 0; index < 4; index += 1) ask('a0', submitted('x'.repeat(15_000)))
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

  test.for([
    [0, false],
    [-1, true],
  ] as const)('W3: a hold created %i ms after the request is shown as a replay: %s', async ([afterMs, replayed]) => {
    const { clock, sent, ask } = await edge()
    const asked = ask('a0', { kind: 'create_hold', payload: '{}', signature: 's' })
    await clock.pass(1)
    sent[0]?.answer([{ kind: 'undecided' }])
    await clock.pass(300)
    const hold = { ...HOLD, createdAtMs: START_MS + afterMs }
    sent[1]?.answer([
      { kind: 'answered', answer: { kind: 'hold_created', hold, replayed: true, mismatch: false, payloadHash: '' } },
    ])
    await clock.pass(0)
    expect(asked.outcome).toMatchObject({ kind: 'answered', answer: { replayed } })
  })

  test.for([
    [0, true],
    [-1, false],
  ] as const)('W3: an account created %i ms after its registration is shown as new: %s', async ([afterMs, created]) => {
    const { clock, sent, ask } = await edge()
    const asked = ask('a0', register)
    await clock.pass(1)
    sent[0]?.answer([{ kind: 'undecided' }])
    await clock.pass(300)
    const account = { ...ACCOUNT, createdAtMs: START_MS + afterMs }
    const answer: Answer = { kind: 'registered', account, created: false, replayed: false, mismatch: false }
    sent[1]?.answer([{ kind: 'answered', answer }])
    await clock.pass(0)
    expect(asked.outcome).toMatchObject({ kind: 'answered', answer: { created } })
  })

  test.for([CLOSES, DECLINES, RELEASES])(
    'W3: a refusal of $kind without a key proves nothing once an attempt is uncertain',
    async (operation) => {
      const { clock, sent, ask } = await edge()
      const asked = ask('a0', operation)
      await clock.pass(1)
      sent[0]?.answer([{ kind: 'undecided' }])
      await clock.pass(300)
      sent[1]?.answer([refused])
      await clock.pass(0)
      expect(asked.outcome).toEqual({ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' })
    },
  )

  test.for([
    ['does not read its version', (one: Sent) => one.reply(UNSUPPORTED_VERSION)],
    ['does not know its form', (one: Sent) => one.answer([{ kind: 'unsupported_version' }])],
  ] as const)('F3: a request to a node that %s is retried, and finally not_applied', async ([, refuse]) => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    await clock.pass(1)
    let refused = 0
    for (let passed = 0; passed < GATEWAY_DEFAULTS.patienceMs && asked.outcome === undefined; passed += 50) {
      for (const one of sent.slice(refused)) refuse(one)
      refused = sent.length
      await clock.pass(50)
    }
    expect(asked.outcome).toEqual({ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'not_applied' })
    expect(sent.length).toBeGreaterThan(5)
  })

  test.for([
    ['no JSON', '{'],
    ['of a version that is not read', encodeFrame(2, [])],
    ['without versions', '[]'],
  ] as const)('W6: a reply that is %s has no verdict for any item: each is sent again', async ([, text]) => {
    const { clock, sent, ask } = await edge()
    const all = [ask('a0'), ask('a0')]
    await clock.pass(1)
    sent[0]?.reply(text)
    await clock.pass(300)
    expect(sent.slice(1).flatMap(({ items }) => items.map(({ attempt }) => attempt))).toEqual([2, 2])
    for (const one of sent.slice(1)) one.answer(one.items.map(() => ({ kind: 'moved', epoch: null })))
    await clock.pass(GATEWAY_DEFAULTS.deadlineMs + GATEWAY_DEFAULTS.attemptTimeoutMs)
    expect(all.map(({ outcome }) => outcome)).toMatchObject([{ outcome: 'unknown' }, { outcome: 'unknown' }])
  })

  test('W6: a malformed verdict affects only its own item', async () => {
    const { clock, sent, ask } = await edge()
    const [first, second] = [ask('a0'), ask('a0')]
    await clock.pass(1)
    const [one, other] = sent[0]?.items ?? []
    const verdict = { kind: 'answered', answer: { kind: 'accepted', receipt: null } }
    sent[0]?.reply(
      encodeFrame(1, [
        null,
        { requestId: one?.requestId, attempt: 1, verdict },
        { requestId: other?.requestId, attempt: 1, verdict: accepted(START_MS) },
      ]),
    )
    await clock.pass(300)
    expect(second.outcome?.kind).toBe('answered')
    expect(first.outcome).toBeUndefined()
    expect(sent[1]?.items.map(({ requestId }) => requestId)).toEqual([one?.requestId])
  })

  test.for(['pause', 'resume'] as const)('W4: a %s is not tried again once it is uncertain', async (kind) => {
    const { clock, sent, ask } = await edge()
    const asked = ask('a0', { kind, reason: 'r' })
    await clock.pass(1)
    sent[0]?.answer([{ kind: 'moved', epoch: null }])
    await clock.pass(300)
    expect(sent.length).toBe(2)
    sent[1]?.answer([{ kind: 'undecided' }])
    await clock.pass(1_000)
    expect(asked.outcome).toEqual({ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' })
    expect(sent.length).toBe(2)
  })

  test('D7: a change of status with a key is retried like any other request with one', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask('a0', { ...CLOSES, registrationKey: 'k' })
    await clock.pass(1)
    sent[0]?.answer([{ kind: 'undecided' }])
    await clock.pass(300)
    sent[1]?.answer([refused])
    await clock.pass(0)
    expect(asked.outcome).toMatchObject({ kind: 'answered', answer: { kind: 'refused' } })
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

  test('W2: a request whose commit the store refuses is retried for a second, and then not_applied', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    for (let passed = 0; passed < 1_200 && asked.outcome === undefined; passed += 50) {
      await clock.pass(50)
      sent.at(-1)?.answer([{ kind: 'not_applied' }])
    }
    await clock.pass(0)
    expect(asked.outcome).toEqual({ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'not_applied' })
    expect(sent.length).toBeGreaterThan(3)
  })

  test('W3: not_applied after an attempt with an unknown outcome proves nothing', async () => {
    const { clock, sent, ask } = await edge()
    const asked = ask()
    await clock.pass(1)
    sent[0]?.answer([{ kind: 'undecided' }])
    for (let passed = 0; passed < 2 * GATEWAY_DEFAULTS.deadlineMs && asked.outcome === undefined; passed += 100) {
      await clock.pass(100)
      sent.at(-1)?.answer([{ kind: 'not_applied' }])
    }
    await clock.pass(0)
    expect(asked.outcome).toMatchObject({ kind: 'unavailable', outcome: 'unknown' })
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

  test('an edge keeps a limited number of requests waiting by default', async () => {
    const { maxWaiting } = GATEWAY_DEFAULTS
    expect(maxWaiting).toBeLessThan(100_000)
    const { clock, ask } = await edge(undefined, { maxWaiting })
    const all = Array.from({ length: maxWaiting + 2 }, () => ask())
    await clock.pass(1)
    expect(all.filter(({ outcome }) => outcome !== undefined)).toHaveLength(2)
  })

  test('no shards, no owner at all, and no owner of this one are different errors', async () => {
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
