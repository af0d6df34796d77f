/** A witness signs what continues what it signed before, and nothing else. */
import { expect, test } from 'vitest'
import { parseCheckpoint } from '../../../api/client/log/checkpoint.ts'
import { noteText, parseNote, verifySignatures } from '../../../api/client/log/signed-note.ts'
import { createNoteSigner, type NoteSigner, signedHead } from '../../../infra/log/log-signer.ts'
import { Witness, type WitnessedHead } from '../../../infra/log/witness.ts'
import { parseWitnessRequest, witnessRequestText } from '../../../infra/log/witness-request.ts'
import { rootOf } from '../../../runtime/log/tree.ts'
import { AnyTree } from '../../support/log/any-tree.ts'

const NOW_MS = 1_900_000_000_500

async function aWitness() {
  const log = await createNoteSigner('example.com/log', 'log', Buffer.alloc(32, 1))
  const signer = await createNoteSigner('witness.example/w', 'witness', Buffer.alloc(32, 2))
  const heads = new Map<string, WitnessedHead>()
  const witness = new Witness({
    signer,
    logs: [log.key],
    nowMs: () => NOW_MS,
    store: {
      head: (origin) => Promise.resolve(heads.get(origin)),
      save: (head) => Promise.resolve(void heads.set(head.origin, head)),
    },
  })
  const add = async (
    tree: AnyTree,
    oldSize: number,
    by: NoteSigner = log,
    proof = tree.proof(Math.min(oldSize, tree.edge.size)),
  ) =>
    witness.add({
      oldSize,
      proof: await proof,
      checkpoint: signedHead(by, { size: tree.edge.size, root: new Uint8Array(rootOf(tree.edge)) }),
    })
  return { log, signer, heads, add, witness }
}

test('signs the first head, and each one that continues it, with the time', async () => {
  const { log, signer, heads, add } = await aWitness()
  const tree = new AnyTree('a', 'b', 'c')
  const first = await add(tree, 0)
  if (first.kind !== 'signed') throw new Error(first.kind)
  const head = signedHead(log, { size: 3, root: new Uint8Array(rootOf(tree.edge)) })
  const note = parseNote(noteText(head) + first.line)
  if (note === undefined) throw new Error('the note is malformed')
  expect(await verifySignatures(note, [log.key, signer.key])).toEqual([
    { key: log.key, atMs: undefined },
    { key: signer.key, atMs: 1_900_000_000_000 },
  ])
  expect(heads.get(log.key.name)?.note).toBe(noteText(note))
  expect(await add(tree.add('d', 'e'), 3)).toMatchObject({ kind: 'signed' })
  expect(await add(tree, 5)).toMatchObject({ kind: 'signed' })
  expect(heads.get(log.key.name)?.size).toBe(5)
})

test('a head that is sent again within a second is signed, and not stored again', async () => {
  const { add, heads } = await aWitness()
  const tree = new AnyTree('a', 'b', 'c')
  const first = await add(tree, 0)
  const stored = heads.get('example.com/log')
  expect(await add(tree, 3)).toEqual(first)
  expect(heads.get('example.com/log')).toBe(stored)
})

test('refuses a split view, a log that went back, and a late head', async () => {
  const { add, heads, log } = await aWitness()
  await add(new AnyTree('a', 'b', 'c'), 0)
  const fork = new AnyTree('a', 'X', 'c', 'd')
  expect(await add(fork, 3)).toMatchObject({ kind: 'inconsistent' })
  expect(await add(fork, 0)).toEqual({ kind: 'conflict', size: 3 })
  expect(await add(new AnyTree('a', 'b'), 2)).toEqual({ kind: 'conflict', size: 3 })
  expect(await add(new AnyTree('a', 'b'), 3)).toMatchObject({ kind: 'malformed' })
  expect(parseCheckpoint(heads.get(log.key.name)?.note.split('\n\n')[0] + '\n')?.size).toBe(3)
})

test('another root of the same size proves two histories, whatever the old size and the proof are', async () => {
  const { add, heads, log } = await aWitness()
  await add(new AnyTree('a', 'b'), 0)
  const other = new AnyTree('a', 'X')
  const shown = noteText(signedHead(log, { size: 2, root: new Uint8Array(rootOf(other.edge)) }))
  const fork = { head: { origin: log.key.name, size: 2 }, notes: [heads.get(log.key.name)?.note, shown] }
  expect(await add(other, 2)).toMatchObject({ kind: 'forked', fork })
  expect(await add(other, 2, log, Promise.resolve([new Uint8Array(32)]))).toMatchObject({ kind: 'forked', fork })
  expect(await add(other, 1)).toMatchObject({ kind: 'conflict', size: 2, fork })
  expect(await add(new AnyTree('a', 'b'), 1)).toEqual({ kind: 'conflict', size: 2 })
})

