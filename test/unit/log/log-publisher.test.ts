/** Heads are published with the signatures of a quorum of witnesses, which are asked as C2SP says. */
import { expect, test } from 'vitest'
import { parseNote, verifierKeyText } from '../../../api/client/log/signed-note.ts'
import { parsePolicy, trustedHead } from '../../../api/client/log/trust-policy.ts'
import { type AskWitness, LogPublisher } from '../../../infra/log/log-publisher.ts'
import { createNoteSigner } from '../../../infra/log/log-signer.ts'
import { Witness, type WitnessedHead } from '../../../infra/log/witness.ts'
import { parseWitnessRequest } from '../../../infra/log/witness-request.ts'
import type { LogFields } from '../../../runtime/ports/log.ts'
import type { PublishedLogHead } from '../../../runtime/ports/log-store.ts'
import { AnyTree } from '../../support/log/any-tree.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const NOW_MS = 1_900_000_000_000

/** A log with three witnesses, of which two suffice. `tree`: of the log, unless a publisher is given another one. */
async function aLog(tree: AnyTree) {
  const log = await createNoteSigner('example.com/log', 'log', Buffer.alloc(32, 1))
  const names = ['w1', 'w2', 'w3']
  const aheadMs = new Map<string, number>()
  const witnesses = await Promise.all(
    names.map(async (name, index) => {
      const signer = await createNoteSigner(`witness.example/${name}`, 'witness', Buffer.alloc(32, 10 + index))
      const heads = new Map<string, WitnessedHead>()
      const store = {
        head: (origin: string) => Promise.resolve(heads.get(origin)),
        save: (head: WitnessedHead) => Promise.resolve(void heads.set(head.origin, head)),
      }
      return {
        name,
        signer,
        heads,
        witness: new Witness({ signer, logs: [log.key], nowMs: () => NOW_MS + (aheadMs.get(name) ?? 0), store }),
      }
    }),
  )
  const lines = witnesses.map(({ name, signer }) => `witness ${name} ${verifierKeyText(signer.key)} http://${name}/`)
  const policy = await parsePolicy(
    [`log ${verifierKeyText(log.key)}`, ...lines, `group two 2 ${names.join(' ')}`, 'quorum two'].join('\n'),
  )
  const dead = new Set<string>()
  const silent = new Set<string>()
  const refusing = new Map<string, Awaited<ReturnType<AskWitness>>>()
  const asked: string[] = []
  const ask: AskWitness = async (url, body, stopped) => {
    const { host } = new URL(url)
    asked.push(`${host} ${body.split('\n')[0]}`)
    const found = witnesses.find(({ name }) => name === host)
    const request = parseWitnessRequest(body)
    if (found === undefined || request === undefined || dead.has(host)) {
      throw Object.assign(new Error(`connect ${host}`), { code: 'ECONNREFUSED' })
    }
    const refusal = refusing.get(host)
    if (refusal !== undefined) return refusal
    if (silent.has(host)) {
      return new Promise((_, reject) => {
        stopped.addEventListener('abort', () => reject(new DOMException('of a test', 'AbortError')))
      })
    }
    const answer = await found.witness.add(request)
    if (answer.kind === 'signed') return { status: 200, body: answer.line }
    if (answer.kind === 'conflict') return { status: 409, body: `${answer.size}\n` }
    return { status: answer.kind === 'inconsistent' || answer.kind === 'forked' ? 422 : 403, body: answer.problem }
  }
  const published: PublishedLogHead[] = []
  const events: string[] = []
  const reports: string[] = []
  const note = (event: string, fields?: LogFields) => {
    events.push(event)
    reports.push([event, ...Object.values(fields ?? {})].join(' '))
  }
  /** Events at levels that `ledger up` shows. */
  const shown: string[] = []
  const show = (event: string, fields?: LogFields) => {
    note(event, fields)
    shown.push(reports.at(-1) ?? '')
  }
  const clock = createManualClock(NOW_MS)
  const startPublisher = (of = tree) =>
    new LogPublisher({
      signer: log,
      policy,
      ask,
      clock,
      log: { info: note, warn: show, error: show },
      store: {
        head: () => Promise.resolve({ edge: of.edge, position: '' }),
        hashes: of.hashes,
        publish: (head) => {
          published.push(head)
          return Promise.resolve(true)
        },
      },
    })
  const witnessesOf = async (head: PublishedLogHead | undefined) => {
    const parsed = parseNote(head?.note ?? '')
    const trusted = parsed && (await trustedHead(parsed, policy))
    return trusted === undefined || 'ok' in trusted ? trusted : [trusted.size, ...trusted.witnesses]
  }
  const faults = { dead, silent, refusing, aheadMs }
  return { startPublisher, published, events, reports, shown, asked, ...faults, clock, witnessesOf, witnesses, log }
}

