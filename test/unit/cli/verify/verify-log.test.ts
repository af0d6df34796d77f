/** Proofs of the log verify offline with receipts and chains, under a policy, and every attack on them is named. */
import { rmSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { showHash } from '../../../../actors/audit-chain.ts'
import { witnessedLog, type WitnessName } from '../../../support/log/witnessed-log.ts'
import { commandLine } from '../cli-fixture.ts'
import { chainOf, JWKS, receiptOf, shown } from './signed-chain.ts'

const shell = commandLine()
afterAll(() => rmSync(shell.cwd, { recursive: true }))

const CHAIN = chainOf(6)
const HASHES = CHAIN.map(({ auditHash }) => showHash(auditHash))
const log = await witnessedLog(HASHES)
const AT = '2030-03-17T17:46:40.000Z'

shell.write('jwks.json', JWKS)
shell.write('receipt.json', receiptOf(CHAIN[3]))
shell.write('earlier.json', receiptOf(CHAIN[2]))
shell.write('failed.json', receiptOf(undefined, { status: 'failed' }))
shell.write('chain.json', { account_id: 'alice', entries: CHAIN.map(shown), total_count: 6 })
shell.write('policy.txt', log.policy)
shell.write('proof-2', await log.proof(2, ['w1', 'w2']))
shell.write('proof-3', await log.proof(3, ['w1', 'w3']))

/** The lines about the log. */
async function verified(proofs: readonly string[], files: readonly string[], policy = 'policy.txt') {
  const given = proofs.flatMap((name) => ['--proof', name])
  const { code, out, err } = await shell.run(['verify', '--jwks', 'jwks.json', '--policy', policy, ...given, ...files])
  return { code, err, lines: out.split('\n').filter((line) => line !== '' && !/^ok: (?:chain|receipt) of/.test(line)) }
}

describe('ledger verify --proof', () => {
  test('accepts the proof of a receipt', async () => {
    const line = `ok: proof-3: the log example.com/ledger has the entry of txn_3 in place 3 of 6; signed by the log and w1, w3 at ${AT}`
    for (const files of [['receipt.json'], ['receipt.json', 'failed.json']]) {
      expect(await verified(['proof-3'], files)).toEqual({ code: 0, err: '', lines: [line] })
    }
  })

  test('accepts the proof of an entry in the chain of a receipt, which may be a later one, and of a chain alone', async () => {
    const line = `ok: proof-3: the log example.com/ledger has entry 3 (txn_3) of the chain of alice, and with it all before, in place 3 of 6; signed by the log and w1, w3 at ${AT}`
    for (const files of [['chain.json', 'earlier.json'], ['chain.json', 'receipt.json'], ['chain.json']]) {
      expect(await verified(['proof-3'], files)).toEqual({ code: 0, err: '', lines: [line] })
    }
  })

  test('tells programs the place, the size and the witnesses', async () => {
    const args = ['--jwks', 'jwks.json', '--policy', 'policy.txt', '--proof', 'proof-3', 'receipt.json']
    const { out } = await shell.run(['verify', '--json', ...args])
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      ok: true,
      txn_id: 'txn_3',
      log: 'example.com/ledger',
      index: 3,
      size: 6,
      witnesses: ['w1', 'w3'],
      witnessed_at: AT,
    })
  })

  test('needs a proof for each receipt with an entry', async () => {
    expect(await verified(['proof-3', 'proof-2'], ['receipt.json', 'earlier.json'])).toMatchObject({ code: 0 })
    const { code, lines } = await verified(['proof-3'], ['receipt.json', 'earlier.json'])
    expect([code, lines.at(-1)]).toEqual([
      1,
      'INCOMPLETE: receipt of txn_2: no proof is of its entry, or of a later one of its chain',
    ])
    const later = await verified(['proof-2'], ['chain.json', 'receipt.json'])
    expect([later.code, later.lines.at(-1)]).toEqual([1, expect.stringMatching(/^INCOMPLETE: receipt of txn_3/)])
  })

  test('says when the policy asks for no witness', async () => {
    shell.write('any.txt', `${log.keyLines}\nquorum none`)
    shell.write('alone', await log.proof(3, []))
    const { code, lines } = await verified(['alone'], ['receipt.json'], 'any.txt')
    expect([code, lines]).toEqual([0, [expect.stringMatching(/in place 3 of 6; signed by the log alone$/)]])
  })
})

