/** Examples of changes of accounts. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const ROTATE_KEY_EXAMPLES: Examples = {
  bob: {
    summary: 'A new key, signed by the old one and by itself',
    as: 'transactor',
    path: { accountId: 'bob@example' },
    body: {
      account_id: 'bob@example',
      public_key: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
      idempotency_key: 'rotation-1',
      signature: 'IOPvWW1Dwe-3ZpZEgPQ6-FVTE02hF4Z7pL6K4ebhw0YeNFbH0JLp_dndN2eog_z5PFqd410y5waitc0R4oJWGA',
      proof: 'wZgz9iN9fQIrQfGqDLFLPa-WIIeV8IAfOkCmEYx7PFyUWAbDbi2k6AthER_Oi6snyTOA9mO9g5yb0isohjm6iA',
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
          x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
          y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
        },
        key_id: 'cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s',
        shard_id: 51,
        sequence: 5,
        audit_hash: 'sha256:c5f84345dffbaf32fe75ff9c0674ad7af509f8253b73299a1dc88e668a16e2bc',
        created_at: '2026-11-22T01:31:05.737Z',
        updated_at: '2026-11-22T01:31:06.498Z',
      },
    },
  },
  oldKey: {
    summary: 'The old key is no longer good',
    as: 'transactor',
    path: { accountId: 'bob@example' },
    body: {
      account_id: 'bob@example',
      public_key: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
      idempotency_key: 'rotation-2',
      signature: 'QBC7o63hca3zcbFiTh8g8_miTYvF-PTJ50e4bQu_5LcwuRwG30o3Kx24TRdr4Ci2qMW3CZia9uwmbGKUlmEavw',
    },
    answer: {
      kind: 'problem',
      type: 'forbidden',
      detail: 'The signature does not match the key of the account.',
      codes: ['ERR_SIGNATURE_MISMATCH'],
      errors: [{ field: 'signature', message: 'The signature does not match the key of the account.' }],
      outcome: null,
      signed: {
        keyId: 'cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s',
        payloadHash: '34c375527be78c17437775fe276ced8f2242f1603e1e0c2d2dcb192b98179d3b',
      },
      headers: {},
    },
  },
}

export const CHANGE_STATUS_EXAMPLES: Examples = {
  freeze: {
    summary: 'An account is frozen',
    as: 'admin',
    path: { accountId: 'bob@example' },
    body: { status: 'frozen', reason: 'the holder reported a stolen device' },
    answer: {
      status: 200,
      body: {
        account_id: 'bob@example',
        status: 'frozen',
        incoming: 'accept',
        public_key: {
          kty: 'EC',
          crv: 'P-256',
          x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
          y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
        },
        key_id: 'cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s',
        shard_id: 51,
        sequence: 6,
        audit_hash: 'sha256:0007676fe4a3021f49254b13ae8fcf254c76ff39e1be644389d1e4e8f33be16a',
        created_at: '2026-11-22T01:31:05.737Z',
        updated_at: '2026-11-22T01:31:06.532Z',
      },
    },
  },
  reopen: {
    summary: 'And opened again',
    as: 'admin',
    path: { accountId: 'bob@example' },
    body: { status: 'active', reason: 'the device was found' },
    answer: {
      status: 200,
      body: {
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
    },
  },
  notEmpty: {
    summary: 'An account that holds something cannot be closed',
    as: 'admin',
    path: { accountId: 'bob@example' },
    body: { status: 'closed', reason: 'requested by the holder' },
    answer: {
      kind: 'problem',
      type: 'conflict',
      detail: 'The account still holds something.',
      codes: ['ERR_CONFLICT'],
      errors: [{ field: 'status', message: 'The account still holds something.' }],
      outcome: null,
      headers: {},
    },
  },
  close: {
    summary: 'An account is closed',
    as: 'admin',
    path: { accountId: 'erin@example' },
    body: { status: 'closed', reason: 'requested by the holder' },
    answer: {
      status: 200,
      body: {
        account_id: 'erin@example',
        status: 'closed',
        incoming: 'accept',
        public_key: {
          kty: 'EC',
          crv: 'P-256',
          x: 'sbUp9A6d34a6ikoGBbxpgLqC7K7kxC20nyzJ9WFxfB4',
          y: 'HcqyR5Oz-y3KSCDP3YRF_7aSAIYZDTGQ6f_lnNf8H4g',
        },
        key_id: 'm_K8VhltTWn7Ak2RPRDgxc31gap_XHJBPQxyKPQZHZA',
        shard_id: 51,
        sequence: 1,
        audit_hash: 'sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b',
        created_at: '2026-11-22T01:31:06.540Z',
        updated_at: '2026-11-22T01:31:06.552Z',
      },
    },
  },
}

export const ERASE_ACCOUNT_EXAMPLES: Examples = {
  closed: {
    summary: 'A closed account is erased',
    as: 'admin',
    path: { accountId: 'erin@example' },
    body: { reason: 'requested by the holder' },
    answer: {
      status: 200,
      body: {
        account_id: 'erin@example',
        status: 'closed',
        erased: true,
        incoming: 'accept',
        public_key: null,
        key_id: null,
        shard_id: 51,
        sequence: 2,
        audit_hash: 'sha256:d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35',
        created_at: '2026-11-22T01:31:06.540Z',
        updated_at: '2026-11-22T01:31:06.561Z',
      },
    },
  },
  notClosed: {
    summary: 'An account that is not closed',
    as: 'admin',
    path: { accountId: 'bob@example' },
    body: { reason: 'requested by the holder' },
    answer: {
      kind: 'problem',
      type: 'conflict',
      detail: 'The account is active: only a closed one is erased.',
      codes: ['ERR_CONFLICT'],
      errors: null,
      outcome: null,
      headers: {},
    },
  },
}
