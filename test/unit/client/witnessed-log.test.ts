/** The formats of C2SP, by values of other implementations: golang.org/x/mod/sumdb/note, and the trees of RFC 6962. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkpointText, parseCheckpoint } from '../../../api/client/log/checkpoint.ts'
import { logProofText, parseLogProof, verifyLogProof } from '../../../api/client/log/log-proof.ts'
import { entrySalt, logEntry } from '../../../api/client/log/log-entry.ts'
import { isConsistent, isIncluded, leafHash, nodeHash } from '../../../api/client/log/merkle.ts'
import {
  cosignatureBytes,
  cosignedText,
  Ed25519Missing,
  type NoteKey,
  type NoteKeyKind,
  noteKey,
  noteText,
  parseNote,
  parseVerifierKey,
  signatureLine,
  verifierKeyText,
  verifySignatures,
} from '../../../api/client/log/signed-note.ts'
import { parsePolicy, PolicyMalformed } from '../../../api/client/log/trust-policy.ts'

const PETER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
const BY_PETER =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'
const FOO = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
const BY_FOO =
  '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'

async function keyOf(text: string): Promise<NoteKey> {
  const key = await parseVerifierKey(text)
  if (key === undefined) throw new Error(`${text} is malformed`)
  return key
}

async function signersOf(note: string, ...keys: readonly NoteKey[]) {
  const parsed = parseNote(note)
  if (parsed === undefined) return 'malformed'
  const verified = await verifySignatures(parsed, keys)
  return verified?.map(({ key, atMs }) => [key.name, atMs]) ?? 'refused'
}

test('notes of other implementations verify, and keep their bytes', async () => {
  const [peter, foo] = [await keyOf(PETER), await keyOf(FOO)]
  expect(await signersOf(`${TEXT}\n${BY_PETER}`, peter, foo)).toEqual([['PeterNeumann', undefined]])
  expect(await signersOf(`This is an example message.\n\n${BY_FOO}`, foo)).toEqual([['example.com/foo', undefined]])
  const parsed = parseNote(`${TEXT}\n${BY_PETER}`)
  expect(parsed === undefined ? '' : noteText(parsed)).toBe(`${TEXT}\n${BY_PETER}`)
  expect([verifierKeyText(peter), verifierKeyText(foo)]).toEqual([PETER, FOO])
})

test('N1: a signature of a witness without a time spoils the note', async () => {
  const witness = await signerOf('w', 'witness')
  expect(await signersOf(`${TEXT}\n${signedBy(witness, TEXT, 1)}`, witness.key)).toEqual([['w', 1_000]])
  expect(await signersOf(`${TEXT}\n${signedBy(witness, TEXT, 0)}`, witness.key)).toBe('refused')
})

test('N1: unknown signatures are ignored, and a wrong one by a known key spoils the note', async () => {
  const [peter, foo] = [await keyOf(PETER), await keyOf(FOO)]
  expect(await signersOf(`${TEXT}\n${BY_PETER}${BY_FOO}`, peter)).toEqual([['PeterNeumann', undefined]])
  expect(await signersOf(`${TEXT}\n${BY_PETER}${BY_FOO}`, peter, foo)).toBe('refused')
  expect(await signersOf(`${TEXT}\n${BY_PETER}`)).toEqual([])
  expect(await signersOf(`${TEXT.replace('answer', 'question')}\n${BY_PETER}`, peter)).toBe('refused')
})

test.for([
  ['no signature', TEXT],
  ['no empty line', `${TEXT}${BY_PETER}`],
  ['no final newline', `${TEXT}\n${BY_PETER.trim()}`],
  ['another dash', `${TEXT}\n${BY_PETER.replace('—', '-')}`],
  ['a control character', `${TEXT}\r\n\n${BY_PETER}`],
  ['a name with a plus sign', `${TEXT}\n${BY_PETER.replace('PeterN', 'Peter+N')}`],
  ['padding that is missing', `${TEXT}\n${BY_PETER.replace('=', '')}`],
  ['bits behind the last byte', `${TEXT}\n${BY_PETER.replace('nAM=', 'nAN=')}`],
  ['a line that is no signature', `${TEXT}\n${BY_PETER}x\n`],
] as const)('N2: a note with %s is malformed', ([, note]) => {
  expect(parseNote(note)).toBeUndefined()
})

test('N2: every other spelling of a key is malformed', async () => {
  for (let from = 0; from < PETER.length; from += 1) {
    const changed =
      PETER.slice(0, from) + String.fromCodePoint((PETER.codePointAt(from) ?? 0) + 1) + PETER.slice(from + 1)
    expect([changed, await parseVerifierKey(changed)]).toEqual([changed, undefined])
    expect(await parseVerifierKey(PETER.slice(0, from))).toBeUndefined()
  }
})

/** Leaves of the test trees of RFC 6962's implementations. */
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
const ROOT_OF_8 = '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'
const ROOT_OF_6 = '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'