test('P1: a head has the signatures of all witnesses that answer, and waits for a quorum', async () => {
  const tree = new AnyTree('a', 'b', 'c')
  const { startPublisher, published, events, shown, dead, clock, witnessesOf } = await aLog(tree)
  const publisher = startPublisher()
  publisher.take(tree.head())
  await expect.poll(() => witnessesOf(published.at(-1))).toEqual([3, 'w1', 'w2', 'w3'])
  dead.add('w1')
  publisher.take(tree.add('d').head())
  await expect.poll(() => witnessesOf(published.at(-1))).toEqual([4, 'w2', 'w3'])
  dead.add('w2')
  publisher.take(tree.add('e').head())
  await expect.poll(() => events).toContain('log_not_witnessed')
  publisher.take(tree.add('f').head())
  await clock.pass(5_000)
  expect(published.length).toBe(2)
  expect(publisher.measures()).toEqual({ publishedSize: 4, ageMs: 5_000 })
  dead.clear()
  await expect
    .poll(async () => {
      await clock.pass(1_000)
      return witnessesOf(published.at(-1))
    })
    .toEqual([6, 'w1', 'w2', 'w3'])
  expect(shown).toContain('log_witnessed 6')
  expect(publisher.measures()).toEqual({ publishedSize: 6, ageMs: 0 })
  await publisher.stop()
})

test('P1: a signature counts only with a time that is at most five minutes off', async () => {
  const tree = new AnyTree('a')
  const { startPublisher, published, events, aheadMs, witnessesOf } = await aLog(tree)
  aheadMs.set('w1', 300_000).set('w2', 301_000).set('w3', -300_000)
  const publisher = startPublisher()
  publisher.take(tree.head())
  await expect.poll(() => witnessesOf(published.at(-1))).toEqual([1, 'w1', 'w3'])
  aheadMs.set('w2', -301_000)
  publisher.take(tree.add('b').head())
  await expect.poll(() => witnessesOf(published.at(-1))).toEqual([2, 'w1', 'w3'])
  expect(events).toEqual(['witness_clock_wrong', 'witness_clock_wrong'])
  await publisher.stop()
})

test('a witness that is silent or refuses is reported once, until that changes or it signs again', async () => {
  const tree = new AnyTree('a', 'b')
  const { startPublisher, published, reports, dead, refusing, clock } = await aLog(tree)
  const publisher = startPublisher()
  const publishNext = async (line: string) => {
    const { length } = published
    publisher.take(tree.add(line).head())
    await expect
      .poll(async () => {
        await clock.pass(500)
        return published.length
      })
      .toBe(length + 1)
  }
  dead.add('w1')
  await publishNext('c')
  await publishNext('d')
  const silent = 'witness_silent w1 http://w1/add-checkpoint ECONNREFUSED'
  expect(reports).toEqual([silent])
  dead.clear()
  refusing.set('w1', { status: 404, body: `\u001b[2J unknown log\nmore` })
  await publishNext('e')
  await publishNext('f')
  refusing.set('w1', { status: 403, body: 'x'.repeat(201) })
  await publishNext('g')
  const refused = ['witness_refused w1 404 ?[2J unknown log', `witness_refused w1 403 ${'x'.repeat(200)}`]
  expect(reports).toEqual([silent, ...refused])
  refusing.clear()
  await publishNext('h')
  dead.add('w1')
  await publishNext('i')
  expect(reports).toEqual([silent, ...refused, silent])
  await publisher.stop()
})

test('P2: each witness is asked from the size that it saw last, of which it is asked after a start', async () => {
  const tree = new AnyTree('a', 'b', 'c')
  const { startPublisher, published, asked, witnessesOf } = await aLog(tree)
  const first = startPublisher()
  first.take(tree.head())
  await expect.poll(() => published.length).toBe(1)
  first.take(tree.add('d', 'e').head())
  await expect.poll(() => published.length).toBe(2)
  expect(asked.filter((line) => line.startsWith('w2'))).toEqual(['w2 old 0', 'w2 old 3'])
  await first.stop()
  const second = startPublisher()
  second.take(tree.add('f').head())
  await expect.poll(() => witnessesOf(published.at(-1))).toEqual([6, 'w1', 'w2', 'w3'])
  expect(asked.filter((line) => line.startsWith('w2')).slice(2)).toEqual(['w2 old 0', 'w2 old 5'])
  await second.stop()
})

