/** A monitor names what is wrong with a log, and accepts one that only grows. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  cosignatureBytes,
  cosignedText,
  noteText,
  signatureLine,
  verifierKeyText,
} from '../../../api/client/log/signed-note.ts'
import { parsePolicy } from '../../../api/client/log/trust-policy.ts'
import { createNoteSigner, signedHead } from '../../../infra/log/log-signer.ts'
import { createLogReader, LogUnreachable } from '../../../infra/log/monitor/log-reader.ts'
import { monitorLog, type MonitorOptions } from '../../../infra/log/monitor/log-monitor.ts'
import { createMonitorFile } from '../../../infra/log/monitor/monitor-file.ts'
import { AnyLog, entryOf, hashOf, strangers } from '../../support/log/any-log.ts'

const NOW_MS = 1_900_000_000_000
const ALICE = { accountId: 'alice', key: Buffer.alloc(32, 7) }
const BOB = { accountId: 'bob', key: Buffer.alloc(32, 8) }

async function aMonitor() {
  const signer = await createNoteSigner('example.com/log', 'log', Buffer.alloc(32, 1))
  const log = new AnyLog(signer)
  const policy = await parsePolicy(`log ${verifierKeyText(signer.key)}\nquorum none`)
  const file = join(mkdtempSync(join(tmpdir(), 'ledger-monitor-')), 'state')
  const run = (options: Partial<MonitorOptions> = {}, of = log) =>
    monitorLog({
      reader: createLogReader(of.get),
      policy,
      store: createMonitorFile(file),
      accounts: [],
      known: [],
      ahead: 10,
      maxAgeMs: undefined,
      isAnew: false,
      others: () => Promise.resolve([]),
      nowMs: () => NOW_MS,
      onProgress: () => undefined,
      partEntries: 256,
      ...options,
    })
  return { log, run, signer, file, fork: () => new AnyLog(signer) }
}

const kindsOf = ({ findings }: Awaited<ReturnType<typeof monitorLog>>) => findings.map(({ kind }) => kind)

function known({ accountId }: { accountId: string }, ...sequences: readonly number[]) {
  return sequences.map((sequence) => ({ accountId, sequence, auditHash: hashOf(`entry ${sequence}`), atMs: 0 }))
}

test.for([1, 255, 256, 257, 1_000])(
  'a log of %i entries that grows is good, and each entry is read once',
  async (size) => {
    const { log, run } = await aMonitor()
    log.add(...strangers(size))
    expect(await run()).toMatchObject({ findings: [], head: { size }, read: size })
    for (const more of [1, 300, 70]) {
      log.add(...strangers(more, log.size))
      expect(await run()).toMatchObject({ findings: [], head: { size: log.size }, read: more })
    }
    expect(await run()).toMatchObject({ findings: [], read: 0 })
    expect(await run({ isAnew: true })).toMatchObject({ findings: [], read: log.size })
  },
)

test('M1: a head without the signature of its log is untrusted', async () => {
  const { log, run } = await aMonitor()
  log.add(...strangers(3))
  const other = await createNoteSigner('example.com/log', 'log', Buffer.alloc(32, 2))
  log.checkpoint = log.signed(other)
  expect(kindsOf(await run())).toEqual(['untrusted'])
  log.checkpoint = 'nothing'
  expect(kindsOf(await run())).toEqual(['untrusted'])
})

test('M1: a head that a witness signed with a time to come is named, and is no newer head of others', async () => {
  const { log, run, signer } = await aMonitor()
  const witness = await createNoteSigner('witness.example/w', 'witness', Buffer.alloc(32, 2))
  const keys = `log ${verifierKeyText(signer.key)}\nwitness w ${verifierKeyText(witness.key)}\n`
  const [policy, strict] = [await parsePolicy(`${keys}quorum none`), await parsePolicy(`${keys}quorum w`)]
  const signedAt = (seconds: number): string => {
    const [text = ''] = log.checkpoint.split('\n\n')
    const bytes = cosignatureBytes(seconds, witness.sign(cosignedText(`${text}\n`, seconds)))
    return log.checkpoint + signatureLine({ name: witness.key.name, keyId: witness.key.id, bytes })
  }
  const others = (note: string) => ({ policy, others: () => Promise.resolve([{ name: 'bob', note }]) })
  const [soon, later] = [NOW_MS / 1_000 + 300, NOW_MS / 1_000 + 301]
  const old = log.add(...strangers(3)).checkpoint
  const newer = log.add(...strangers(1, 3)).checkpoint
  const [newerSoon, newerLater] = [signedAt(soon), signedAt(later)]
  log.checkpoint = old
  expect(kindsOf(await run(others(newerSoon)))).toEqual([])
  expect(kindsOf(await run(others(newerLater)))).toEqual(['went_back'])
  log.checkpoint = newerSoon
  expect(kindsOf(await run({ policy: strict }))).toEqual([])
  log.checkpoint = newer
  log.checkpoint = signedAt(later)
  expect(kindsOf(await run({ policy: strict }))).toEqual(['untrusted'])
})

test('M2: an old head that is shown again, and a log that lost entries, went back', async () => {
  const { log, run } = await aMonitor()
  log.add(...strangers(300))
  const old = log.checkpoint
  log.add(...strangers(1, 300))
  await run()
  log.checkpoint = old
  expect(kindsOf(await run())).toEqual(['went_back'])
  log.checkpoint = log.signed()
  expect(kindsOf(await run())).toEqual([])
})

test.for([300, 301, 700])('M2: a log of %i entries with another history is forked', async (size) => {
  const { log, run, fork } = await aMonitor()
  log.add(...strangers(300))
  await run()
  const other = fork().add(...strangers(299), entryOf(ALICE.key, 0), ...strangers(size - 300, 300))
  const report = await run({}, other)
  expect(report).toMatchObject({ findings: [{ kind: 'forked', facts: { verified: log.checkpoint } }], head: undefined })
  // It keeps the history that it knows.
  expect(kindsOf(await run({}, log))).toEqual([])
  expect(kindsOf(await run({}, other))).toEqual(['forked'])
})

test.for([
  [0, 601],
  [0, 3],
  [1, 0],
] as const)('M2: wrong tiles are no proof of two histories (level %i, hash %i)', async ([level, index]) => {
  const { log, run, fork } = await aMonitor()
  log.add(...strangers(600))
  await run()
  const early = fork().add(...strangers(2))
  log.add(...strangers(300, 600))
  log.replaceHash(level, index, hashOf('another'))
  const others = () => Promise.resolve([{ name: 'bob', note: early.checkpoint }])
  expect(kindsOf(await run({ others }))).toEqual(['tampered'])
})

test('M3: a changed entry is named by its place, before and after it was verified', async () => {
  const { log, run } = await aMonitor()
  log.add(...strangers(600))
  log.replaceEntry(300, entryOf(ALICE.key, 0))
  expect(await run()).toMatchObject({ findings: [{ kind: 'tampered', facts: { place: 300 } }] })
  log.replaceEntry(300, strangers(1, 300)[0] ?? Buffer.alloc(0))
  expect(await run()).toMatchObject({ findings: [], read: 600 })
  log.add(...strangers(1, 600))
  log.replaceEntry(599, entryOf(ALICE.key, 0))
  expect(await run()).toMatchObject({ findings: [{ kind: 'tampered', facts: { place: 599 } }] })
})

test('M3: a changed hash of a tile is named', async () => {
  const { log, run } = await aMonitor()
  log.add(...strangers(600))
  log.replaceHash(1, 1, hashOf('another'))
  expect(await run()).toMatchObject({ findings: [{ kind: 'tampered', facts: { tile: '1/000.p/2' } }] })
})

test('M3: a head whose root is not that of the entries is tampered with', async () => {
  const { log, run, fork } = await aMonitor()
  log.add(...strangers(10))
  const other = fork().add(...strangers(9), entryOf(ALICE.key, 0))
  log.checkpoint = other.checkpoint
  expect(await run()).toMatchObject({ findings: [{ kind: 'tampered' }], head: undefined })
})

test('a log that does not show a tile of its head withholds it', async () => {
  const { log, run, fork } = await aMonitor()
  log.add(...strangers(300))
  const shorter = fork().add(...strangers(290))
  shorter.checkpoint = log.checkpoint
  expect(await run({}, shorter)).toMatchObject({ findings: [{ kind: 'withheld' }], head: undefined })
})

test('M4: an interrupted run continues without reading everything again', async () => {
  const { log, run } = await aMonitor()
  log.add(...strangers(256 * 20), entryOf(ALICE.key, 0))
  const options = { accounts: [ALICE], known: known(ALICE, 0) }
  let parts = 0
  const interrupted = run({
    ...options,
    onProgress: () => {
      parts += 1
      if (parts === 17) throw new LogUnreachable('the network is gone')
    },
  })
  await expect(interrupted).rejects.toThrow('the network is gone')
  const report = await run(options)
  expect(report).toMatchObject({ findings: [], accounts: [{ found: 1 }], head: { size: log.size } })
  expect(report.read).toBeLessThan(256 * 7)
})

test('M4: what an interrupted run read beyond a head is not used for that head', async () => {
  const { log, run } = await aMonitor()
  log.add(...strangers(256))
  const early = log.checkpoint
  log.add(...strangers(256 * 20, 256))
  const onProgress = (done: number): void => {
    if (done > 256 * 17) throw new LogUnreachable('the network is gone')
  }
  await expect(run({ onProgress })).rejects.toThrow('the network is gone')
  log.checkpoint = early
  expect(await run()).toMatchObject({ findings: [], head: { size: 256 } })
})

test('M5: heads that others have are compared: a split view is named', async () => {
  const { log, run, fork } = await aMonitor()
  log.add(...strangers(300))
  const early = log.checkpoint
  log.add(...strangers(300, 300))
  const others = (...notes: readonly string[]) => ({
    others: () => Promise.resolve(notes.map((note) => ({ name: 'bob', note }))),
  })
  expect(kindsOf(await run(others(early, log.checkpoint)))).toEqual([])
  const sameSize = fork().add(...strangers(599), entryOf(ALICE.key, 0))
  const smaller = fork().add(entryOf(ALICE.key, 0), ...strangers(299))
  expect(kindsOf(await run(others(sameSize.checkpoint)))).toEqual(['forked'])
  expect(kindsOf(await run(others(smaller.checkpoint)))).toEqual(['forked'])
  const newer = fork().add(...strangers(601))
  expect(kindsOf(await run(others(newer.checkpoint)))).toEqual(['went_back'])
  const stranger = await createNoteSigner('example.com/log', 'log', Buffer.alloc(32, 2))
  expect(kindsOf(await run(others(log.signed(stranger), 'nothing')))).toEqual(['untrusted', 'untrusted'])
})

test('M5: a head of no entries has the root of no entries', async () => {
  const { log, run, signer, fork } = await aMonitor()
  log.add(...strangers(3))
  const wrong = noteText(signedHead(signer, { size: 0, root: new Uint8Array(32) }))
  const others = (note: string) => ({ others: () => Promise.resolve([{ name: 'bob', note }]) })
  expect(kindsOf(await run(others(fork().add().checkpoint)))).toEqual([])
  expect(kindsOf(await run(others(wrong)))).toEqual(['forked'])
})

test('M5: two heads of one size are a split view, though the log shows neither of them, or nothing', async () => {
  const { log, run, fork } = await aMonitor()
  log.add(...strangers(3))
  const [one, two] = [fork().add(...strangers(9)), fork().add(...strangers(8), entryOf(ALICE.key, 0))]
  const heads = [one, two].map(({ checkpoint }, index) => ({ name: `head ${index}`, note: checkpoint }))
  const others = () => Promise.resolve(heads)
  const forked = {
    kind: 'forked',
    detail: 'head 0 and head 1: the log example.com/log signed two heads of 9 entries: it has two histories',
    facts: { size: 9, heads: [one.checkpoint, two.checkpoint] },
  }
  expect((await run({ others })).findings.slice(2)).toEqual([forked])
  log.checkpoint = 'nothing'
  expect((await run({ others })).findings.slice(1)).toEqual([forked])
  const reader = createLogReader(() => Promise.reject(new LogUnreachable('the network is gone')))
  expect(await run({ others, reader })).toMatchObject({
    findings: [{ kind: 'withheld', detail: 'the network is gone' }, forked],
  })
  await expect(run({ others: () => Promise.resolve(heads.slice(1)), reader })).rejects.toThrow('the network is gone')
})

test('A1: known entries are in the log; one of the last minute may not be there yet, an older one is missing', async () => {
  const { log, run } = await aMonitor()
  log.add(...strangers(10), entryOf(ALICE.key, 0), ...strangers(10, 10), entryOf(BOB.key, 0), entryOf(ALICE.key, 1))
  const accounts = [ALICE, BOB]
  const all = [...known(ALICE, 0, 1), ...known(BOB, 0)]
  expect(await run({ accounts, known: all })).toMatchObject({ findings: [], accounts: [{ found: 2 }, { found: 1 }] })
  const fresh = { ...all[0], accountId: 'bob', sequence: 1, auditHash: hashOf('entry 1'), atMs: NOW_MS - 59_000 }
  expect(await run({ accounts, known: [...all, fresh] })).toMatchObject({
    findings: [],
    accounts: [{}, { pending: 1 }],
  })
  const missing = await run({ accounts, known: [...all, { ...fresh, atMs: NOW_MS - 61_000 }] })
  expect(missing).toMatchObject({ findings: [{ kind: 'missing', facts: { account_id: 'bob', sequence: 1 } }] })
})

test('A2: an entry that no document has was not shown to the owner, and is named until one has it', async () => {
  const { log, run } = await aMonitor()
  log.add(entryOf(ALICE.key, 0), entryOf(ALICE.key, 1), entryOf(ALICE.key, 2))
  const accounts = [ALICE]
  for (const _ of ['first', 'second']) {
    expect(await run({ accounts, known: known(ALICE, 0, 2) })).toMatchObject({
      findings: [{ kind: 'not_shown', facts: { sequence: 1, places: [1] } }],
    })
  }
  expect(kindsOf(await run({ accounts, known: known(ALICE, 0, 1, 2) }))).toEqual([])
})

test('A2: two entries in one place of the chain, and another one than the owner knows, are named in every run', async () => {
  const { log, run } = await aMonitor()
  const options = { accounts: [ALICE], known: known(ALICE, 0, 1) }
  log.add(entryOf(ALICE.key, 0), entryOf(ALICE.key, 1))
  expect(kindsOf(await run(options))).toEqual([])
  log.add(...strangers(500), entryOf(ALICE.key, 1, 'another'))
  for (const _ of ['first', 'second']) {
    expect(await run(options)).toMatchObject({ findings: [{ kind: 'forked', facts: { places: [1, 502] } }] })
  }
  const other = { ...options.known[0], accountId: 'alice', sequence: 0, auditHash: hashOf('another'), atMs: 0 }
  const others = [other, ...known(ALICE, 1)]
  expect(kindsOf(await run({ ...options, known: others }))).toEqual(['tampered', 'forked'])
})

test('without an entry in documents there is one finding, and without one in the log a hint at the key', async () => {
  const { log, run } = await aMonitor()
  log.add(entryOf(ALICE.key, 0), entryOf(ALICE.key, 1))
  expect((await run({ accounts: [ALICE] })).findings).toEqual([
    {
      kind: 'not_shown',
      detail: 'the given documents have no entry of alice, and the log has 2: give its whole chain',
      facts: { account_id: 'alice', entries: 2 },
    },
  ])
  const wrong = { accountId: 'alice', key: BOB.key }
  const { findings } = await run({ accounts: [wrong], known: known(ALICE, 0) })
  expect(findings.map(({ detail }) => detail)).toEqual([
    'entry 0 of alice: it is not in the log, and no other entry is: the log key may be of another account',
  ])
})

test('A3: known entries that do not follow each other are tampered with, though the log has them', async () => {
  const { log, run } = await aMonitor()
  log.add(entryOf(ALICE.key, 0), entryOf(ALICE.key, 1), entryOf(ALICE.key, 2))
  const after = (...previous: readonly Buffer[]) =>
    known(ALICE, 0, 1, 2).map((entry, index) => ({ ...entry, previousHash: previous[index] }))
  const [zero, first, second] = [Buffer.alloc(32), hashOf('entry 0'), hashOf('entry 1')]
  const judged = (all: ReturnType<typeof after>) => run({ accounts: [ALICE], known: all })
  expect(kindsOf(await judged(after(zero, first, second)))).toEqual([])
  expect(kindsOf(await judged(after(zero, first, second).toSpliced(1, 1)))).toEqual(['not_shown'])
  expect(await judged(after(zero, first, first))).toMatchObject({
    findings: [{ kind: 'tampered', facts: { sequence: 2 }, detail: 'entry 2 of alice: it does not follow entry 1' }],
  })
  expect(await judged(after(first, first, second))).toMatchObject({
    findings: [{ kind: 'tampered', facts: { sequence: 0 } }],
  })
})

test('T1, T2: the order within a batch hides nothing, and a new account is searched from the first entry on', async () => {
  const { log, run } = await aMonitor()
  const chain = Array.from({ length: 200 }, (_, sequence) => entryOf(ALICE.key, sequence)).toReversed()
  log.add(...strangers(200), ...chain, ...strangers(200, 200))
  await run()
  const known200 = known(ALICE, ...chain.keys())
  // Only what is `ahead` of the last known entry is searched: with the first 10 known, the batch shows the rest step by step.
  const report = await run({ accounts: [ALICE], known: known200.slice(0, 10) })
  expect(report.read).toBe(log.size)
  expect(report.findings.at(-1)?.facts).toEqual({ account_id: 'alice', more: 170 })
  expect(await run({ accounts: [ALICE], known: known200 })).toMatchObject({ findings: [], read: 0 })
})

test('S2: a damaged file is not replaced', async () => {
  const { log, run, file } = await aMonitor()
  log.add(...strangers(10))
  await run()
  const text = readFileSync(file, 'utf8')
  for (const damaged of ['', '{}', text.replace('"size":10', '"size":9'), text.slice(0, -20)]) {
    writeFileSync(file, damaged)
    await expect(run()).rejects.toThrow('is not the file of a monitor, or is damaged')
    expect(readFileSync(file, 'utf8')).toBe(damaged)
  }
})