function bytesOf(hex: string) {
  return new Uint8Array(Buffer.from(hex, 'hex'))
}

type Bytes = ReturnType<typeof bytesOf>

/** By the definition of RFC 6962, section 2.1. */
async function rootOf(leaves: readonly Bytes[]): Promise<Bytes> {
  const [first] = leaves
  if (leaves.length === 1 && first !== undefined) return leafHash(first)
  const split = splitOf(leaves.length)
  return nodeHash(await rootOf(leaves.slice(0, split)), await rootOf(leaves.slice(split)))
}

function splitOf(size: number): number {
  let split = 1
  while (2 * split < size) split *= 2
  return split
}

/** By the definition of RFC 6962, section 2.1.1. */
async function pathOf(index: number, leaves: readonly Bytes[]): Promise<readonly Bytes[]> {
  if (leaves.length <= 1) return []
  const split = splitOf(leaves.length)
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)]
  if (index < split) return [...(await pathOf(index, left)), await rootOf(right)]
  return [...(await pathOf(index - split, right)), await rootOf(left)]
}

/** By the definition of RFC 6962, section 2.1.2. */
async function consistencyOf(size: number, leaves: readonly Bytes[], isWhole = true): Promise<readonly Bytes[]> {
  if (size === leaves.length) return isWhole ? [] : [await rootOf(leaves)]
  const split = splitOf(leaves.length)
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)]
  if (size <= split) return [...(await consistencyOf(size, left, isWhole)), await rootOf(right)]
  return [...(await consistencyOf(size - split, right, false)), await rootOf(left)]
}

test('trees have the roots of other implementations', async () => {
  const leaves = LEAVES.map(bytesOf)
  expect(await rootOf(leaves)).toEqual(bytesOf(ROOT_OF_8))
  const six = { size: 6, root: bytesOf(ROOT_OF_6) }
  const proof = [
    '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ].map(bytesOf)
  expect(await isConsistent(six, { size: 8, root: bytesOf(ROOT_OF_8) }, proof)).toBe(true)
})

test('every place in every small tree has a proof, which proves no other place, entry or tree', async () => {
  for (let size = 1; size <= 12; size += 1) {
    const leaves = Array.from({ length: size }, (_, index) => Uint8Array.of(index))
    const head = { size, root: await rootOf(leaves) }
    for (const [index, entry] of leaves.entries()) {
      const [leaf, path] = [await leafHash(entry), await pathOf(index, leaves)]
      expect([size, index, await isIncluded(leaf, index, head, path)]).toEqual([size, index, true])
      const others = [
        isIncluded(leaf, index + 1, head, path),
        isIncluded(await leafHash(Uint8Array.of(99)), index, head, path),
        isIncluded(leaf, index, head, [...path, leaf]),
        isIncluded(leaf, index, { ...head, root: leaf }, [...path, leaf]),
        ...path.map((_, at) => isIncluded(leaf, index, head, path.toSpliced(at, 1))),
      ]
      expect([size, index, await Promise.all(others)]).toEqual([size, index, others.map(() => false)])
    }
  }
})

test('every tree continues each smaller one, and no other', async () => {
  const leaves = Array.from({ length: 12 }, (_, index) => Uint8Array.of(index))
  for (let now = 1; now <= leaves.length; now += 1) {
    const second = { size: now, root: await rootOf(leaves.slice(0, now)) }
    for (let old = 1; old <= now; old += 1) {
      const first = { size: old, root: await rootOf(leaves.slice(0, old)) }
      const proof = await consistencyOf(old, leaves.slice(0, now))
      expect([old, now, await isConsistent(first, second, proof)]).toEqual([old, now, true])
      const other = { size: old, root: await rootOf([Uint8Array.of(99), ...leaves.slice(1, old)]) }
      expect(await isConsistent(other, second, proof)).toBe(false)
      expect(await isConsistent(first, { ...second, root: other.root }, proof)).toBe(false)
      expect(await isConsistent(first, second, [...proof, second.root])).toBe(false)
    }
    expect(await isConsistent({ size: 0, root: bytesOf(ROOT_OF_6) }, second, [])).toBe(true)
    expect(await isConsistent(second, { size: now - 1, root: second.root }, [])).toBe(false)
  }
})

interface Signer {
  readonly key: NoteKey
  readonly secret: KeyObject
}

async function signerOf(name: string, kind: NoteKeyKind): Promise<Signer> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  return { key: await noteKey(name, kind, new Uint8Array(Buffer.from(x, 'base64url'))), secret: privateKey }
}

