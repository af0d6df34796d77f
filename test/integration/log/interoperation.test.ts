/**
 * Programs of others verify the ledger's log: sigstore-js its heads and proofs of inclusion, and an implementation of RFC 9162
 * its proofs of consistency. `test/interoperation` has one in Go.
 */
import { createPublicKey } from 'node:crypto'
import { verifyTLogInclusion } from '@sigstore/verify/dist/tlog/index.js'
import { RFC9162 } from '@transmute/rfc9162'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseCheckpoint } from '../../../api/client/log/checkpoint.ts'
import { logEntry } from '../../../api/client/log/log-entry.ts'
import { parseLogProof } from '../../../api/client/log/log-proof.ts'
import { noteText, parseNote, type NoteKey } from '../../../api/client/log/signed-note.ts'
import { createNoteSigner } from '../../../infra/log/log-signer.ts'
import { createLogReader } from '../../../infra/log/monitor/log-reader.ts'
import { TreeProofs } from '../../../runtime/log/tree-proofs.ts'
import { AnyLog, strangers } from '../../support/log/any-log.ts'
import { ALICE, attackedCopy, type AttackedLedger, createAttackedLedger } from '../../support/log/attacked-log.ts'

let ledger: AttackedLedger
beforeAll(async () => {
  ledger = await createAttackedLedger()
})
afterAll(() => ledger.close())

interface Inclusion {
  readonly entry: Uint8Array
  readonly index: number
  readonly hashes: readonly Uint8Array[]
  /** The signed note. */
  readonly checkpoint: string
}

/** Throws unless sigstore-js verifies the signature of the head, and that the log has the entry in this place. */
function verifyBySigstore({ entry, index, hashes, checkpoint }: Inclusion, key: NoteKey): void {
  const head = parseCheckpoint(parseNote(checkpoint)?.text ?? '')
  const keyId = Buffer.from(key.id, 'hex')
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key.publicKey).toString('base64url') },
    format: 'jwk',
  })
  const validFor = { start: new Date(0), end: new Date(8_640_000_000_000_000) }
  verifyTLogInclusion(
    {
      logIndex: String(index),
      logId: { keyId },
      kindVersion: { kind: '', version: '' },
      integratedTime: '0',
      inclusionPromise: undefined,
      inclusionProof: {
        logIndex: String(index),
        rootHash: Buffer.from(head?.root ?? []),
        treeSize: String(head?.size),
        hashes: hashes.map((hash) => Buffer.from(hash)),
        checkpoint: { envelope: checkpoint },
      },
      canonicalizedBody: Buffer.from(entry),
    },
    [{ logID: keyId, baseURL: key.name, publicKey, validFor }],
  )
}

test('sigstore-js verifies the proof of every entry of an account, and no proof of another entry', async () => {
  const { operator, publish } = await attackedCopy(ledger)
  await publish(await operator.integrate())
  for (const { sequence, auditHash } of ledger.known) {
    const found = await operator.log.proof(ALICE, sequence)
    const proof = parseLogProof(found?.kind === 'proved' ? found.text : '')
    const entry = proof && (await logEntry(proof.salt, `sha256:${auditHash.toString('hex')}`))
    if (proof === undefined || entry === undefined) throw new Error(`entry ${sequence} has no proof`)
    const inclusion = { entry, index: proof.index, hashes: proof.hashes, checkpoint: noteText(proof.checkpoint) }
    verifyBySigstore(inclusion, ledger.signer.key)
    const changed = Uint8Array.from(entry, (byte, at) => (at === 0 ? byte ^ 1 : byte))
    expect(() => verifyBySigstore({ ...inclusion, entry: changed }, ledger.signer.key)).toThrow('root hash')
    const resized = inclusion.checkpoint.replace(/\n([0-9]+)\n/, (_, size: string) => `\n${Number(size) + 1}\n`)
    expect(() => verifyBySigstore({ ...inclusion, checkpoint: resized }, ledger.signer.key)).toThrow('signature')
  }
})

/** A log whose tree has three levels of tiles, and its proofs from the tiles that it serves. */
async function aLargeLog(size: number) {
  const signer = await createNoteSigner('example.com/log', 'log', Buffer.alloc(32, 1))
  const log = new AnyLog(signer)
  while (log.size < size) log.add(...strangers(Math.min(10_000, size - log.size), log.size))
  const reader = createLogReader(log.get)
  return { signer, log, reader, proofsIn: (of: number) => new TreeProofs(reader.hashes, of) }
}

test('sigstore-js verifies places in a log with three levels of tiles', async () => {
  const size = 65_536 + 700
  const { signer, log, reader, proofsIn } = await aLargeLog(size)
  for (const index of [0, 1, 255, 256, 40_000, 65_535, 65_536, 66_000, size - 1]) {
    const hashes = await proofsIn(size).inclusion(index)
    const number = Math.floor(index / 256)
    const entries = await reader.entries(number, Math.min(256, size - number * 256))
    const entry = entries.subarray((index % 256) * 48, (index % 256) * 48 + 48)
    const inclusion = { entry, index, hashes, checkpoint: log.checkpoint }
    expect(() => verifyBySigstore(inclusion, signer.key)).not.toThrow()
    expect(() => verifyBySigstore({ ...inclusion, index: size - 1 - index }, signer.key)).toThrow(/hash/)
  }
})

test('an implementation of RFC 9162 verifies that the log only grew, and no proof from another root', async () => {
  const size = 65_536 + 700
  const { proofsIn } = await aLargeLog(size)
  for (const [first, second] of [
    [1, 2],
    [3, 7],
    [4, 7],
    [6, 8],
    [255, 257],
    [256, 65_536],
    [300, 66_000],
    [65_536, size],
    [size - 1, size],
  ] as const) {
    const [before, after] = [await proofsIn(first).root(), await proofsIn(second).root()]
    const path = await proofsIn(second).consistency(first)
    // This verifier leaves it to its caller to put the first root before the path (RFC 9162, 2.1.4.2, step 2).
    const isPower = Number.isInteger(Math.log2(first))
    const proof = {
      log_id: '',
      tree_size_1: first,
      tree_size_2: second,
      consistency_path: [...(isPower ? [before] : []), ...path].map((hash) => new Uint8Array(hash)),
    }
    const [one, other] = [new Uint8Array(before), new Uint8Array(after)]
    expect([first, second, await RFC9162.verifyConsistencyProof(one, other, proof)]).toEqual([first, second, true])
    expect([first, second, await RFC9162.verifyConsistencyProof(other, one, proof)]).toEqual([first, second, false])
  }
})
