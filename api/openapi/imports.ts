/** Imports: accounts, and what belongs to them, that another ledger exported to this one (D20). */
import { ADMINS, EVERYONE } from '../endpoint/route.ts'
import { importPartSchema } from '../schemas/import-part.ts'
import {
  importDoneResponse,
  importKeyResponse,
  importRefusal,
  importResponse,
  importSummary,
  importUnderWayResponse,
} from '../schemas/responses/import.ts'
import type { Operation, Tag } from './model/operation.ts'

export const getImportKey: Operation = {
  id: 'getImportKey',
  method: 'GET',
  path: '/v1/imports/key',
  summary: 'Get the key to export to',
  description:
    'What another ledger is told to export to this one: `ledger_id` as the `audience`, `public_key` as the `recipient_public_key`. It signs nothing and is not in `/.well-known/jwks.json`. After a rotation what was encrypted to the key before still opens.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The key.', content: importKeyResponse }],
}

export const createImport: Operation = {
  id: 'createImport',
  method: 'POST',
  path: '/v1/imports',
  summary: 'Import a part of an export',
  description: `Takes the lines of an export, in parts of at most 1 MB: part 0 first, each with the lines that follow those of the part before; the last one ends with the proof and says \`last\`. Each is checked before it is stored. \`ledger import FILE\` does all of this.

With the last part everything is checked against everything, and then taken in: all of it or nothing. That is answered with 200 and a summary, or, after half a minute, with 202: sent again, the last part waits again. The same part again is always answered and changes nothing. An import that nobody goes on with is dropped after a day.

Only exports of ledgers that this one was configured to trust are taken, signed by a key that is pinned there and addressed to this ledger. What is here already, because the same came before, stays as it is and counts as \`present\`; anything else of the same name refuses the whole import.`,
  roles: ADMINS,
  changes: 'store',
  body: importPartSchema,
  answers: [
    { status: 200, description: 'Everything is taken in.', content: importDoneResponse },
    {
      status: 202,
      description: 'The part is stored; or all parts are, and the import is under way.',
      content: importUnderWayResponse,
    },
  ],
  refusals: {
    ERR_NOT_FOUND: 'The client is scoped to accounts, and the account that `errors` names is none of them.',
    ERR_CONFLICT:
      'The part is not the one that comes next, or there with another content; too many imports are being staged; or something else of the name of a record is here: `errors` names the record, and nothing was taken in.',
    ERR_FORBIDDEN:
      'The role does not permit it; the ledger, or the key that signed the proof, is not among those trusted.',
    ERR_SIGNATURE_MISMATCH: 'The signature of the proof is not one by the key that it names.',
    ERR_WRONG_LEDGER: 'The export is addressed to another ledger.',
    ERR_OVERLOADED: 'There is more to judge than is taken at this moment.',
    ERR_UNKNOWN_FIELD: 'A record has a member that nobody knows: it was signed.',
    ERR_INVALID_ACCOUNT_ID: '',
    ERR_INVALID_SIGNATURE: 'A signature is missing, or of an attestation, and not one by the ledger that exported it.',
    ERR_INVALID_TOKEN_ID: 'A balance is in no token of the file.',
    ERR_INVALID_SYMBOL: '',
    ERR_INVALID_DECIMALS: '',
    ERR_INVALID_ISSUER: '',
    ERR_INVALID_TOTAL_SUPPLY: 'It is missing or no supply, or accounts have more than that.',
    ERR_INVALID_INITIAL_SUPPLY: '',
    ERR_INVALID_BALANCE: '',
    ERR_INVALID_CREATED_AT: '',
    ERR_INVALID_UPDATED_AT: '',
    ERR_INVALID_TIMESTAMP: '',
    ERR_INVALID_PROOF_SYSTEM: '',
    ERR_INVALID_PROOF_HASH: '',
    ERR_INVALID_CLASS_ID: '',
    ERR_INVALID_NAME: '',
    ERR_INVALID_SCHEMA: '',
    ERR_INVALID_REQUESTER: '',
    ERR_INVALID_TXN_COUNT: '',
    ERR_INVALID_PUBLIC_KEY: '',
    ERR_INVALID_TYPE: 'The type of an entry of a history is not `mint`, `transfer` or `burn`.',
  },
}

export const getImport: Operation = {
  id: 'getImport',
  method: 'GET',
  path: '/v1/imports/:importId',
  summary: 'See how far an import is',
  description: 'Which part comes next, how much is done once all parts are there, and what became of it.',
  roles: ADMINS,
  answers: [{ status: 200, description: 'The import.', content: importResponse }],
}

const PROGRESS_FIELDS = {
  import_id: 'The import.',
  status:
    '`staging`: parts are missing. `checking`, `applying`: nothing is decided. `taking`: it will be `done`. `refusing`: it will be `refused`.',
  next_part: 'The part that comes next.',
  lines: 'How many lines of the file are here.',
  done: 'How many steps are done.',
  total: 'How many steps there are; 0 before they were counted.',
}

export const IMPORTS: Tag = {
  name: 'Imports',
  description: 'Accounts, and what belongs to them, from other ledgers.',
  schemas: {
    ImportPart: {
      schema: importPartSchema,
      description: 'Lines of an export, in their order.',
      fields: {
        import_id: 'Chosen by the client: names the import over all its parts.',
        part: 'Which part it is, from 0.',
        records: 'The lines, each as it stands in the file.',
        last: 'Whether it ends the file.',
      },
    },
    ImportKey: {
      schema: importKeyResponse,
      description: 'What another ledger exports to this one with.',
      fields: { public_key: 'What is encrypted to.' },
    },
    ImportSummary: {
      schema: importSummary,
      description: 'What an import had in it.',
      fields: {
        accounts: 'Accounts.',
        tokens: 'Fungible tokens.',
        nft_classes: 'NFT classes.',
        nft_instances: 'NFTs.',
        attestations: 'Attestations.',
        present: 'How many of all of these were here already and stayed as they were.',
      },
    },
    ImportUnderWay: {
      schema: importUnderWayResponse,
      description: 'An import that has not ended.',
      fields: PROGRESS_FIELDS,
    },
    ImportDone: {
      schema: importDoneResponse,
      description: 'An import that has ended.',
      fields: { import_id: 'The import.', status: 'Always `done`.', summary: 'What it had in it.' },
    },
    ImportRefusal: {
      schema: importRefusal,
      description: 'Why nothing of an import was taken in.',
      fields: { error_codes: 'For programs: every code that applies.', errors: 'Which records and fields.' },
    },
    Import: {
      schema: importResponse,
      description: 'An import.',
      fields: {
        ...PROGRESS_FIELDS,
        summary: 'What it had in it, once it is `done`.',
        refusal: 'Why, once it is `refused`.',
      },
    },
  },
  operations: [getImportKey, createImport, getImport],
}