function signedBy({ key, secret }: Signer, text: string, seconds = 1_900_000_000): string {
  const raw = (over: string): Bytes => new Uint8Array(sign(null, Buffer.from(over), secret))
  const bytes = key.kind === 'log' ? raw(text) : cosignatureBytes(seconds, raw(cosignedText(text, seconds)))
  return signatureLine({ name: key.name, keyId: key.id, bytes })
}

/** A log with a few entries, two of three witnesses, and a proof of one entry. */
async function aLog() {
  const log = await signerOf('example.com/ledger', 'log')
  const witnesses = await Promise.all(['w1', 'w2', 'w3'].map((name) => signerOf(`witness.example/${name}`, 'witness')))
  const policy = await parsePolicy(
    [
      '# all of it',
      `log ${verifierKeyText(log.key)} https://log.example/log`,
      ...witnesses.map(({ key }, index) => `witness w${index + 1} ${verifierKeyText(key)}`),
      'group two 2 w1 w2 w3',
      '\tquorum   two ',
    ].join('\n'),
  )
  const auditHash = `sha256:${createHash('sha256').update('an entry').digest('hex')}`
  const salt = await entrySalt(new Uint8Array(32).fill(7), 3)
  const entry = await logEntry(salt, auditHash)
  const leaves = [Uint8Array.of(1), entry ?? new Uint8Array(), Uint8Array.of(2), Uint8Array.of(3), Uint8Array.of(4)]
  const text = checkpointText({ origin: log.key.name, size: leaves.length, root: await rootOf(leaves) })
  const proofWith = async (...signers: readonly Signer[]): Promise<string> => {
    const checkpoint = parseNote(`${text}\n${signers.map((signer) => signedBy(signer, text)).join('')}`)
    if (checkpoint === undefined) throw new Error('the note is malformed')
    return logProofText({ salt, index: 1, hashes: await pathOf(1, leaves), checkpoint })
  }
  return { log, witnesses, policy, auditHash, proofWith }
}

test('an entry is proved by its hash, a head that log and witnesses signed, and nothing else', async () => {
  const { log, witnesses, policy, auditHash, proofWith } = await aLog()
  const [first, second] = witnesses
  if (first === undefined || second === undefined) throw new Error('there are witnesses')
  const proof = await proofWith(log, first, second)
  expect(await verifyLogProof(proof, auditHash, policy)).toMatchObject({
    ok: true,
    index: 1,
    head: { origin: 'example.com/ledger', size: 5, witnesses: ['w1', 'w2'], witnessedAtMs: 1_900_000_000_000 },
  })
  expect(
    logProofText(
      parseLogProof(proof) ?? {
        salt: new Uint8Array(),
        index: 0,
        hashes: [],
        checkpoint: { text: '', signatures: [] },
      },
    ),
  ).toBe(proof)
  const logKey = Buffer.alloc(32, 7).toString('base64')
  expect(await verifyLogProof(proof, auditHash, policy, { logKey, sequence: 3 })).toMatchObject({
    ok: true,
    proved: expect.arrayContaining(['All who have the log key find it as entry 3 of the account.']),
  })
  for (const place of [
    { logKey, sequence: 4 },
    { logKey: Buffer.alloc(32, 8).toString('base64'), sequence: 3 },
  ]) {
    const verdict = await verifyLogProof(proof, auditHash, policy, place)
    expect(verdict).toMatchObject({ ok: false, reason: 'tampered', problem: expect.stringContaining('as entry') })
  }
  await expect(verifyLogProof(proof, auditHash, policy, { logKey: 'x', sequence: 3 })).rejects.toThrow('32 bytes')
  const other = `sha256:${'0'.repeat(64)}`
  expect(await verifyLogProof(proof, other, policy)).toMatchObject({
    ok: false,
    problem: expect.stringContaining('does not have'),
  })
  for (const [signers, reason, problem] of [
    [[log], 'incomplete', 'too few witnesses of the policy signed the head of the log: none'],
    [[log, first, first], 'incomplete', 'too few witnesses of the policy signed the head of the log: w1'],
    [[first, second], 'tampered', 'the head of the log is not signed by its key'],
    [[log, first, { ...second, secret: first.secret }], 'tampered', 'a signature of a witness does not verify'],
    [[{ ...log, secret: first.secret }, first, second], 'tampered', 'the head of the log is not signed by its key'],
  ] as const) {
    const verdict = await verifyLogProof(await proofWith(...signers), auditHash, policy)
    expect(verdict).toEqual({ ok: false, reason, problem })
  }
  const ofOther = await parsePolicy(`log ${verifierKeyText((await signerOf('other', 'log')).key)}\nquorum none`)
  expect(await verifyLogProof(proof, auditHash, ofOther)).toEqual({
    ok: false,
    reason: 'wrong_keys',
    problem: 'the policy does not name the log example.com/ledger',
  })
})

