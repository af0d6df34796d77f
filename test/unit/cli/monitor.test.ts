/** `ledger monitor` over HTTP: its lines, its exit codes and its files. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noteText, parseNote, verifierKeyText } from '../../../api/client/log/signed-note.ts'
import { createNoteSigner } from '../../../infra/log/log-signer.ts'
import { EntrySalts, logEntry } from '../../../infra/log/log-entry.ts'
import { Witness } from '../../../infra/log/witness.ts'
import { openWitnessFile } from '../../../infra/log/witness-file.ts'
import { createWitnessApp } from '../../../infra/log/witness-app.ts'
import type { WitnessedHead } from '../../../infra/log/witness.ts'
import { AnyLog, strangers } from '../../support/log/any-log.ts'
import { commandLine, serving } from './cli-fixture.ts'
import { chainOf, receiptOf, type Shown, shown } from './verify/signed-chain.ts'

const KEY = Buffer.alloc(32, 7)
const NO_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined }
const HOUR_MS = 3_600_000

/** A log that has the first entries of alice's chain, behind HTTP, and the command line. */
async function aLog(entries: number) {
  const signer = await createNoteSigner('example.com/log', 'log', Buffer.alloc(32, 1))
  const chain = chainOf(entries)
  const logged = chain.map(({ auditHash }, sequence) =>
    logEntry(new EntrySalts(KEY).of(sequence), Buffer.from(auditHash, 'hex')),
  )
  const log = new AnyLog(signer).add(...strangers(5), ...logged)
  const served = await serving((request, response) => {
    void log.get(request.url?.replace('/log/', '') ?? '', 0).then(({ status, body }) => {
      response.writeHead(status).end(body)
    })
  })
  const line = commandLine()
  line.write('policy', `log ${verifierKeyText(signer.key)}\nquorum none\n`)
  line.write('keys', `# of alice\nalice ${KEY.toString('base64')}\n`)
  const monitor = (...args: readonly string[]) =>
    line.run(['monitor', '--url', `${served.url}/log`, '--policy', 'policy', '--state', 'state', ...args])
  return { ...line, log, signer, chain, monitor, served }
}

test('nothing is wrong: a line for the log, one for each account, and exit code 0', async () => {
  const { monitor, chain, write, log } = await aLog(4)
  write('chain.ndjson', { account_id: 'alice', entries: chain.map(shown) })
  const first = await monitor('--account-key', 'keys', '--', 'chain.ndjson')
  expect(first).toEqual({
    code: 0,
    err: '',
    out: [
      'ok: the log example.com/log has 9 entries, 9 of them read now; its head is signed by no witness',
      'ok: alice: 4 known entries are in the log, and no others\n',
    ].join('\n'),
  })
  log.add(...strangers(1, 5))
  expect((await monitor()).out).toMatch(/has 10 entries, 1 of them read now/)
})

test('each --account-key and --head takes one file, and the documents may follow it', async () => {
  const { monitor, chain, write, log } = await aLog(4)
  write('chain.ndjson', { account_id: 'alice', entries: chain.map(shown) })
  write('bob.key', `bob ${Buffer.alloc(32, 8).toString('base64')}\n`)
  write('one.note', log.checkpoint)
  const heads = ['--head', 'one.note', '--head', 'one.note']
  const { code, out } = await monitor(...heads, '--account-key', 'bob.key', '--account-key', 'keys', 'chain.ndjson')
  expect([code, out.match(/^ok: (bob|alice): /gm)]).toEqual([0, ['ok: bob: ', 'ok: alice: ']])
})

