/**
 * I10, D7: a commit that was applied, but whose outcome the node did not learn, takes effect once and gets its normal
 * replies.
 */
import { expect, test } from 'vitest'
import { accountAddress } from '../../../../../actors/address.ts'
import { canonicalJson } from '../../../../../actors/canonical-json.ts'
import type { LegTerms, Message } from '../../../../../actors/message.ts'
import type { Operation } from '../../../../../runtime/protocol/messages.ts'
import { KEY, START_MS } from '../../../../support/accounts.ts'
import { deliveriesBody, deliveryFrom } from '../../../../support/bodies.ts'
import { answersOf, applied, credit, hosting, kinds, register, rotation } from '../../../../support/shard-hosting.ts'

const status = (to: 'frozen' | 'active' | 'closed', registrationKey: string | null = null): Operation => {
  return { kind: 'change_status', status: to, incoming: null, reason: 'r', registrationKey }
}
const ERASE: Operation = { kind: 'erase', reason: 'r' }

/** A host with the account `a` after these operations; the commits of the next ones are applied unheard. */
async function unheard(before: readonly Operation[], ...operations: readonly Operation[]) {
  const hosted = hosting([0])
  const { clock, batches, verdicts, item, send, loseReply } = hosted
  for (const operation of [register, ...before]) {
    send(item(0, 'a', operation))
    await clock.pass(50)
  }
  verdicts.length = 0
  loseReply()
  send(...operations.map((operation) => item(0, 'a', operation)))
  await clock.pass(300)
  const ask = async (operation: Operation) => {
    send(item(0, 'a', operation))
    await clock.pass(50)
  }
  const sequences = () =>
    batches.flatMap(({ shards }) => shards.flatMap(({ entries }) => entries.map(({ sequence }) => sequence)))
  return { ...hosted, ask, sequences }
}

test('an order gets its first answer, unmarked', async () => {
  const { verdicts } = await unheard([], credit('a', 'k'))
  expect(answersOf(verdicts)).toMatchObject([{ kind: 'accepted', replayed: false }])
})

test('a change of status is not judged anew', async () => {
  const { verdicts, sequences } = await unheard([], status('frozen'), status('closed'))
  expect(kinds(verdicts)).toEqual(['undecided', 'undecided'])
  expect(sequences()).toEqual([0, 1, 2])
})

test.for(['pause', 'resume'] as const)('a %s is not judged anew', async (kind) => {
  const { verdicts } = await unheard([], { kind, reason: 'r' })
  expect(kinds(verdicts)).toEqual(['undecided'])
})

test('a registration is not refused because the key was rotated right after it', async () => {
  const { clock, control, verdicts, item, send, keep } = hosting([0])
  let unanswered = 2
  control.commit = (batch) => {
    if (unanswered === 0) return applied(batch)
    unanswered -= 1
    keep(batch)
    return { kind: 'unknown', detail: 'no answer' }
  }
  // The rotation waits for the key of the registration: it is in the second batch, with the registration once more.
  send(item(0, 'a', register), item(0, 'a', rotation('a')))
  await clock.pass(2_000)
  expect(unanswered).toBe(0)
  expect(kinds(verdicts).sort()).toEqual(['rotated', 'undecided'])
})

test('a decline is not refused because its group reverted right after it', async () => {
  const { clock, host, verdicts, item, send, loseReply } = hosting([0])
  const groupId = 'c4d1f6a0-1c5e-4b7e-9a53-2f6f1c9f7e10'
  const termsHash = 'd'.repeat(64)
  const leg = { groupId, leg: 0, role: 'own' } as const
  const terms: LegTerms = {
    accountId: 'a',
    type: 'debit',
    amount: '1',
    tokenId: 'BASE',
    toAccountId: null,
    boundary: false,
  }
  const deliver = (number: number, message: Message) =>
    host.receiveDeliveries(
      deliveriesBody([
        deliveryFrom(2, [{ number, envelope: { version: 1, to: accountAddress('a'), message, carries: [] } }], {
          began: 2,
        }),
      ]),
      () => undefined,
    )
  send(item(0, 'a', register))
  await clock.pass(50)
  deliver(1, { type: 'expect_leg', ...leg, termsHash, terms, clientId: 'client', dueAtMs: START_MS + 60_000 })
  await clock.pass(50)
  verdicts.length = 0
  loseReply()
  const payload = canonicalJson({ account_id: 'a', group_id: groupId, terms_hash: `sha256:${termsHash}` })
  send(item(0, 'a', { kind: 'decline_legs', payload, signature: `by ${KEY.publicKey}` }))
  deliver(2, { type: 'revert_leg', ...leg })
  await clock.pass(300)
  expect(kinds(verdicts)).toEqual(['undecided'])
})

test('D7: a change of status under a key gets its reply, also after other changes, and takes effect once', async () => {
  const { verdicts, sequences, ask } = await unheard([], status('frozen', 'k'))
  await ask(status('active'))
  await ask(status('frozen', 'k'))
  expect(answersOf(verdicts)).toMatchObject([
    { kind: 'status_changed', account: { status: 'frozen', sequence: 1 } },
    { kind: 'status_changed', account: { status: 'active', sequence: 2 } },
    { kind: 'status_changed', account: { status: 'frozen', sequence: 1 } },
  ])
  expect(sequences()).toEqual([0, 1, 2])
})

test('an erasure is answered, and done once', async () => {
  const { batches, verdicts } = await unheard([status('closed')], ERASE)
  expect(answersOf(verdicts)).toMatchObject([{ kind: 'status_changed', account: { status: 'erased', sequence: 2 } }])
  expect(batches.flatMap(({ shards }) => shards.flatMap(({ erased }) => erased))).toEqual(['a'])
})

test('D7: a request under a key that changes nothing has no effect when it is replayed after other changes', async () => {
  const orders = [status('frozen'), status('active', 'k'), status('frozen')]
  const { clock, batches, verdicts, item, send } = hosting([0])
  for (const order of [register, status('active', 'k'), ...orders]) {
    send(item(0, 'a', order))
    await clock.pass(50)
  }
  expect(answersOf(verdicts).slice(1)).toMatchObject([
    { account: { status: 'active', sequence: 0 } },
    { account: { status: 'frozen', sequence: 1 } },
    { account: { status: 'active', sequence: 0 } },
    { account: { status: 'frozen', sequence: 1 } },
  ])
  const entries = batches.flatMap(({ shards }) => shards.flatMap((shard) => shard.entries))
  expect(entries.map(({ sequence }) => sequence)).toEqual([0, 1])
})
