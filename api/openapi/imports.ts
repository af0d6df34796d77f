/** Imports: accounts, and what belongs to them, that another ledger exported to this one (D20). */
import { importPartSchema } from '../schemas/import-part.ts'
import {
  importDoneResponse,
  importKeyResponse,
  importRefusal,
  importResponse,
  importSummary,
  importUnderWayResponse,
} from '../schemas/responses/import.ts'
import type { Tag } from '../endpoint/operation.ts'
import { CREATE_IMPORT } from '../routes/portability/create-import.ts'
import { GET_IMPORT_KEY } from '../routes/portability/get-import-key.ts'
import { GET_IMPORT } from '../routes/portability/get-import.ts'

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
        records: 'The lines of the file, unchanged.',
        last: 'Whether it ends the file.',
      },
    },
    ImportKey: {
      schema: importKeyResponse,
      description: 'The values that another ledger needs to export to this one.',
      fields: { public_key: 'The key to encrypt balances to.' },
    },
    ImportSummary: {
      schema: importSummary,
      description: 'The contents of an import.',
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
      fields: { import_id: 'The import.', status: 'Always `done`.', summary: 'Its contents.' },
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
        summary: 'Its contents, once it is `done`.',
        refusal: 'Why, once it is `refused`.',
      },
    },
  },
  operations: [GET_IMPORT_KEY, CREATE_IMPORT, GET_IMPORT],
}