describe('with --account-key', () => {
  const line = (account: string, byte: number) => `${account} ${Buffer.alloc(32, byte).toString('base64')}\n`
  shell.write('alice.key', line('alice', 7))
  shell.write('other.key', line('alice', 8))
  shell.write('bob.key', line('bob', 7))
  const keyed = (key: string, files: readonly string[], proof = 'proof-3') =>
    verified([proof], [...files, '--account-key', key])

  test('the entry is in its place of the chain', async () => {
    for (const files of [['receipt.json'], ['chain.json']]) {
      const { code, lines } = await keyed('alice.key', files)
      expect([code, lines]).toEqual([0, [expect.stringMatching(/; those who have the log key find it there$/)]])
    }
  })

  test('an entry that was logged under a salt of the prover is named, and without the key it is not', async () => {
    const aside = await witnessedLog(HASHES, 'example.com/ledger', Buffer.alloc(32, 8))
    shell.write('aside', await aside.proof(3, ['w1', 'w2']))
    expect(await verified(['aside'], ['receipt.json'])).toMatchObject({ code: 0 })
    const { code, lines } = await keyed('alice.key', ['receipt.json'], 'aside')
    expect([code, lines]).toEqual([
      1,
      [expect.stringMatching(/^TAMPERED: aside: the log does not have it as entry 3 of the account's chain/)],
    ])
    expect(await keyed('other.key', ['receipt.json'], 'aside')).toMatchObject({ code: 0 })
  })

  test('the key of another account checks nothing', async () => {
    const { code, lines } = await keyed('bob.key', ['receipt.json'])
    expect([code, lines]).toEqual([1, ['NOT CHECKED: proof-3: no --account-key has the log key of alice']])
  })

  test('a policy is needed, and a file with keys', async () => {
    const { code, err } = await shell.run([
      'verify',
      '--jwks',
      'jwks.json',
      '--account-key',
      'alice.key',
      'receipt.json',
    ])
    expect([code, err]).toEqual([2, expect.stringContaining('--account-key needs --policy')])
    expect(await keyed('policy.txt', ['receipt.json'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('policy.txt, line 1: this is no account ID with a log key'),
    })
  })
})

describe('an attack is named:', () => {
  const OTHER = 'TAMPERED: proof: the log does not have the entry in place'

  test.for<[string, () => Promise<string>, string]>([
    ['the proof of another entry', () => log.proof(2, ['w1', 'w2']), `${OTHER} 2: the proof is of another one`],
    [
      'a proof of a log with another entry in its place',
      async () => (await witnessedLog(HASHES.with(3, HASHES[0] ?? ''))).proof(3, ['w1', 'w2']),
      `${OTHER} 3`,
    ],
    [
      'a changed hash of the path',
      async () => {
        const lines = (await log.proof(3, ['w1', 'w2'])).split('\n')
        return lines.with(3, Buffer.alloc(32, 1).toString('base64')).join('\n')
      },
      `${OTHER} 3`,
    ],
    ['another place', async () => (await log.proof(3, ['w1', 'w2'])).replace('index 3', 'index 4'), `${OTHER} 4`],
    [
      'a changed head',
      async () => (await log.proof(3, ['w1', 'w2'])).replace('\n6\n', '\n7\n'),
      'TAMPERED: proof: the head of the log is not signed by its key',
    ],
    [
      'a head that the log alone has signed',
      () => log.proof(3, []),
      'INCOMPLETE: proof: too few witnesses of the policy signed the head of the log: none',
    ],
    [
      'a head without a quorum of its group',
      () => log.proof(3, ['w2']),
      'INCOMPLETE: proof: too few witnesses of the policy signed the head of the log: w2',
    ],
    [
      'one witness twice',
      () => log.proof(3, ['w2', 'w2']),
      'INCOMPLETE: proof: too few witnesses of the policy signed the head of the log: w2',
    ],
    [
      'the signature of another head by a witness',
      async () => {
        const [ours, theirs] = [
          await log.proof(3, ['w1']),
          await (await witnessedLog(HASHES.slice(0, 5))).proof(3, ['w2']),
        ]
        return `${ours}${theirs.trimEnd().split('\n').at(-1)}\n`
      },
      'TAMPERED: proof: a signature of a witness does not verify',
    ],
    [
      'the head of another log with the same witnesses',
      async () => (await witnessedLog(HASHES, 'example.com/other')).proof(3, ['w1', 'w2']),
      'NOT CHECKED: proof: the policy does not name the log example.com/other',
    ],
    ['no proof', () => Promise.resolve('c2sp.org/tlog-proof@v1\n'), 'TAMPERED: proof: the proof is malformed'],
  ])('%s', async ([, proof, line]) => {
    shell.write('proof', await proof())
    const { code, lines } = await verified(['proof'], ['receipt.json'])
    expect([code, lines]).toEqual([1, [expect.stringContaining(line)]])
  })

  test('a receipt whose signature does not verify is not proved by its hash', async () => {
    const { receipt, signature } = receiptOf(CHAIN[3])
    shell.write('changed.json', { receipt: { ...receipt, amount: '6' }, signature })
    const { code, lines } = await verified(['proof-3'], ['changed.json'])
    expect([code, lines]).toEqual([
      1,
      [
        expect.stringMatching(/^TAMPERED: receipt of txn_3/),
        'NOT CHECKED: proof-3: there is no valid receipt or entry that it could be of',
      ],
    ])
  })
})

test.for<[string, readonly string[], number, string]>([
  ['a proof without a policy', ['--proof', 'proof-3', 'chain.json'], 2, '--policy and --proof need each other'],
  ['a policy without a proof', ['--policy', 'policy.txt', 'chain.json'], 2, '--policy and --proof need each other'],
  ['a proof with --txn', ['--txn', 'txn_1', '--policy', 'policy.txt', '--proof', 'proof-3'], 2, '--proof'],
  ['a checkpoint', ['--checkpoint', 'saved', '--policy', 'policy.txt'], 2, 'are for receipts, chains and exports'],
  ['a malformed policy', ['--policy', 'chain.json', '--proof', 'proof-3', 'chain.json'], 1, 'is no policy: line 1: '],
  ['a missing file', ['--policy', 'policy.txt', '--proof', 'nowhere', 'chain.json'], 1, 'there is no such file'],
])('%s is refused', async ([, args, code, message]) => {
  expect(await shell.run(['verify', ...args])).toMatchObject({ code, err: expect.stringContaining(message) })
})

test('names in a proof cannot write lines of the result', async () => {
  const witnesses: readonly WitnessName[] = ['w1', 'w2']
  const other = await witnessedLog(HASHES, 'example.com/\u009b2J\u202e')
  shell.write('names', await other.proof(3, witnesses))
  const { lines } = await verified(['names'], ['receipt.json'])
  expect(lines).toEqual([expect.stringMatching(/^NOT CHECKED: [ -~]+$/)])
})
