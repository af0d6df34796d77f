/** Responses about imports (D20). */
import * as v from 'valibot'
import { count, keyId, publicJwk, text } from '../values.ts'
import { define } from '../named-schema.ts'

const importId = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  v.metadata({ format: 'uuid' }),
)

const STATUS_TEXT =
  '`staging`: parts are missing. `checking`, `applying`: nothing is decided. `taking`: it will be `done`. `refusing`: it will be `refused`.'
const steps = {
  done: [v.exactOptional(count), 'How many steps are done.'],
  total: [v.exactOptional(count), 'How many steps there are; 0 before they were counted.'],
} as const

export const importKeyResponse = define('ImportKey', 'The values that another ledger needs to export to this one.', {
  ledger_id: text,
  public_key: [publicJwk, 'The key to encrypt balances to.'],
  key_id: keyId,
})

export const importSummary = define('ImportSummary', 'The contents of an import.', {
  accounts: [count, 'Accounts.'],
  tokens: [count, 'Fungible tokens.'],
  nft_classes: [count, 'NFT classes.'],
  nft_instances: [count, 'NFTs.'],
  attestations: [count, 'Attestations.'],
  present: [count, 'How many of all of these were here already and stayed as they were.'],
})

/** A part was accepted, or all parts were and the import is not decided yet. */
export const importUnderWayResponse = define('ImportUnderWay', 'An import that has not ended.', {
  import_id: [importId, 'The import.'],
  status: [v.picklist(['staging', 'checking', 'applying', 'taking', 'refusing']), STATUS_TEXT],
  next_part: [v.exactOptional(count), 'The part that comes next.'],
  lines: [v.exactOptional(count), 'How many lines of the file are here.'],
  ...steps,
})

export const importDoneResponse = define('ImportDone', 'An import that has ended.', {
  import_id: [importId, 'The import.'],
  status: [v.literal('done'), 'Always `done`.'],
  summary: [importSummary, 'Its contents.'],
})

export const importRefusal = define('ImportRefusal', 'Why nothing of an import was taken in.', {
  detail: text,
  error_codes: [v.array(text), 'For programs: every code that applies.'],
  errors: [v.array(v.object({ field: text, message: text })), 'Which records and fields.'],
})

export const importResponse = define('Import', 'An import.', {
  import_id: [importId, 'The import.'],
  status: [v.picklist(['staging', 'checking', 'applying', 'taking', 'done', 'refusing', 'refused']), STATUS_TEXT],
  next_part: [count, 'The part that comes next.'],
  lines: [count, 'How many lines of the file are here.'],
  ...steps,
  summary: [v.exactOptional(importSummary), 'Its contents, once it is `done`.'],
  refusal: [v.exactOptional(importRefusal), 'Why, once it is `refused`.'],
})
