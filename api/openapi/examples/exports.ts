/** Examples of exports. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

const RECIPIENT = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
}
const AUDIENCE = '0b8b7c62-5a0c-4f0e-9c3f-6d2b1a7e4c55'

export const CREATE_EXPORT_EXAMPLES: Examples = {
  unknownAccount: {
    summary: 'An account that is not there',
    as: 'admin',
    body: {
      requester: 'Example Operations Ltd',
      account_ids: ['alice@example', 'mallory@example'],
      audience: AUDIENCE,
      recipient_public_key: RECIPIENT,
    },
    answer: {
      kind: 'problem',
      type: 'not-found',
      detail: 'There is no such account.',
      codes: ['ERR_NOT_FOUND'],
      errors: [{ field: 'account_ids[1]', message: 'There is no such account.' }],
      outcome: null,
      headers: {},
    },
  },
  notFrozen: {
    summary: 'What is moved must be frozen first',
    as: 'admin',
    body: {
      requester: 'Example Operations Ltd',
      account_ids: ['alice@example'],
      mode: 'move',
      audience: AUDIENCE,
      recipient_public_key: RECIPIENT,
    },
    answer: {
      kind: 'problem',
      type: 'conflict',
      detail: 'Account alice@example cannot be moved: it is active, and must be frozen.',
      codes: ['ERR_CONFLICT'],
      errors: [
        {
          field: 'account_ids[0]',
          message: 'Account alice@example cannot be moved: it is active, and must be frozen.',
        },
      ],
      outcome: null,
      headers: {},
    },
  },
}
