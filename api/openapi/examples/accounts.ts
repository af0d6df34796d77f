/** Examples of what accounts are asked. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const CREATE_ACCOUNT_EXAMPLES: Examples = {
  alice: {
    summary: 'An account with its key as a JWK',
    as: 'transactor',
    body: {
      account_id: 'alice@example',
      public_key: {
        kty: 'EC',
        crv: 'P-256',
        x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y',
        y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
      },
    },
    answer: {
      status: 201,
      body: {
        account_id: 'alice@example',
        status: 'active',
        incoming: 'accept',
        public_key: {
          kty: 'EC',
          crv: 'P-256',
          x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y',
          y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
        },
        key_id: 'DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0',
        shard_id: 131,
        sequence: 0,
        audit_hash: 'sha256:a11f0b6935172793bf19a1df6f64939ad41db71c67e854b1032a368ea237869d',
        created_at: '2026-11-22T01:31:05.682Z',
        updated_at: '2026-11-22T01:31:05.682Z',
      },
    },
  },
  bob: {
    summary: 'An account with its key as a PEM',
    as: 'transactor',
    headers: { 'Idempotency-Key': 'register-bob' },
    body: {
      account_id: 'bob@example',
      public_key:
        '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n-----END PUBLIC KEY-----\n',
    },
    answer: {
      status: 201,
      body: {
        account_id: 'bob@example',
        status: 'active',
        incoming: 'accept',
        public_key: {
          kty: 'EC',
          crv: 'P-256',
          x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
          y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
        },
        key_id: 'oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U',
        shard_id: 51,
        sequence: 0,
        audit_hash: 'sha256:993a5c0011500d10b125b1563b054298b8ddd63d9cb868a503ba8b97dd6cc2be',
        created_at: '2026-11-22T01:31:05.737Z',
        updated_at: '2026-11-22T01:31:05.737Z',
      },
    },
  },
  erin: {
    summary: 'An account that will be erased',
    as: 'transactor',
    body: {
      account_id: 'erin@example',
      public_key: {
        kty: 'EC',
        crv: 'P-256',
        x: 'sbUp9A6d34a6ikoGBbxpgLqC7K7kxC20nyzJ9WFxfB4',
        y: 'HcqyR5Oz-y3KSCDP3YRF_7aSAIYZDTGQ6f_lnNf8H4g',
      },
    },
    answer: {
      status: 201,
      body: {
        account_id: 'erin@example',
        status: 'active',
        incoming: 'accept',
        public_key: {
          kty: 'EC',
          crv: 'P-256',
          x: 'sbUp9A6d34a6ikoGBbxpgLqC7K7kxC20nyzJ9WFxfB4',
          y: 'HcqyR5Oz-y3KSCDP3YRF_7aSAIYZDTGQ6f_lnNf8H4g',
        },
        key_id: 'm_K8VhltTWn7Ak2RPRDgxc31gap_XHJBPQxyKPQZHZA',
        shard_id: 51,
        sequence: 0,
        audit_hash: 'sha256:5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9',
        created_at: '2026-11-22T01:31:06.540Z',
        updated_at: '2026-11-22T01:31:06.540Z',
      },
    },
  },
  again: {
    summary: 'The same key again changes nothing',
    as: 'transactor',
    body: {
      account_id: 'alice@example',
      public_key: {
        kty: 'EC',
        crv: 'P-256',
        x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y',
        y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
      },
    },
    answer: {
      status: 200,
      body: {
        account_id: 'alice@example',
        status: 'active',
        incoming: 'accept',
        public_key: {
          kty: 'EC',
          crv: 'P-256',
          x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y',
          y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
        },
        key_id: 'DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0',
        shard_id: 131,
        sequence: 0,
        audit_hash: 'sha256:a11f0b6935172793bf19a1df6f64939ad41db71c67e854b1032a368ea237869d',
        created_at: '2026-11-22T01:31:05.682Z',
        updated_at: '2026-11-22T01:31:05.682Z',
      },
    },
  },
  anotherKey: {
    summary: 'Another key is refused',
    as: 'transactor',
    body: {
      account_id: 'alice@example',
      public_key: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    answer: {
      kind: 'problem',
      type: 'conflict',
      detail: 'The account exists with another key.',
      codes: ['ERR_CONFLICT'],
      errors: [{ field: 'public_key', message: 'The account exists with another key.' }],
      outcome: null,
      headers: {},
    },
  },
  viewer: {
    summary: 'A viewer may only read',
    as: 'viewer',
    body: {
      account_id: 'carol@example',
      public_key: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    answer: {
      kind: 'problem',
      type: 'forbidden',
      detail: 'The client has the role viewer. This needs the role transactor or admin.',
      codes: ['ERR_FORBIDDEN'],
      errors: null,
      outcome: null,
      headers: {},
    },
  },
}

export const GET_ACCOUNT_EXAMPLES: Examples = {
  alice: {
    summary: 'An account',
    as: 'viewer',
    path: { accountId: 'alice@example' },
    answer: {
      status: 200,
      body: {
        account_id: 'alice@example',
        status: 'active',
        incoming: 'accept',
        public_key: {
          kty: 'EC',
          crv: 'P-256',
          x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y',
          y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
        },
        key_id: 'DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0',
        shard_id: 131,
        sequence: 1,
        audit_hash: 'sha256:21a0deb292abc9b1da671a15ece1517525d546d9971987154fca003c2cbfaaf5',
        created_at: '2026-11-22T01:31:05.682Z',
        updated_at: '2026-11-22T01:31:05.835Z',
      },
    },
  },
}

export const LIST_ACCOUNTS_EXAMPLES: Examples = {
  all: {
    summary: 'All accounts',
    as: 'admin',
    answer: {
      status: 200,
      body: {
        accounts: [
          {
            account_id: 'alice@example',
            status: 'active',
            incoming: 'accept',
            public_key: {
              kty: 'EC',
              crv: 'P-256',
              x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y',
              y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
            },
            key_id: 'DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0',
            shard_id: 131,
            sequence: 6,
            audit_hash: 'sha256:47083c0b703c891d69650f00a4d9b38dd4c26af12b91ff11769cc1ca8f2cb66f',
            created_at: '2026-11-22T01:31:05.682Z',
            updated_at: '2026-11-22T01:31:06.341Z',
          },
          {
            account_id: 'bob@example',
            status: 'active',
            incoming: 'accept',
            public_key: {
              kty: 'EC',
              crv: 'P-256',
              x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
              y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
            },
            key_id: 'cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s',
            shard_id: 51,
            sequence: 7,
            audit_hash: 'sha256:ae1178beba09bc20d1a4680e9eb0e45d464d0eb7ab916022b3641a9811de35ba',
            created_at: '2026-11-22T01:31:05.737Z',
            updated_at: '2026-11-22T01:31:06.544Z',
          },
        ],
        next_page_token: '',
        total_count: 2,
        total_count_relation: 'eq',
      },
    },
  },
}
