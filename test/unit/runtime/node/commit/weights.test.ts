/** The estimated weight of a written row is never below its size, for every kind of actor. */
import { expect, test } from 'vitest'
import type { ExchangeState } from '../../../../../actors/exchange/state.ts'
import type { GroupState } from '../../../../../actors/group/state.ts'
import { stateBytes } from '../../../../../runtime/node/shard/weights.ts'
import { START_MS } from '../../../../support/accounts.ts'

const GROUP = '0f8fad5b-d9cb-469f-a165-70867728950e'
const NAME = 'a'.repeat(128)
const TIMES = { createdAtMs: START_MS, dueAtMs: null, timeoutAtMs: null, finishedAtMs: null, lastTimeMs: START_MS }

function groupOf(count: number, metadata: GroupState['legs'][number]['parts'][number]['metadata']): GroupState {
  const terms = { accountId: NAME, type: 'debit', amount: '1', tokenId: 'BASE', toAccountId: NAME } as const
  const part = { role: 'own', state: 'completed', txnId: 'txn_1', failed: false, compensationTxnId: null } as const
  return {
    kind: 'group',
    format: 1,
    status: 'registering',
    id: GROUP,
    version: 1,
    termsHash: '0'.repeat(64),
    timeoutSeconds: 900,
    legs: Array.from({ length: count }, () => ({
      terms: { ...terms, boundary: false },
      parts: [{ ...part, metadata }],
    })),
    clientId: 'client',
    registrationKey: 'key',
    refused: null,
    failure: null,
    compensationsAsked: {},
    compensations: [],
    partialFailures: [],
    ...TIMES,
  }
}

test('a group weighs its legs and their metadata', () => {
  const group = groupOf(64, { note: 'n'.repeat(4_000) })
  expect(stateBytes(group)).toBeGreaterThan(256_000)
  expect(stateBytes(groupOf(64, null))).toBeGreaterThan(JSON.stringify(groupOf(64, null)).length)
})

test('a group weighs what was to be undone under its ID', () => {
  const compensationsAsked = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [
      `txn_${index}`.padEnd(30, '0'),
      { accountId: NAME, state: 'asked' } as const,
    ]),
  )
  const linked: GroupState = { ...groupOf(0, null), status: 'linked', compensationsAsked }
  expect(stateBytes(linked)).toBeGreaterThan(JSON.stringify(linked).length)
})

test('exchanges weigh what waits and what is remembered', () => {
  const side = { tokenId: 'G'.repeat(64), amount: '999999999999999999.999999999999999999' }
  const names = { txnId: `txn_${'0'.repeat(26)}`, accountId: NAME, toAccountId: NAME }
  const offer = { ...names, gives: side, receives: side, expiresAtMs: START_MS }
  const exchange: ExchangeState = {
    kind: 'exchange',
    format: 1,
    status: 'waiting',
    id: GROUP,
    version: 1,
    offers: Array.from({ length: 32 }, () => offer),
    pairs: [{ sides: [offer, offer], delivering: [names.txnId] }],
    expired: [offer, offer],
    lastTimeMs: START_MS,
    dueAtMs: null,
  }
  expect(stateBytes(exchange)).toBeGreaterThan(JSON.stringify(exchange).length)
})
