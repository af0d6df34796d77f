/** Replies of a ledger that are valid, but not those that were requested, do not verify. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { showHash } from '../../../../actors/audit-chain.ts'
import { witnessedLog } from '../../../support/log/witnessed-log.ts'
import { LEDGER_ID, ledgerUser, type Reply } from '../replying-ledger.ts'
import { chainOf, JWKS, receiptOf, shown } from './signed-chain.ts'

const OTHER_ID = '7b1c2d3e-0000-4000-8000-000000000001'
const CHAIN = chainOf(3)
const TIP = showHash(CHAIN.at(-1)?.auditHash ?? '')
const [, FIRST, SECOND] = CHAIN
const receiptFor = (txnId: string, changes = {}): object =>
  receiptOf(txnId === 'txn_2' ? SECOND : FIRST, { ledger_id: LEDGER_ID, ...changes })

/** The replies of an honest ledger, by path. */
const HONEST: Readonly<Record<string, Reply>> = {
  '/.well-known/jwks.json': { ...JWKS, ledger_id: LEDGER_ID },
  '/v1/accounts/alice': { account_id: 'alice', sequence: 2, audit_hash: TIP },
  '/v1/accounts/alice/audit-chain': {
    account_id: 'alice',
    entries: CHAIN.map(shown),
    total_count: 3,
    next_page_token: '',
  },
  '/v1/transactions/txn_1/receipt': receiptFor('txn_1'),
  '/v1/transactions/txn_2/receipt': receiptFor('txn_2'),
}

const log = await witnessedLog(CHAIN.map(({ auditHash }) => showHash(auditHash)))
const PROOFS: Readonly<Record<string, Reply>> = {
  '/v1/accounts/alice/audit-chain/2/proof': await log.proof(2, ['w1', 'w2']),
  '/v1/transactions/txn_1/receipt': await receiptOrProof(1),
  '/v1/transactions/txn_2/receipt': await receiptOrProof(2),
}

async function receiptOrProof(sequence: number): Promise<Reply> {
  const proof = await log.proof(sequence, ['w2', 'w3'])
  return (query) => (query.get('proof') === 'log' ? proof : receiptFor(`txn_${sequence}`))
}

/** Runs a command at a ledger that replies like this. */
async function run(args: readonly string[], replies: Readonly<Record<string, Reply>> = {}) {
  const user = await ledgerUser({ ...HONEST, ...replies })
  return user.run(...args)
}

describe('ledger verify --policy', () => {
  async function runWithPolicy(args: readonly string[], replies: Readonly<Record<string, Reply>> = {}) {
    const user = await ledgerUser({ ...HONEST, ...PROOFS, ...replies })
    const policy = join(user.directory, 'policy.txt')
    writeFileSync(policy, log.policy)
    const place = join(user.directory, 'saved')
    return { ...user, place, ran: await user.run('verify', ...args, '--policy', policy, '--save', place) }
  }

  test('fetches the proof of the last entry of a chain, and of each named transaction', async () => {
    const { ran, place, run: runAgain } = await runWithPolicy(['--account', 'alice', '--txn', 'txn_1'])
    expect(ran.code).toBe(0)
    expect(ran.out).toMatch(
      /^ok: chain.tlog-proof: the log example.com\/ledger has entry 2 \(txn_2\) of the chain of alice, and with it all before, in place 2 of 3/m,
    )
    expect(ran.out).toMatch(
      /^ok: txn_1.tlog-proof: .* has entry 1 \(txn_1\) of the chain of alice, .* in place 1 of 3; signed by the log and w2, w3/m,
    )
    expect(readdirSync(place).toSorted()).toEqual([
      'chain.ndjson',
      'chain.tlog-proof',
      'jwks.json',
      'receipts.ndjson',
      'txn_1.tlog-proof',
    ])
    const [, again = ''] = /verify again with: ledger (.*)/.exec(ran.err) ?? []
    expect(await runAgain(...again.split(' '))).toEqual({
      code: 0,
      err: '',
      out: ran.out.replaceAll(/^ok: (?=.*tlog-proof)/gm, `ok: ${place}/`),
    })
  })

  test.for<[string, () => Promise<object | string | undefined>, string]>([
    [
      'the proof of another entry',
      () => log.proof(2, ['w1', 'w2']),
      'TAMPERED: txn_1.tlog-proof: the log does not have the entry in place 2',
    ],
    ['a head without a quorum', () => log.proof(1, ['w1']), 'INCOMPLETE: txn_1.tlog-proof: too few witnesses'],
    [
      'what is no proof',
      () => Promise.resolve(receiptFor('txn_1')),
      'TAMPERED: txn_1.tlog-proof: the proof is malformed',
    ],
    ['no proof', () => Promise.resolve(undefined), 'INCOMPLETE: receipt of txn_1: no proof is of its entry'],
  ])('refuses %s', async ([, ask, line]) => {
    const proof = await ask()
    const reply: Reply = (query) => (query.get('proof') === 'log' ? proof : receiptFor('txn_1'))
    const { ran } = await runWithPolicy(['--txn', 'txn_1'], { '/v1/transactions/txn_1/receipt': reply })
    expect([ran.code, ran.out]).toEqual([1, expect.stringContaining(line)])
  })
})

