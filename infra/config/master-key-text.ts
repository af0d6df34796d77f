import * as v from 'valibot'
import { type MasterKey, readMasterKey, readMasterKeys } from '../keys/master-key.ts'

const ALLOWED = '32 bytes in base64url (openssl rand -base64 32 makes some)'

/** Turned into a key object at once, which shows nothing when it is printed. */
export const textOfMasterKey = read<MasterKey>(readMasterKey, ALLOWED)

export const textOfMasterKeys = read<readonly MasterKey[]>(
  readMasterKeys,
  `${ALLOWED}, or up to 8 of these with commas between them`,
)

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