test('a line names what is wrong with an account, and the exit code is 1', async () => {
  const { monitor, chain, write } = await aLog(4)
  const key = { account_id: 'alice', log_key: KEY.toString('base64') }
  write('response.json', key)
  write('receipts.ndjson', [receiptOf(chain[1]), receiptOf(chain[2])])
  const { code, out } = await monitor('--account-key', 'response.json', '--', 'receipts.ndjson')
  expect(code).toBe(1)
  expect(out.split('\n').slice(1)).toEqual([
    'NOT SHOWN: entry 0 of alice: the log has it, at place 5, and no given document does',
    'NOT SHOWN: entry 3 of alice: the log has it, at place 8, and no given document does',
    '',
  ])
  write('longer.json', { account_id: 'alice', entries: chainOf(6).map(shown) })
  const json = await monitor('--account-key', 'response.json', '--json', '--', 'longer.json')
  expect(json.code).toBe(1)
  expect(
    json.out
      .split('\n')
      .slice(1, -1)
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([
    { ok: false, verdict: 'missing', account_id: 'alice', sequence: 4 },
    { ok: false, verdict: 'missing', account_id: 'alice', sequence: 5 },
  ])
})

test('a document whose entry does not have its hash, or names another place, is tampered with', async () => {
  const { monitor, chain, write } = await aLog(4)
  const entries = chain.map(shown)
  const [first, second] = entries
  const changes = [
    [
      { payload: second?.payload.replace('"amount":"5"', '"amount":"6"') },
      'audit_hash is not the hash of its previous',
    ],
    [{ previous_hash: first?.previous_hash }, 'audit_hash is not the hash of its previous_hash and payload'],
    [{ payload: 'none' }, 'audit_hash is not the hash of its previous_hash and payload'],
    [{ txn_id: 'txn_2' }, 'payload has another txn_id'],
  ] as const
  for (const [change, problem] of changes) {
    write('changed.ndjson', { account_id: 'alice', entries: entries.with(1, { ...entries[1], ...change } as Shown) })
    const { code, out } = await monitor('--account-key', 'keys', 'changed.ndjson')
    expect(code).toBe(1)
    expect(out.split('\n').slice(1)).toEqual([
      expect.stringContaining(`TAMPERED: entry 1 of alice: in changed.ndjson its ${problem}`),
      '',
    ])
  }
})

test('a payload of another account is tampered with, and an erased payload is not', async () => {
  const { monitor, chain, write } = await aLog(3)
  const entries = chain.map(shown)
  write('erased.ndjson', { account_id: 'alice', entries: entries.map((entry) => ({ ...entry, payload: null })) })
  expect((await monitor('--account-key', 'keys', 'erased.ndjson')).code).toBe(0)
  write('bob.key', `bob ${KEY.toString('base64')}\n`)
  write('of-bob.ndjson', { account_id: 'bob', entries })
  const { code, out } = await monitor('--state', 'of-bob', '--account-key', 'bob.key', 'of-bob.ndjson')
  expect([code, out.match(/in of-bob.ndjson its payload has another account_id$/gm)?.length]).toEqual([1, 3])
})

test('a log that went back, and a head of another history that another was shown, are named', async () => {
  const { monitor, log, write, signer } = await aLog(2)
  const old = log.checkpoint
  log.add(...strangers(2, 5))
  await monitor()
  log.checkpoint = old
  expect(await monitor()).toMatchObject({ code: 1, out: expect.stringMatching(/^WENT BACK: /) as unknown })
  log.checkpoint = log.signed()
  write('other.note', new AnyLog(signer).add(...strangers(3, 100)).checkpoint)
  expect(await monitor('--head', 'other.note')).toMatchObject({
    code: 1,
    out: expect.stringContaining('\nFORKED: other.note: a head of 3 entries') as unknown,
  })
})

test('--head takes the file in which a witness keeps two heads of one size, of this log and of others', async () => {
  const { monitor, cwd, signer, write } = await aLog(2)
  const witness = openWitnessFile(join(cwd, 'w1.json'), 'witness.example/w')
  const heads = [strangers(9), strangers(9, 100)].map((entries) => new AnyLog(signer).add(...entries).checkpoint)
  const head = { size: 9, root: new Uint8Array(32) }
  await witness.saveFork({ head: { ...head, origin: 'example.com/other' }, notes: ['one', 'two'] })
  expect(await monitor('--head', 'w1.json.forks')).toMatchObject({
    code: 0,
    err: 'no given head is one of the log example.com/log\n',
  })
  await witness.saveFork({ head: { ...head, origin: 'example.com/log' }, notes: heads })
  witness.close()
  const { code, out } = await monitor('--head', 'w1.json.forks')
  expect([code, out.split('\n').at(-2)]).toEqual([
    1,
    'FORKED: w1.json.forks, line 2, note 1 and w1.json.forks, line 2, note 2: the log example.com/log signed two heads of 9 entries: it has two histories',
  ])
  write('damaged.forks', '{"log": 1}')
  expect(await monitor('--head', 'damaged.forks')).toMatchObject({
    code: 2,
    err: expect.stringContaining('damaged.forks, line 1: this is no pair of heads') as unknown,
  })
})

test('a log that cannot be reached is exit code 3, and a wrong file is exit code 2', async () => {
  const { monitor, write, served } = await aLog(2)
  write('bad.policy', 'quorum none\nlog none')
  write('bad.keys', 'alice none')
  write('not-json', 'none')
  for (const [args, message] of [
    [['--policy', 'bad.policy'], 'bad.policy: line 2: '],
    [['--policy', 'absent'], 'absent cannot be read'],
    [['--account-key', 'bad.keys'], 'bad.keys, line 1: this is no account ID with a log key'],
    [['--account-key', 'keys', '--', 'not-json'], 'not-json'],
    [['receipts'], 'the files need --account-key'],
    [['--state', 'keys'], 'is not the file of a monitor'],
    [['--max-age', '5'], '--max-age needs witnesses'],
  ] as const) {
    expect(await monitor(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) as unknown })
  }
  await served.stop()
  expect(await monitor()).toMatchObject({
    code: 3,
    out: '',
    err: expect.stringContaining('does not respond') as unknown,
  })
})