describe('ledger verify', () => {
  test('accepts the chain and the receipts that it requested', async () => {
    expect(await run(['verify', '--account', 'alice', '--txn', 'txn_2'])).toEqual({
      code: 0,
      err: '',
      out: [
        `ok: chain of alice, 3 entries, ends with ${TIP}`,
        'ok: receipt of txn_1: completed: credit of 5 BASE of alice',
        'ok: receipt of txn_2: completed: credit of 5 BASE of alice',
        'ok: receipt of txn_2: completed: credit of 5 BASE of alice\n',
      ].join('\n'),
    })
  })

  const mallory = { account_id: 'mallory' }
  test.for([
    [
      'receipt of another transaction',
      { '/v1/transactions/txn_1/receipt': receiptFor('txn_2') },
      'its txn_id is "txn_2", not "txn_1"',
    ],
    [
      'receipt of another account',
      { '/v1/transactions/txn_1/receipt': receiptFor('txn_1', mallory) },
      'its account_id is "mallory", not "alice"',
    ],
    [
      'receipt of another ledger',
      { '/.well-known/jwks.json': { ...JWKS, ledger_id: OTHER_ID } },
      `is of ledger ${OTHER_ID}, not of ${LEDGER_ID}`,
    ],
    [
      'page of another account',
      { '/v1/accounts/alice/audit-chain': { ...mallory, entries: CHAIN.map(shown), next_page_token: '' } },
      'the chain is of account mallory, not of alice',
    ],
  ] as const)('refuses a %s', async ([, replies, problem]) => {
    const { code, out } = await run(['verify', '--account', 'alice'], replies)
    expect([code, out]).toEqual([1, expect.stringMatching(/^UNEXPECTED: /m)])
    expect(out).toContain(problem)
  })

  test('refuses the receipt of another transaction than --txn names', async () => {
    const replies = { '/v1/transactions/txn_1/receipt': receiptFor('txn_2') }
    expect(await run(['verify', '--txn', 'txn_1'], replies)).toMatchObject({
      code: 1,
      out: 'UNEXPECTED: receipt of txn_2: its txn_id is "txn_2", not "txn_1"\n',
    })
  })

  test.for([
    [
      'another account',
      { '/v1/accounts/alice': { account_id: 'bob', sequence: 2, audit_hash: TIP } },
      'sent account bob in place of alice',
    ],
    [
      'another document in place of a receipt',
      { '/v1/transactions/txn_1/receipt': { entries: [] } },
      'other documents than',
    ],
    [
      'two receipts in place of one',
      { '/v1/transactions/txn_2/receipt': [receiptFor('txn_2'), receiptFor('txn_1')] },
      'other documents than',
    ],
  ] as const)('fails for %s', async ([, replies, problem]) => {
    const { code, err } = await run(['verify', '--account', 'alice'], replies)
    expect([code, err]).toEqual([1, expect.stringContaining(problem)])
  })

  test('refuses a chain that does not end with the audit_hash of the account', async () => {
    const early = { account_id: 'alice', sequence: 2, audit_hash: showHash(CHAIN[1]?.auditHash ?? '') }
    const { code, out } = await run(['verify', '--account', 'alice'], { '/v1/accounts/alice': early })
    expect([code, out]).toEqual([1, expect.stringMatching(/^TAMPERED: the chain ends with /)])
  })

  test('demands the status of --status of each receipt', async () => {
    const failed = { '/v1/transactions/txn_2/receipt': receiptFor('txn_2', { status: 'failed' }) }
    const completed = ['verify', '--status', 'completed']
    expect(await run([...completed, '--account', 'alice', '--txn', 'txn_1'])).toMatchObject({ code: 0, err: '' })
    for (const args of [
      ['--txn', 'txn_1', 'txn_2'],
      ['--account', 'alice'],
    ]) {
      const { code, out } = await run([...completed, ...args], failed)
      expect([code, out]).toEqual([
        1,
        expect.stringContaining('UNEXPECTED: receipt of txn_2: its status is "failed", not "completed"\n'),
      ])
    }
    expect((await run(['verify', '--txn', 'txn_1', '--status', 'failed'])).code).toBe(1)
  })

  test('refuses an empty chain', async () => {
    const empty = { account_id: 'alice', entries: [], next_page_token: '' }
    const { code, out } = await run(['verify', '--account', 'alice'], { '/v1/accounts/alice/audit-chain': empty })
    expect([code, out]).toEqual([1, 'INCOMPLETE: chain of alice: no entries\n'])
  })
})