test('where WebCrypto has no Ed25519, no proof is called tampered', async () => {
  const { log, witnesses, policy, auditHash, proofWith } = await aLog()
  const proof = await proofWith(log, ...witnesses)
  vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new DOMException('', 'NotSupportedError'))
  onTestFinished(() => void vi.restoreAllMocks())
  await expect(verifyLogProof(proof, auditHash, policy)).rejects.toThrow(Ed25519Missing)
})

test('a changed line of a proof is refused', async () => {
  const { log, witnesses, policy, auditHash, proofWith } = await aLog()
  const lines = (await proofWith(log, ...witnesses)).split('\n')
  const changed = (line: string): string =>
    line.replace(/[0-9A-Za-z](?=[^0-9A-Za-z]*$)/, (last) => (last === '1' ? '2' : '1'))
  for (const [at, line] of lines.entries()) {
    const proof = lines.toSpliced(at, 1, changed(line)).join('\n')
    const expected = proof === lines.join('\n')
    expect([line, (await verifyLogProof(proof, auditHash, policy)).ok]).toEqual([line, expected])
  }
})

test.for([
  ['a size with a zero before it', 'example.com/log\n01\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'],
  ['a size that is not exact', 'example.com/log\n9007199254740993\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'],
  ['a short root', 'example.com/log\n1\nAAAA\n'],
  ['no origin', '\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'],
  ['an empty line', 'example.com/log\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\nx\n'],
] as const)('a head with %s is malformed', ([, text]) => {
  expect(parseCheckpoint(text)).toBeUndefined()
})

test.for([
  ['no quorum', 'log LOG'],
  ['two quorums', 'quorum none\nquorum none'],
  ['an unknown line', 'logs LOG\nquorum none'],
  ['a name that is defined below', 'quorum a\nwitness a WITNESS'],
  ['a name that occurs twice', 'witness a WITNESS\ngroup a any a\nquorum a'],
  ['a key that occurs twice', 'log LOG\nlog LOG\nquorum none'],
  ['the key of a log for a witness', 'witness a LOG\nquorum a'],
  ['a group without members', 'group a any\nquorum a'],
  ['a group that needs more than it has', 'witness a WITNESS\ngroup b 2 a\nquorum b'],
  ['a group that needs nothing', 'witness a WITNESS\ngroup b 0 a\nquorum b'],
  ['a member of two groups', 'witness a WITNESS\ngroup b any a\ngroup c any a\nquorum c'],
  ['none as a member', 'group a any none\nquorum a'],
  ['a name that is missing', 'quorum'],
] as const)('P2: a policy with %s is refused', async ([, text]) => {
  const [log, witness] = [await signerOf('l', 'log'), await signerOf('w', 'witness')]
  const file = text.replaceAll('LOG', verifierKeyText(log.key)).replaceAll('WITNESS', verifierKeyText(witness.key))
  await expect(parsePolicy(file)).rejects.toThrow(PolicyMalformed)
})

test.for([
  [6, 1_312, 'line 1: the key has the algorithm 0x06 (ML-DSA-44)'],
  [2, 91, 'line 1: the key has the algorithm 0x02'],
  [4, 33, 'line 1: the key is malformed'],
] as const)('a policy with a key of algorithm %i names it, unless that is known', async ([type, length, problem]) => {
  const key = Buffer.concat([Buffer.of(type), Buffer.alloc(length, 1)]).toString('base64')
  await expect(parsePolicy(`witness a w.example+01234567+${key}\nquorum a`)).rejects.toThrow(problem)
})
