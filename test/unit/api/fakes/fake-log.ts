/** A published log of 300 entries, with a proof of entry 0 of every account; entry 1 is not in it yet, and it lacks entry 3. */
import type { LedgerLog } from '../../../../runtime/ports/ledger-log.ts'

export const FAKE_NOTE = 'ledger/test\n300\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— ledger/test AAAAAAA=\n'
export const FAKE_KEY = 'ledger/test+00000000+AQAA'
export const FAKE_PROOF = `c2sp.org/tlog-proof@v1\nindex 0\n\n${FAKE_NOTE}`
const SIZE = 300
const HASH_BYTES = 32

export function createFakeLog(): LedgerLog {
  return {
    verifierKey: FAKE_KEY,
    checkpoint: () => Promise.resolve(FAKE_NOTE),
    tile: ({ number, width }) =>
      Promise.resolve(number * 256 + width > SIZE ? undefined : new Uint8Array(width * HASH_BYTES).fill(number)),
    accountKey: () => new Uint8Array(HASH_BYTES).fill(7),
    proof: (_, sequence) => {
      if (sequence === 3) return Promise.resolve({ kind: 'lacking' })
      if (sequence > 1) return Promise.resolve(undefined)
      return Promise.resolve(sequence === 0 ? { kind: 'proved', text: FAKE_PROOF } : { kind: 'pending' })
    },
  }
}
