/** A mint's idempotency key is taken from acceptance to the mint's end, and detects other payloads (B1, D7). */
import { describe, expect, test } from 'vitest'
import type { AccountCommand, MintCommand } from '../../../../actors/account/commands.ts'
import { type EarlierUse, originalAnswer } from '../../../../actors/account/outcome.ts'
import type { Evidence } from '../../../../actors/account/evidence.ts'
import type { AccountState } from '../../../../actors/account/state.ts'
import type { Refusal } from '../../../../actors/refusal.ts'
import { nftId } from '../../../../actors/nft-id.ts'
import { BrokenInvariant } from '../../../../actors/result.ts'
import { World } from '../../../model/mini-clients.ts'
import {
  ACCOUNT,
  afterSteps,
  KEY,
  mintCommand,
  OTHER_KEY,
  refusalOf,
  registerCommand,
  rotateCommand,
  SALT,
  SIGNED,
  START_MS,
  stepAccount,
  steppedOf,
} from '../../../support/accounts.ts'

const CLASS = 'cls_00000000000000000000000001'
const TXN_IDS = [1, 2, 3].map((number) => `txn_${`${number}`.padStart(26, '0')}`)
const TAKEN: Refusal = { code: 'instance_exists', detail: 'Taken.' }

/** A signature holds for the key that it names. */
const EVIDENCE: Evidence = {
  ...SIGNED,
  nftClass: () => ({ classId: CLASS, issuer: ACCOUNT }),
  verdict: (keyId, signature) => signature === `by ${keyId}`,
}

function command(number: number, fields: Partial<MintCommand> = {}): MintCommand {
  return mintCommand({
    accountId: ACCOUNT,
    classId: CLASS,
    instanceId: 'ruby',
    idempotencyKey: 'once',
    signature: `by ${KEY.keyId}`,
    newTxnId: TXN_IDS[number] ?? '',
    ...fields,
  })
}

function isStepped(snapshot: AccountState, next: AccountCommand, evidence = EVIDENCE): AccountState {
  return steppedOf(stepAccount(snapshot, next, evidence)).state
}

const opened = afterSteps(registerCommand())
const FIRST = command(0)
const begun = steppedOf(stepAccount(opened, FIRST, EVIDENCE))

/** The home's decision on the first mint. */
function ends(refused: Refusal | null): AccountCommand {
  return {
    type: 'conclude_mint',
    nftId: nftId(FIRST),
    txnId: FIRST.newTxnId,
    refused,
    mintedAtMs: refused === null ? START_MS : null,
    counterTxnId: null,
    accountId: ACCOUNT,
    shardId: 7,
    atMs: START_MS + 9,
    salt: SALT,
    newTxnId: TXN_IDS[2] ?? '',
  }
}

/** Rotates the key of the account. */
function rotated(snapshot: AccountState): AccountState {
  return isStepped(snapshot, rotateCommand({ signature: `by ${KEY.keyId}` }))
}

describe('while a mint is pending', () => {
  test.for([
    ['the very same command', FIRST],
    ['the same of another request', command(1, { payload: FIRST.payload, payloadHash: FIRST.payloadHash })],
    ['another mint under its key', command(1, { instanceId: 'opal', owner: 'bob' })],
    ['one that could not be begun', command(1, { metadataVerdict: 'invalid', ledgerId: 'another' })],
  ] as const)('%s waits for the decision and sends nothing', ([, again]) => {
    expect(stepAccount(begun.state, again, EVIDENCE)).toEqual({ kind: 'answered', answer: 'deferred' })
  })

  test('D7: a repeat by the key it was accepted under waits, though the account has another by now', () => {
    const since = rotated(begun.state)
    for (const { keyId } of [KEY, OTHER_KEY]) {
      expect(stepAccount(since, command(1, { signature: `by ${keyId}` }), EVIDENCE)).toEqual({
        kind: 'answered',
        answer: 'deferred',
      })
    }
    expect(refusalOf(stepAccount(since, command(1, { signature: 'forged' }), EVIDENCE))).toBe('signature_mismatch')
  })

  test('D7: an unverified signature is verified under both keys, the current one first', () => {
    const since = rotated(begun.state)
    const known = new Map<string, boolean>()
    const verdict: Evidence['verdict'] = (keyId) => known.get(keyId)
    const asked: string[] = []
    for (;;) {
      const result = stepAccount(since, FIRST, { ...EVIDENCE, verdict })
      if (result.kind !== 'unverified') break
      asked.push(result.key.keyId)
      known.set(result.key.keyId, false)
    }
    expect(asked).toEqual([OTHER_KEY.keyId, KEY.keyId])
  })

  test('a rotated key starts no other mint', () => {
    const other = command(1, { idempotencyKey: 'twice' })
    expect(refusalOf(stepAccount(rotated(begun.state), other, EVIDENCE))).toBe('signature_mismatch')
  })

  test('a retry by a frozen account waits, and starts no other mint', () => {
    const frozen = { ...begun.state, status: 'frozen' as const }
    expect(stepAccount(frozen, command(1), EVIDENCE)).toEqual({ kind: 'answered', answer: 'deferred' })
    expect(refusalOf(stepAccount(frozen, command(1, { idempotencyKey: 'twice' }), EVIDENCE))).toBe('account_not_active')
  })
})

