import * as v from 'valibot'
import { type MasterKey, readMasterKey } from '../keys/master-key.ts'

const ALLOWED = '32 bytes in base64url (openssl rand -base64 32 makes some)'

/** Turned into a key object at once, which shows nothing when it is printed. */
export const textOfMasterKey = v.pipe(
  v.string(),
  v.rawTransform<string, MasterKey>(({ dataset, addIssue, NEVER }) => {
    try {
      return readMasterKey(dataset.value)
    } catch {
      addIssue({ message: ALLOWED })
      return NEVER
    }
  }),
)