test('P3: a witness that does not reply holds up no head that others have signed', async () => {
  const tree = new AnyTree('a', 'b', 'c')
  const { startPublisher, published, silent, clock, witnessesOf } = await aLog(tree)
  silent.add('w2')
  const publisher = startPublisher()
  publisher.take(tree.head())
  await expect
    .poll(async () => {
      await clock.pass(500)
      return witnessesOf(published.at(-1))
    })
    .toEqual([3, 'w1', 'w3'])
  await publisher.stop()
})

test('a stop waits for no witness, and reports none', async () => {
  const tree = new AnyTree('a', 'b', 'c')
  const { startPublisher, published, asked, silent, events } = await aLog(tree)
  for (const name of ['w1', 'w2', 'w3']) silent.add(name)
  const publisher = startPublisher()
  publisher.take(tree.head())
  await expect.poll(() => asked.length).toBe(3)
  let isStopped = false
  void publisher.stop().then(() => {
    isStopped = true
  })
  await expect.poll(() => isStopped).toBe(true)
  expect([published, events]).toEqual([[], []])
})

test('P4: an edge whose head another edge has extended gives it up without an error', async () => {
  const tree = new AnyTree('a', 'b', 'c')
  const { startPublisher, published, events, dead, clock, witnessesOf } = await aLog(tree)
  const [paused, other] = [startPublisher(), startPublisher()]
  const [before, after] = [tree.head(), tree.add('d').head()]
  dead.add('w2').add('w3')
  other.take(after)
  await expect.poll(() => events).toContain('log_not_witnessed')
  events.length = 0
  paused.take(before)
  await expect.poll(() => paused.measures().publishedSize).toBe(3)
  expect(events.filter((name) => name !== 'witness_silent')).toEqual([])
  dead.clear()
  await expect
    .poll(async () => {
      await clock.pass(1_000)
      return witnessesOf(published.at(-1))
    })
    .toEqual([4, 'w1', 'w2', 'w3'])
  for (const publisher of [paused, other]) await publisher.stop()
})

test('P5: while nothing is added, a head is published again each minute, and by an edge that starts', async () => {
  const tree = new AnyTree('a', 'b', 'c')
  const { startPublisher, published, clock, witnessesOf } = await aLog(tree)
  const publisher = startPublisher()
  publisher.take(tree.head())
  await expect.poll(() => published.length).toBe(1)
  await clock.pass(59_000)
  publisher.take(tree.head())
  await clock.pass(900)
  expect(published.length).toBe(1)
  await clock.pass(100)
  publisher.take(tree.head())
  await expect.poll(() => published.length).toBe(2)
  const started = startPublisher()
  started.take(tree.head())
  await expect.poll(() => published.length).toBe(3)
  expect(await witnessesOf(published.at(-1))).toEqual([3, 'w1', 'w2', 'w3'])
  for (const one of [publisher, started]) await one.stop()
})

test('an empty log has no head to publish', async () => {
  const tree = new AnyTree()
  const { startPublisher, published, asked, clock } = await aLog(tree)
  const publisher = startPublisher()
  publisher.take(tree.head())
  await clock.pass(120_000)
  publisher.take(tree.head())
  await clock.pass(1_000)
  expect([published, asked]).toEqual([[], []])
  await publisher.stop()
})

test('P2: a log that went back, and one with another history, are reported and not published', async () => {
  const tree = new AnyTree('a', 'b', 'c')
  const { startPublisher, published, events, clock } = await aLog(tree)
  const first = startPublisher()
  first.take(tree.head())
  await expect.poll(() => published.length).toBe(1)
  await first.stop()
  for (const [other, event] of [
    [new AnyTree('a', 'b'), 'log_behind_witness'],
    [new AnyTree('a', 'b', 'X'), 'log_inconsistent'],
    [new AnyTree('a', 'b', 'X', 'd'), 'log_inconsistent'],
  ] as const) {
    events.length = 0
    const publisher = startPublisher(other)
    publisher.take(other.head())
    await expect.poll(() => events).toContain('log_not_witnessed')
    expect(events.filter((name) => name === event)).toEqual([event, event, event])
    const stopped = publisher.stop()
    await clock.pass(1_000)
    await stopped
  }
  expect(published.length).toBe(1)
})