test('W1: of two requests at a time with the same old size, one is signed', async () => {
  const { add } = await aWitness()
  const answers = await Promise.all([add(new AnyTree('a'), 0), add(new AnyTree('b'), 0)])
  expect(answers).toMatchObject([{ kind: 'signed' }, { kind: 'conflict', size: 1 }])
})

test('W1: nothing is signed that could not be stored', async () => {
  const { log, signer } = await aWitness()
  const store = { head: () => Promise.resolve(undefined), save: () => Promise.reject(new Error('the disk is full')) }
  const witness = new Witness({ signer, logs: [log.key], nowMs: () => NOW_MS, store })
  const checkpoint = signedHead(log, { size: 1, root: new Uint8Array(rootOf(new AnyTree('a').edge)) })
  await expect(witness.add({ oldSize: 0, proof: [], checkpoint })).rejects.toThrow('the disk is full')
})

test('W2: refuses unknown logs, and heads that their log did not sign', async () => {
  const { add, log } = await aWitness()
  const tree = new AnyTree('a')
  const other = await createNoteSigner('example.com/other', 'log', Buffer.alloc(32, 1))
  expect(await add(tree, 0, other)).toMatchObject({ kind: 'unknown_log' })
  const namesake = await createNoteSigner(log.key.name, 'log', Buffer.alloc(32, 3))
  expect(await add(tree, 0, namesake)).toMatchObject({ kind: 'unsigned' })
  expect(await add(tree, 0, { key: log.key, sign: namesake.sign })).toMatchObject({ kind: 'unsigned' })
})

test('W3: the stored head has one signature of the log, however often the request repeats it', async () => {
  const { log, signer, heads, add, witness } = await aWitness()
  const tree = new AnyTree('a')
  await add(tree, 0)
  const head = signedHead(log, { size: 1, root: new Uint8Array(rootOf(tree.edge)) })
  const signatures = Array.from({ length: 64 }, () => head.signatures).flat()
  const repeated = parseWitnessRequest(
    witnessRequestText({ oldSize: 1, proof: [], checkpoint: { ...head, signatures } }),
  )
  if (repeated === undefined) throw new Error('the request is malformed')
  expect(await witness.add(repeated)).toMatchObject({ kind: 'signed' })
  const stored = parseNote(heads.get(log.key.name)?.note ?? '')
  expect(stored?.signatures.map(({ name }) => name)).toEqual([log.key.name, signer.key.name])
})

test('W3: a head that has no room for the signature of the witness is malformed, and not stored', async () => {
  const { log, heads, witness } = await aWitness()
  const head = signedHead(log, { size: 1, root: new Uint8Array(rootOf(new AnyTree('a').edge)) })
  const room = 65_536 - noteText(head).length
  const text = `${head.text}${'x'.repeat(room - 1)}\n`
  const [signature] = head.signatures
  if (signature === undefined) throw new Error('the head is not signed')
  const checkpoint = parseNote(noteText({ text, signatures: [{ ...signature, bytes: log.sign(text) }] }))
  if (checkpoint === undefined) throw new Error('the head is malformed')
  expect(await witness.add({ oldSize: 0, proof: [], checkpoint })).toMatchObject({ kind: 'malformed' })
  expect(heads.size).toBe(0)
})

test('an empty log has the root of nothing', async () => {
  const { add, log, witness } = await aWitness()
  const checkpoint = signedHead(log, { size: 0, root: new Uint8Array(32) })
  const notes = [noteText(checkpoint)]
  expect(await witness.add({ oldSize: 0, proof: [], checkpoint })).toMatchObject({ kind: 'forked', fork: { notes } })
  expect(await add(new AnyTree(), 0)).toMatchObject({ kind: 'signed' })
})

test('requests keep their bytes', async () => {
  const { log } = await aWitness()
  const tree = new AnyTree('a', 'b', 'c')
  const checkpoint = signedHead(log, { size: 3, root: new Uint8Array(rootOf(tree.edge)) })
  for (const oldSize of [0, 2, 3]) {
    const request = { oldSize, proof: await tree.proof(oldSize), checkpoint }
    expect(parseWitnessRequest(witnessRequestText(request))).toEqual(request)
  }
})

test.for([
  ['no size', 'old\n\n'],
  ['a size with a zero before it', 'old 01\n\n'],
  ['a proof of another length', 'old 1\nAAAA\n\n'],
  ['too many hashes', `old 1\n${`${Buffer.alloc(32).toString('base64')}\n`.repeat(64)}\n`],
  ['another first word', 'size 1\n\n'],
] as const)('a request with %s is malformed', async ([, beginning]) => {
  const { log } = await aWitness()
  const checkpoint = signedHead(log, { size: 1, root: new Uint8Array(rootOf(new AnyTree('a').edge)) })
  expect(parseWitnessRequest(`old 1\n\n${noteText(checkpoint)}`)).toBeDefined()
  expect(parseWitnessRequest(beginning + noteText(checkpoint))).toBeUndefined()
})
