/** A witness on the network: bounds of requests, and lines for its operator. */
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { noteText } from '../../../api/client/log/signed-note.ts'
import { createNoteSigner, signedHead } from '../../../infra/log/log-signer.ts'
import { createWitnessApp } from '../../../infra/log/witness-app.ts'
import { type LogFork, Witness, type WitnessedHead } from '../../../infra/log/witness.ts'
import { witnessRequestText } from '../../../infra/log/witness-request.ts'
import type { LogFields } from '../../../runtime/ports/log.ts'
import { AnyTree } from '../../support/log/any-tree.ts'
import { serving } from '../cli/cli-fixture.ts'

async function aWitness() {
  const log = await createNoteSigner('example.com/log', 'log', Buffer.alloc(32, 1))
  const signer = await createNoteSigner('witness.example/w', 'witness', Buffer.alloc(32, 2))
  const heads = new Map<string, WitnessedHead>()
  const store = {
    head: (origin: string) => Promise.resolve(heads.get(origin)),
    save: (head: WitnessedHead) => Promise.resolve(void heads.set(head.origin, head)),
  }
  const events: string[] = []
  const note =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      void events.push(`${level} ${event} ${String(Object.values(fields)[0])}`)
  let nowMs = 1_900_000_000_000
  const witness = new Witness({ signer, logs: [log.key], store, nowMs: () => nowMs })
  const forks: LogFork[] = []
  const saveFork = (fork: LogFork) => Promise.resolve(forks.push(fork) === 1)
  const app = createWitnessApp({
    witness,
    logs: [log.key],
    store: { ...store, saveFork },
    log: { info: note('info'), warn: note('warn'), error: note('error') },
    nowMs: () => nowMs,
  })
  const { url } = await serving(app)
  const requestOf = (tree: AnyTree, oldSize: number, by = log, proof: readonly Uint8Array<ArrayBuffer>[] = []) => {
    const { size, root } = tree.head()
    const checkpoint = signedHead(by, { size, root: new Uint8Array(root) })
    return witnessRequestText({ oldSize, proof, checkpoint })
  }
  const post = async (body: string) => {
    const response = await fetch(`${url}/add-checkpoint`, { method: 'POST', body })
    return { status: response.status, text: await response.text() }
  }
  return { log, url, requestOf, post, events, pass: (ms: number) => void (nowMs += ms) }
}

test('a request above 64 KiB is 413 before all of it is read, and one that ends early harms nothing', async () => {
  const { post, url, requestOf, events } = await aWitness()
  expect(await post('x'.repeat(65_536))).toMatchObject({ status: 400 })
  expect(await post('x'.repeat(65_537))).toMatchObject({ status: 413, text: 'The request is too long.\n' })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('POST /add-checkpoint HTTP/1.1\r\nhost: w\r\ncontent-length: 1000000000\r\n\r\n')
  socket.write('x'.repeat(70_000))
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'end')
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 413 /)
  socket.destroy()
  const leaving = connect(Number(new URL(url).port), '127.0.0.1')
  leaving.write('POST /add-checkpoint HTTP/1.1\r\nhost: w\r\ncontent-length: 1000\r\n\r\nold')
  leaving.end()
  leaving.resume()
  await once(leaving, 'close')
  expect(await post(requestOf(new AnyTree('a'), 0))).toMatchObject({ status: 200 })
  expect(events.filter((line) => line.includes('witness_failed'))).toEqual([])
})

test('statuses are those of C2SP, and the last signed head is shown', async () => {
  const { post, requestOf, url, log } = await aWitness()
  const path = `${url}/${createHash('sha256').update(log.key.name).digest('hex')}/checkpoint`
  expect((await fetch(path)).status).toBe(404)
  const tree = new AnyTree('a', 'b')
  expect((await post(requestOf(tree, 0))).status).toBe(200)
  expect(await post(requestOf(tree, 1))).toEqual({ status: 409, text: '2\n' })
  expect((await post(requestOf(new AnyTree('a'), 2))).status).toBe(400)
  expect((await post(requestOf(new AnyTree('a', 'X'), 2))).status).toBe(422)
  expect((await post(requestOf(new AnyTree('a', 'b', 'c'), 2))).status).toBe(422)
  const namesake = await createNoteSigner(log.key.name, 'log', Buffer.alloc(32, 3))
  expect((await post(requestOf(tree, 2, namesake))).status).toBe(403)
  const stranger = await createNoteSigner('another.example/log', 'log', Buffer.alloc(32, 1))
  expect((await post(requestOf(tree, 0, stranger))).status).toBe(404)
  const shown = await fetch(path)
  expect(await shown.text()).toContain(noteText(signedHead(log, { size: 2, root: new Uint8Array(tree.head().root) })))
  expect((await fetch(`${url}/add-checkpoint`)).status).toBe(405)
  expect((await fetch(`${url}/other`)).status).toBe(404)
})

test('an operator reads each kind of event at most once in a minute', async () => {
  const { post, requestOf, events, pass } = await aWitness()
  const tree = new AnyTree('a')
  expect((await post(requestOf(tree, 0))).status).toBe(200)
  const junk = requestOf(tree, 1, undefined, [new Uint8Array(32)])
  for (let count = 0; count < 3; count += 1) expect((await post(junk)).status).toBe(422)
  pass(60_000)
  expect((await post(junk)).status).toBe(422)
  expect(events).toEqual([
    expect.stringMatching(/^info head_signed example\.com\/log 1 /),
    expect.stringMatching(/^warn proof_refused example\.com\/log 1 /),
    expect.stringMatching(/^warn proof_refused example\.com\/log 1 /),
  ])
})

test('two heads of one size are told at once, and once, whatever strangers send before', async () => {
  const { post, requestOf, events } = await aWitness()
  const tree = new AnyTree('a', 'b')
  expect((await post(requestOf(tree, 0))).status).toBe(200)
  const later = new AnyTree('a', 'b', 'c')
  expect((await post(requestOf(later, 2, undefined, [new Uint8Array(32)]))).status).toBe(422)
  const fork = new AnyTree('a', 'X')
  expect((await post(requestOf(fork, 0))).status).toBe(409)
  expect((await post(requestOf(fork, 2))).status).toBe(422)
  expect(events).toEqual([
    expect.stringMatching(/^info head_signed /),
    expect.stringMatching(/^warn proof_refused example\.com\/log 3 /),
    expect.stringMatching(/^error log_forked example\.com\/log 2 /),
  ])
})
