import * as v from 'valibot'
import { readMasterKey, readMasterKeys } from '../keys/master-key.ts'
import { type PartKey, readPartKey } from '../keys/part-key.ts'
import type { WrappingKeys } from '../keys/wrapping-keys.ts'

const ALLOWED = '32 bytes in base64url (openssl rand -base64 32 makes some)'

/** Converted to key objects at once: these reveal nothing when printed. */
export const textOfMasterKey = read<WrappingKeys>(readMasterKey, ALLOWED)

export const textOfMasterKeys = read<readonly WrappingKeys[]>(
  readMasterKeys,
  `${ALLOWED}, or up to 8 of these with commas between them`,
)

export const textOfPartKey = read<PartKey>(readPartKey, 'a part key as ledger keys part-key prints it')

function read<T>(reading: (text: string) => T, allowed: string) {
  return v.pipe(
    v.string(),
    v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
      try {
        return reading(dataset.value)
      } catch {
        addIssue({ message: allowed })
        return NEVER
      }
    }),
  )
}