/** A policy with a witness that signed a head, `agoMs` before now. */
async function aWitness({ log, signer, write }: Awaited<ReturnType<typeof aLog>>, agoMs: number) {
  const by = await createNoteSigner('witness.example/w', 'witness', Buffer.alloc(32, 2))
  const heads = new Map<string, WitnessedHead>()
  const store = {
    head: (origin: string) => Promise.resolve(heads.get(origin)),
    save: (head: WitnessedHead) => Promise.resolve(void heads.set(head.origin, head)),
    saveFork: () => Promise.resolve(true),
  }
  const logs = [signer.key]
  const witness = new Witness({ signer: by, logs, store, nowMs: () => Date.now() - agoMs })
  const { url, stop } = await serving(createWitnessApp({ witness, logs, store, log: NO_LOG, nowMs: Date.now }))
  const lines = [`log ${verifierKeyText(signer.key)}`, `witness w ${verifierKeyText(by.key)} ${url}`, 'quorum w', '']
  write('policy', lines.join('\n'))
  const checkpoint = parseNote(log.checkpoint)
  if (checkpoint === undefined) throw new Error('the head is malformed')
  const signed = await witness.add({ oldSize: 0, proof: [], checkpoint })
  if (signed.kind !== 'signed') throw new Error(signed.kind)
  log.checkpoint = noteText(checkpoint) + signed.line
  return { stop, policy: lines.join('\n') }
}

test.for([
  [590_000, [], 0],
  [HOUR_MS, [], 1],
  [HOUR_MS, ['--max-age', '0'], 0],
] as const)('a head that was witnessed %i ms ago, with %j, gives exit code %i', async ([agoMs, args, code]) => {
  const served = await aLog(2)
  await aWitness(served, agoMs)
  expect((await served.monitor(...args)).code).toBe(code)
})

test('with --max-age a head that was witnessed longer ago is stale', async () => {
  const served = await aLog(2)
  await aWitness(served, HOUR_MS)
  expect(await served.monitor('--max-age', '4000')).toMatchObject({ code: 0, err: '' })
  const stale = await served.monitor('--max-age', '3000')
  expect(stale).toMatchObject({
    code: 1,
    out: expect.stringMatching(/\nSTALE: the log shows a head of 7 entries/) as unknown,
  })
})

