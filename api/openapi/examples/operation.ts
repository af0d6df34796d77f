/** Examples of what needs no token. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const GET_ROOT_EXAMPLES: Examples = {
  paths: {
    summary: 'Starting points of the API',
    as: null,
    answer: {
      status: 200,
      body: {
        documentation: '/docs',
        openapi: '/openapi.json',
        ready: '/readyz',
        keys: '/.well-known/jwks.json',
      },
    },
  },
}

export const GET_HEALTH_EXAMPLES: Examples = {
  ok: { summary: 'The process answers', as: null, answer: { status: 200, body: { status: 'ok' } } },
}

export const GET_READINESS_EXAMPLES: Examples = {
  ready: {
    summary: 'Requests can be served',
    as: null,
    answer: {
      status: 200,
      body: {
        status: 'ready',
        ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
        environment: 'sandbox',
        checks: { database: true, nats: true, shards: true, serving: true, clock: true },
        warnings: [],
      },
    },
  },
}

export const GET_KEY_SET_EXAMPLES: Examples = {
  keys: {
    summary: 'The public keys of the service',
    as: null,
    answer: {
      status: 200,
      body: {
        ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
        keys: [
          {
            kty: 'EC',
            crv: 'P-256',
            x: 'SROJJd9rL1HJhwuHfulWb6ojcPcGevRGUnvzrG5TIhM',
            y: 'TVbwcI0s68aANXZq2k4VpdpXPu_UMnna1n5KvgdOLjs',
            kid: '9KmF-S9GKM0Z5BcHEBqirk3sZbUVyU5qTRlfL8v6b3g',
            use: 'sig',
            alg: 'ES256',
            purpose: 'token',
            nbf: 1795311063,
          },
          {
            kty: 'EC',
            crv: 'P-256',
            x: 'sHrcDPmZMqpk8eB7a33WH7ZCWO-Z2XCddDF-92UV2wk',
            y: 'IHlezywQNgONQgieKrhJMMynyI5wiqhZUOTKk9PylCw',
            kid: 'e8xK8y4BjThFvvU6xNWUsDol-ifLmD1Q9cnucbCoZ-U',
            use: 'sig',
            alg: 'ES256',
            purpose: 'assertion',
            nbf: 1795311063,
          },
          {
            kty: 'EC',
            crv: 'P-256',
            x: 'FnroCDjSOPdVP2NQ_Citngy8PJrMjLceTHt4D_pFU-c',
            y: 'ym6e80RygPKM0vU6CBlH6qaD4TPmN42-fkSMpN_EVhM',
            kid: 'kjaaBazQ67GDEtKyO3sznSIKOrjS0VV9i6b834BsCRw',
            use: 'sig',
            alg: 'ES256',
            purpose: 'receipt',
            nbf: 1795311063,
          },
          {
            kty: 'EC',
            crv: 'P-256',
            x: 'TVW2o8BBJG71oyVK9SpUZZTSWD0E4SPVVqC-lytUBqE',
            y: 'K7aJyHhsP8ucoIneam_YRyoy3hVfdxhTB292mUbvcI0',
            kid: 'xCjmv75d4-Hcl_yy1txG-s-69zQSSIRboKQYph0letg',
            use: 'sig',
            alg: 'ES256',
            purpose: 'attestation',
            nbf: 1795311063,
          },
        ],
      },
    },
  },
}
