/** Entries as logs of C2SP serve them: each with its length before it. https://c2sp.org/tlog-tiles */
import { ENTRY_BYTES } from './log-entry.ts'

const LENGTH_BYTES = 2

/** `entries`: one after the other. */
export function bundleOf(entries: Buffer): Uint8Array {
  const count = entries.length / ENTRY_BYTES
  const bundle = Buffer.alloc(count * (LENGTH_BYTES + ENTRY_BYTES))
  for (let index = 0; index < count; index += 1) {
    const at = bundle.writeUInt16BE(ENTRY_BYTES, index * (LENGTH_BYTES + ENTRY_BYTES))
    entries.copy(bundle, at, index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES)
  }
  return bundle
}