describe('a refusal', () => {
  const refused = steppedOf(stepAccount(begun.state, ends(TAKEN), EVIDENCE))

  test('frees the key in the same step, and leaves the account unchanged', () => {
    expect(refused.effects).toEqual([
      { kind: 'hold_changed', holdId: 'mint once' },
      {
        kind: 'concluded',
        use: { operation: 'mint', idempotencyKey: 'once' },
        answer: { kind: 'refused', code: 'instance_exists', detail: 'Taken.', field: 'instance_id' },
      },
    ])
    const { version: _, lastTimeMs: __, holds, ...rest } = refused.state
    expect(holds.size).toBe(0)
    expect(opened).toMatchObject({ ...rest, balances: opened.balances })
  })

  test('takes with it what its original was signed by', () => {
    const since = rotated(refused.state)
    expect(refusalOf(stepAccount(since, FIRST, EVIDENCE))).toBe('signature_mismatch')
  })
})

describe('a completed mint', () => {
  const done = steppedOf(stepAccount(rotated(begun.state), ends(null), EVIDENCE))

  function earlierUse(): EarlierUse {
    for (const effect of done.effects) {
      if (effect.kind !== 'operation_recorded' || effect.acceptedUnder === null) continue
      const { operation, acceptedUnder } = effect
      return { payloadHash: operation.payloadHash, key: acceptedUnder, answer: originalAnswer(operation) }
    }
    throw new Error('Nothing was recorded.')
  }

  test.for([
    ['the very same command, stepped again', FIRST, { replayed: false, mismatch: false }],
    [
      'another request of the same payload',
      command(1, { payload: FIRST.payload, payloadHash: FIRST.payloadHash }),
      { replayed: true, mismatch: false },
    ],
    ['another payload', command(1, { instanceId: 'opal' }), { replayed: true, mismatch: true }],
    [
      'one that could not be begun',
      command(1, { metadata: { cut: 0 }, metadataVerdict: 'invalid' }),
      { replayed: true, mismatch: true },
    ],
  ] as const)('D7: %s gets the first reply', ([, again, told]) => {
    const result = stepAccount(done.state, again, { ...EVIDENCE, earlier: earlierUse() })
    expect(result).toEqual({ kind: 'answered', answer: { ...earlierUse().answer, ...told } })
  })

  test('D7: a retry is valid under its original key and the current key only', () => {
    for (const { keyId } of [KEY, OTHER_KEY]) {
      const evidence = { ...EVIDENCE, earlier: earlierUse() }
      expect(stepAccount(done.state, command(1, { signature: `by ${keyId}` }), evidence)).toMatchObject({
        answer: { kind: 'minted' },
      })
    }
    const forged = command(1, { signature: 'forged' })
    expect(refusalOf(stepAccount(done.state, forged, { ...EVIDENCE, earlier: earlierUse() }))).toBe(
      'signature_mismatch',
    )
  })

  test('B1: is concluded once: a second conclusion finds no hold', () => {
    expect(() => stepAccount(done.state, ends(null), EVIDENCE)).toThrow(BrokenInvariant)
    expect(() => stepAccount(done.state, ends(TAKEN), EVIDENCE)).toThrow(BrokenInvariant)
  })
})

describe('the keys of mints', () => {
  test('are no keys of transactions, and are found where transactions are looked for under a name of their own', () => {
    const ledger = new World()
    ledger.open('ann')
    const classId = ledger.classOf('ann')
    const idempotencyKey = 'the same'
    ledger.submit({ accountId: 'ann', amount: '1', idempotencyKey })
    const fields = { accountId: 'ann', classId, instanceId: 'ruby', idempotencyKey }
    ledger.minted(fields)
    expect(ledger.mint(fields)).toMatchObject({ kind: 'minted', replayed: true })
    expect(ledger.submission({ accountId: 'ann', amount: '1', idempotencyKey })).toMatchObject({ replayed: true })
    expect([...ledger.transactions.values()].map((known) => known.idempotencyKey)).toEqual([
      'the same',
      '§mint the same',
    ])
  })
})