test('the witnesses of the policy are asked: one that signed another history than the log shows is named', async () => {
  const served = await aLog(2)
  const { stop, policy } = await aWitness(served, HOUR_MS)
  served.write('policy', policy.replace('quorum w', 'quorum none'))
  expect(await served.monitor()).toMatchObject({ code: 0, err: '' })
  served.log.checkpoint = new AnyLog(served.signer).add(...strangers(5)).checkpoint
  expect(await served.monitor('--state', 'another')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/\nWENT BACK: witness w: a head of 7 entries is signed/) as unknown,
  })
  await stop()
  expect(await served.monitor('--state', 'another')).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^witness w: .* does not respond/) as unknown,
  })
})

test('with --follow it goes on until it is stopped, and prints what changes, and once that a witness is silent', async () => {
  const line = await aLog(2)
  const { run, log, served, write } = line
  const { stop: stopWitness, policy } = await aWitness(line, HOUR_MS)
  write('policy', policy.replace('quorum w', 'quorum none'))
  await stopWitness()
  const stop = new AbortController()
  const printed = (out: string): void => {
    const lines = out.split('\n').length - 1
    if (lines === 1) log.add(...strangers(1, 5))
    else stop.abort()
  }
  const args = [
    'monitor',
    '--url',
    `${served.url}/log`,
    '--policy',
    'policy',
    '--state',
    'state',
    '--follow',
    '--every',
    '1',
  ]
  const { code, out, err } = await run(args, '', {}, { printed, stopSignal: () => stop.signal })
  expect(code).toBe(0)
  expect(err.match(/^witness w: .* does not respond$/gm)).toHaveLength(1)
  expect(out.match(/has [0-9]+ entries/g)).toEqual(['has 7 entries', 'has 8 entries'])
})

test('with --follow a document that is absent for a moment is reported, and read again', async () => {
  const { run, served, write, chain, cwd, log } = await aLog(2)
  const entries = chain.map(shown)
  write('chain.json', { account_id: 'alice', entries: entries.slice(0, 1) })
  const stop = new AbortController()
  const printed = (out: string): void => {
    const lines = out.split('\n').length - 1
    if (lines === 2) rmSync(join(cwd, 'chain.json'))
    else if (lines > 2) stop.abort()
  }
  const wrote = (err: string): void => {
    if (!err.includes('chain.json cannot be read')) return
    log.add(...strangers(1, 5))
    write('chain.json', { account_id: 'alice', entries })
  }
  const files = ['--policy', 'policy', '--state', 'state', '--account-key', 'keys', 'chain.json']
  const args = ['monitor', '--url', `${served.url}/log`, '--follow', '--every', '1', ...files]
  const { out, err } = await run(args, '', {}, { printed, wrote, stopSignal: () => stop.signal })
  expect(err).toBe('chain.json cannot be read: there is no such file; trying again (Ctrl-C ends it)\n')
  expect(out).toContain('ok: alice: 2 known entries are in the log')
})

test('the address of the log may be in the policy, and is named if it shows no head or is malformed', async () => {
  const { run, served, write, signer } = await aLog(2)
  const key = verifierKeyText(signer.key)
  write('with-url', `log ${key} ${served.url}/log\nquorum none\n`)
  const args = ['monitor', '--state', 'state', '--policy']
  expect((await run([...args, 'with-url'])).code).toBe(0)
  const cases = [
    [['with-url', '--url', `${served.url}/none`], 3, `${served.url}/none shows no head at /checkpoint (status 404)`],
    [['with-url', '--url', 'hello'], 2, 'hello is no address of a log, such as https://ledger.example.com/log'],
    [['policy'], 2, '--url is needed: the policy has not one URL of a log'],
  ] as const
  for (const [more, code, message] of cases) {
    expect(await run([...args, ...more])).toMatchObject({ code, err: expect.stringContaining(message) as unknown })
  }
})
