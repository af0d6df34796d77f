/** A log with the entries of one account's chain, three witnesses, and a policy that two of them satisfy. */
import { logProofText } from '../../../api/client/log/log-proof.ts'
import {
  cosignatureBytes,
  cosignedText,
  type NoteSignature,
  type SignedNote,
  verifierKeyText,
} from '../../../api/client/log/signed-note.ts'
import { EntrySalts, logEntry } from '../../../infra/log/log-entry.ts'
import { createNoteSigner, type NoteSigner, signedHead } from '../../../infra/log/log-signer.ts'
import { EMPTY_TREE, grow, leafHash, rootOf } from '../../../runtime/log/tree.ts'
import { TreeProofs } from '../../../runtime/log/tree-proofs.ts'

export const ORIGIN = 'example.com/ledger'
export const WITNESSED_AT_MS = 1_900_000_000_000
export const ACCOUNT_KEY = Buffer.alloc(32, 7)
const WITNESSES = ['w1', 'w2', 'w3'] as const

export type WitnessName = (typeof WITNESSES)[number]

export interface WitnessedLog {
  /** In the form of C2SP. A group of two of the three witnesses is its quorum. */
  readonly policy: string
  /** The lines of the log and of the witnesses. */
  readonly keyLines: string
  readonly head: (witnesses: readonly WitnessName[]) => SignedNote
  /** Of the entry at this place. */
  readonly proof: (sequence: number, witnesses: readonly WitnessName[]) => Promise<string>
}

/** `auditHashes`: of the chain, from entry 0 on, as the interface shows them. `accountKey`: gives the salts. */
export async function witnessedLog(
  auditHashes: readonly string[],
  origin = ORIGIN,
  accountKey = ACCOUNT_KEY,
): Promise<WitnessedLog> {
  const log = await createNoteSigner(origin, 'log', Buffer.alloc(32, 1))
  const signers = new Map<WitnessName, NoteSigner>()
  for (const [at, name] of WITNESSES.entries()) {
    signers.set(name, await createNoteSigner(`witness.example/${name}`, 'witness', Buffer.alloc(32, 10 + at)))
  }
  const ofAccount = new EntrySalts(accountKey)
  const salts = auditHashes.map((_, sequence) => ofAccount.of(sequence))
  const leaves = auditHashes.map((hash, sequence) => {
    const bytes = Buffer.from(hash.replace('sha256:', ''), 'hex')
    return leafHash(logEntry(salts[sequence] ?? Buffer.alloc(0), bytes))
  })
  const { edge, tiles } = grow(EMPTY_TREE, Buffer.concat(leaves))
  const read = (level: number, number: number): Promise<Buffer> =>
    Promise.resolve(tiles.find((tile) => tile.level === level && tile.number === number)?.hashes ?? Buffer.alloc(0))
  const proofs = new TreeProofs(read, edge.size)

  const head = (witnesses: readonly WitnessName[]): SignedNote => {
    const note = signedHead(log, { size: edge.size, root: new Uint8Array(rootOf(edge)) })
    const byWitnesses = witnesses.map((name) => cosignature(signers.get(name) ?? log, note.text))
    return { ...note, signatures: [...note.signatures, ...byWitnesses] }
  }
  const keyLines = [
    `log ${verifierKeyText(log.key)}`,
    ...[...signers].map(([name, { key }]) => `witness ${name} ${verifierKeyText(key)}`),
  ].join('\n')
  return {
    policy: `${keyLines}\ngroup two 2 ${WITNESSES.join(' ')}\nquorum two\n`,
    keyLines,
    head,
    proof: async (sequence, witnesses) => {
      const hashes = (await proofs.inclusion(sequence)).map((hash) => new Uint8Array(hash))
      const salt = new Uint8Array(salts[sequence] ?? Buffer.alloc(0))
      return logProofText({ salt, index: sequence, hashes, checkpoint: head(witnesses) })
    },
  }
}

function cosignature({ key, sign }: NoteSigner, text: string): NoteSignature {
  const seconds = WITNESSED_AT_MS / 1_000
  return { name: key.name, keyId: key.id, bytes: cosignatureBytes(seconds, sign(cosignedText(text, seconds))) }
}
