/** Whether a head of a log continues another one, proved from the tiles of the log. */
import { isConsistent, isSame } from '../../../api/client/log/merkle.ts'
import type { LogHead } from '../../../api/client/log/checkpoint.ts'
import { EMPTY_TREE, rootOf } from '../../../runtime/log/tree.ts'
import { TreeProofs } from '../../../runtime/log/tree-proofs.ts'
import { FaultFound } from './finding.ts'
import type { LogReader } from './log-reader.ts'
import type { VerifiedHead } from './monitor-file.ts'
import { signedTiles } from './signed-tiles.ts'

type Head = Readonly<Pick<LogHead, 'size' | 'root'>>

/** `larger`: a signed head whose tiles the log shows. False is proof of two histories. Throws FaultFound for wrong tiles. */
export async function continues(smaller: Head, larger: Head, reader: LogReader): Promise<boolean> {
  if (smaller.size === larger.size) return isSame(smaller.root, larger.root)
  if (smaller.size === 0) return isSame(smaller.root, new Uint8Array(rootOf(EMPTY_TREE)))
  const tiles = signedTiles(reader, { ...larger, root: Buffer.from(larger.root) })
  const proof = await new TreeProofs(tiles, larger.size).consistency(smaller.size)
  return isConsistent(
    smaller,
    larger,
    proof.map((hash) => new Uint8Array(hash)),
  )
}

/** Throws FaultFound. */
export async function requireContinuation(
  verified: VerifiedHead,
  head: VerifiedHead,
  reader: LogReader,
): Promise<void> {
  const facts = { verified: verified.note, shown: head.note }
  if (verified.origin !== head.origin) {
    throw new FaultFound(
      'untrusted',
      `this is the log ${head.origin}, and ${verified.origin} was followed before`,
      facts,
    )
  }
  if (head.size < verified.size) {
    const detail = `the log shows a head of ${head.size} entries, and one of ${verified.size} was verified before: an old head is shown again, or the log has lost entries`
    throw new FaultFound('went_back', detail, facts)
  }
  if (await continues(verified, head, reader)) return
  const detail = `the head of ${head.size} entries does not continue that of ${verified.size} which was verified before: the log has two histories, and both heads are signed`
  throw new FaultFound('forked', detail, facts)
}
