/** Examples of getting tokens. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const ISSUE_TOKEN_EXAMPLES: Examples = {
  credentials: {
    summary: 'A client signs in',
    as: null,
    body: { client_id: 'payments-backend', client_secret: 'example-secret-of-payments-backend' },
    answer: {
      status: 200,
      body: {
        access_token:
          'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJwYXltZW50cy1iYWNrZW5kIiwianRpIjoiMSJ9.dGhlIHNpZ25hdHVyZQ',
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: 'rt_4IeqNIJnCHIjmKC2OKHF--rjiJl4TN8nLvuxb1XUjiE.cGF5bWVudHMtYmFja2VuZA',
      },
    },
  },
  refresh: {
    summary: 'The next token, without the secret',
    as: null,
    body: {
      grant_type: 'refresh_token',
      refresh_token: 'rt_4IeqNIJnCHIjmKC2OKHF--rjiJl4TN8nLvuxb1XUjiE.cGF5bWVudHMtYmFja2VuZA',
    },
    answer: {
      status: 200,
      body: {
        access_token:
          'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJwYXltZW50cy1iYWNrZW5kIiwianRpIjoiMiJ9.dGhlIHNpZ25hdHVyZQ',
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: 'rt_akoQ12peRrgctlkfSf-SAI0eGDu-Ghp4pHJO2PhAPyA.cGF5bWVudHMtYmFja2VuZA',
      },
    },
  },
  wrongSecret: {
    summary: 'A wrong secret',
    as: null,
    body: { client_id: 'payments-backend', client_secret: 'a guess' },
    answer: {
      kind: 'problem',
      type: 'unauthorized',
      detail: 'The credentials are not valid.',
      codes: ['ERR_UNAUTHORIZED'],
      errors: null,
      outcome: null,
      headers: {},
    },
  },
}
