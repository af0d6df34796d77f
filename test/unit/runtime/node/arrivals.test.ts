/**
 * An order that an imported account signed for its source ledger is never applied here, whether the account is in
 * memory or not.
 */
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../../../actors/account/commands.ts'
import { usedKeyHash } from '../../../../actors/account/used-key.ts'
import { canonicalJson, type JsonObject } from '../../../../actors/canonical-json.ts'
import type { ArrivedFrom, ArrivingAccount } from '../../../../actors/arrival.ts'
import type { Item, Operation } from '../../../../runtime/protocol/messages.ts'
import { CALLER, KEY } from '../../../support/accounts.ts'
import { applied, credit, hosting, item, kinds, register, rotation, submit } from '../../../support/shard-hosting.ts'

const ADMIN: Caller = { ...CALLER, role: 'admin' }
const FROM: ArrivedFrom = { ledgerId: 'there', importId: 'import-1', recordHash: 'a'.repeat(64) }
const SALT = '0'.repeat(32)
const ARRIVING: ArrivingAccount = {
  key: KEY,
  status: 'active',
  incoming: 'accept',
  balances: { BASE: '10' },
  nfts: 0,
  keySalt: SALT,
  txnCount: 2,
  tip: 'b'.repeat(64),
  createdAt: '2025-01-01T00:00:00.000Z',
  updatedAt: '2025-01-01T00:00:00.000Z',
}

/** Orders of such an account say which ledger they are for. */
const order = (accountId: string, key: string): Operation =>
  submit({ account_id: accountId, amount: '1', type: 'credit', idempotency_key: key, ledger_id: 'ledger' })

function turnover(accountId: string): Operation {
  const rotating = rotation(accountId)
  if (rotating.kind !== 'rotate_key') throw new Error('it is no rotation')
  const fields = JSON.parse(rotating.payload) as JsonObject
  return { ...rotating, payload: canonicalJson({ ...fields, ledger_id: 'ledger' }) }
}

const used = (accountId: string, idempotencyKey: string): string =>
  usedKeyHash(SALT, accountId, { operation: 'transaction', idempotencyKey })

function asked(accountId: string, operation: Operation): Item {
  return item(0, accountId, operation, { caller: ADMIN })
}

const hold: Operation = { kind: 'hold_arrival', from: FROM, arrival: { kind: 'account', account: ARRIVING } }
const take: Operation = { kind: 'take_arrival', importId: FROM.importId }
const note = (...hashes: readonly string[]): Operation => ({
  kind: 'note_used_keys',
  importId: FROM.importId,
  part: 0,
  hashes,
})

/** A node on which account `a`, and perhaps others, have arrived; what they did elsewhere is known. */
async function arrived(limits: Parameters<typeof hosting>[1] = {}, ...accountIds: readonly string[]) {
  const node = hosting([0], limits)
  for (const accountId of ['a', ...accountIds]) {
    node.send(asked(accountId, hold), asked(accountId, note(used(accountId, 'k-there'))), asked(accountId, take))
    await node.clock.pass(50)
  }
  expect(new Set(kinds(node.verdicts))).toEqual(new Set(['arrival']))
  node.verdicts.length = 0
  return node
}

describe('a key that was used elsewhere', () => {
  test('is refused, and others are not', async () => {
    const { clock, verdicts, send } = await arrived()
    send(item(0, 'a', order('a', 'k-there')), item(0, 'a', order('a', 'k-here')))
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['key_used_elsewhere', 'accepted'])
  })

  test('is refused by a node that has just taken the shard, at the account’s first submission', async () => {
    const { clock, verdicts, send, host, serve, records } = await arrived()
    host.drop(0)
    await serve(0)
    const epoch = records.get(0)?.epoch ?? 0
    send(item(0, 'a', order('a', 'k-there'), { epoch }), item(0, 'a', order('a', 'k-here'), { epoch }))
    await clock.pass(100)
    expect(kinds(verdicts)).toEqual(['key_used_elsewhere', 'accepted'])
  })

  test('is a key of its own for each operation', async () => {
    const { clock, verdicts, send } = await arrived()
    send(item(0, 'a', turnover('a')))
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['rotated'])
  })

  test('is looked up with no question more once the account is in memory', async () => {
    const { clock, questions, send } = await arrived()
    send(item(0, 'a', order('a', 'k1')))
    await clock.pass(50)
    const before = questions.length
    send(item(0, 'a', order('a', 'k2')))
    await clock.pass(50)
    expect(questions.length - before).toBe(1)
    expect(
      questions
        .at(-1)
        ?.keys.map(({ operation }) => operation)
        .toSorted(),
    ).toEqual(['elsewhere', 'transaction'])
  })
})

test('nothing that was looked up before the account came is applied after it has', async () => {
  const { clock, verdicts, send } = hosting([0])
  send(asked('a', hold))
  await clock.pass(50)
  verdicts.length = 0
  send(asked('a', note(used('a', 'k-there'))), asked('a', take), item(0, 'a', order('a', 'k-there')))
  await clock.pass(100)
  expect(kinds(verdicts)).toEqual(['arrival', 'arrival', 'undecided'])
  send(item(0, 'a', order('a', 'k-there')))
  await clock.pass(100)
  expect(kinds(verdicts).at(-1)).toBe('key_used_elsewhere')
})

test('what was looked up while the account came is not taken for unused', async () => {
  const { clock, control, verdicts, send } = hosting([0])
  send(asked('a', hold), asked('a', note(used('a', 'k-there'))))
  await clock.pass(50)
  let commits = (): void => undefined
  control.commit = async (batch) => {
    await new Promise<void>((resolve) => (commits = resolve))
    return applied(batch)
  }
  send(asked('a', take))
  await clock.pass(50)
  let answers = (): void => undefined
  control.lookUps = new Promise((resolve) => (answers = resolve))
  send(item(0, 'a', order('a', 'k-there')))
  await clock.pass(50)
  control.commit = applied
  commits()
  await clock.pass(50)
  answers()
  await clock.pass(50)
  expect(kinds(verdicts)).toEqual(['arrival', 'arrival', 'arrival', 'undecided'])
})

test('for an account that did not come from another ledger nothing more is looked up', async () => {
  const { clock, questions, verdicts, send } = hosting([0])
  send(item(0, 'a', register), item(0, 'a', credit('a', 'k1')))
  await clock.pass(50)
  send(item(0, 'a', credit('a', 'k2')))
  await clock.pass(50)
  expect(kinds(verdicts)).toEqual(['registered', 'accepted', 'accepted'])
  expect(questions.flatMap(({ keys }) => keys.map(({ operation }) => operation))).not.toContain('elsewhere')
})

test('an account that leaves memory is asked about again', async () => {
  const { clock, verdicts, send } = await arrived({ maxResidents: 1 }, 'ab')
  send(item(0, 'a', order('a', 'k-there')))
  await clock.pass(50)
  send(item(0, 'ab', order('ab', 'k-there')))
  await clock.pass(50)
  expect(kinds(verdicts)).toEqual(['key_used_elsewhere', 'key_used_elsewhere'])
})
