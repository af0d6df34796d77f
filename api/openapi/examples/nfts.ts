/** Examples of NFTs. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const CREATE_NFT_CLASS_EXAMPLES: Examples = {
  paintings: {
    summary: 'A class and what its instances say of themselves',
    as: 'transactor',
    headers: { 'Idempotency-Key': 'register-paintings' },
    body: {
      name: 'Paintings',
      description: 'Paintings in the vault of the issuer.',
      issuer: 'alice@example',
      metadata_schema: {
        type: 'object',
        required: ['artist', 'year'],
        properties: { artist: { type: 'string', maxLength: 100 }, year: { type: 'integer', minimum: 1400 } },
        additionalProperties: false,
      },
    },
    answer: {
      status: 201,
      body: {
        class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        name: 'Paintings',
        description: 'Paintings in the vault of the issuer.',
        issuer: 'alice@example',
        metadata_schema: {
          additionalProperties: false,
          properties: {
            artist: { maxLength: 100, type: 'string' },
            year: { minimum: 1400, type: 'integer' },
          },
          required: ['artist', 'year'],
          type: 'object',
        },
        created_at: '2026-11-22T01:31:06.860Z',
      },
    },
  },
  duplicate: {
    summary: 'The name is taken',
    as: 'transactor',
    body: { name: 'PAINTINGS', description: '', issuer: 'alice@example', metadata_schema: {} },
    answer: {
      kind: 'problem',
      type: 'conflict',
      detail: 'The name is taken.',
      codes: ['ERR_CONFLICT'],
      errors: [{ field: 'name', message: 'The name is taken.' }],
      outcome: null,
      headers: {},
    },
  },
  badSchema: {
    summary: 'A schema that is none',
    as: 'transactor',
    body: { name: 'Prints', description: '', issuer: 'alice@example', metadata_schema: { type: 'picture' } },
    answer: {
      kind: 'problem',
      type: 'validation-error',
      detail: 'metadata_schema: It is not a JSON Schema of 2020-12: /type must be equal to one of the allowed values.',
      codes: ['ERR_INVALID_SCHEMA'],
      errors: [
        {
          field: 'metadata_schema',
          message: 'It is not a JSON Schema of 2020-12: /type must be equal to one of the allowed values.',
        },
      ],
      outcome: null,
      headers: {},
    },
  },
}

export const LIST_NFT_CLASSES_EXAMPLES: Examples = {
  all: {
    summary: 'All classes',
    as: 'viewer',
    answer: {
      status: 200,
      body: {
        classes: [
          {
            class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
            name: 'Paintings',
            issuer: 'alice@example',
            created_at: '2026-11-22T01:31:06.860Z',
          },
        ],
        next_page_token: '',
        total_count: 1,
        total_count_relation: 'eq',
      },
    },
  },
}

export const GET_NFT_CLASS_EXAMPLES: Examples = {
  paintings: {
    summary: 'One class',
    as: 'viewer',
    path: { classId: 'cls_01M80E1QQC00000XSEBEBT7YZD' },
    answer: {
      status: 200,
      body: {
        class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        name: 'Paintings',
        description: 'Paintings in the vault of the issuer.',
        issuer: 'alice@example',
        metadata_schema: {
          additionalProperties: false,
          properties: {
            artist: { maxLength: 100, type: 'string' },
            year: { minimum: 1400, type: 'integer' },
          },
          required: ['artist', 'year'],
          type: 'object',
        },
        created_at: '2026-11-22T01:31:06.860Z',
      },
    },
  },
}

export const MINT_NFT_EXAMPLES: Examples = {
  milkmaid: {
    summary: 'An NFT for its issuer',
    as: 'transactor',
    path: { classId: 'cls_01M80E1QQC00000XSEBEBT7YZD' },
    body: {
      class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
      instance_id: 'milkmaid',
      account_id: 'alice@example',
      metadata: { artist: 'Vermeer', year: 1658 },
      idempotency_key: 'mint-1',
      signature: 'hAJ4zwzn45qHfV2im3qux162XKpnVYb6hbUH5IBvAf_kdAt3OFr83wpqXs0xkarqUTy6pzNFeWCUWosOW-scOQ',
    },
    answer: {
      status: 201,
      body: {
        class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        instance_id: 'milkmaid',
        owner: 'alice@example',
        status: 'active',
        metadata: { artist: 'Vermeer', year: 1658 },
        minted_at: '2026-11-22T01:31:06.919Z',
      },
    },
  },
  duplicate: {
    summary: 'An NFT is minted once',
    as: 'transactor',
    path: { classId: 'cls_01M80E1QQC00000XSEBEBT7YZD' },
    body: {
      class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
      instance_id: 'milkmaid',
      account_id: 'alice@example',
      metadata: { artist: 'Vermeer', year: 1658 },
      idempotency_key: 'mint-2',
      signature: 'JU4gxlkguLA6mPPDRuwEk2gJUkN62mR1Sua6wEZBDJjwx9KezmgY9_8MuXBI8ashppMJ0EJ4zmuMgpkys3ZWNw',
    },
    answer: {
      kind: 'problem',
      type: 'conflict',
      detail: 'The class has, or had, an instance of this ID.',
      codes: ['ERR_CONFLICT'],
      errors: [{ field: 'instance_id', message: 'The class has, or had, an instance of this ID.' }],
      outcome: null,
      headers: {},
    },
  },
  badMetadata: {
    summary: 'Metadata that does not satisfy the class’s schema',
    as: 'transactor',
    path: { classId: 'cls_01M80E1QQC00000XSEBEBT7YZD' },
    body: {
      class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
      instance_id: 'night-watch',
      account_id: 'alice@example',
      metadata: { artist: 'Rembrandt', year: 'about 1642' },
      idempotency_key: 'mint-3',
      signature: 'HLJ1-MCR2AiDY5bPVwrBYSFVoY3TyUioM6HgK72YRMeAof0ipuGw4vos4_TIRc4h8y5btA8IDcpGT25Pa0tPvw',
    },
    answer: {
      kind: 'problem',
      type: 'validation-error',
      detail: 'metadata.year: must be integer',
      codes: ['ERR_INVALID_FIELD'],
      errors: [{ field: 'metadata.year', message: 'must be integer' }],
      outcome: null,
      headers: {},
    },
  },
}

export const LIST_NFT_INSTANCES_EXAMPLES: Examples = {
  paintings: {
    summary: 'The NFTs of a class',
    as: 'viewer',
    path: { classId: 'cls_01M80E1QQC00000XSEBEBT7YZD' },
    answer: {
      status: 200,
      body: {
        class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        instances: [
          {
            instance_id: 'milkmaid',
            owner: 'bob@example',
            status: 'active',
            metadata: { artist: 'Vermeer', year: 1658 },
            minted_at: '2026-11-22T01:31:06.919Z',
          },
        ],
        next_page_token: '',
      },
    },
  },
}

export const GET_NFT_INSTANCE_EXAMPLES: Examples = {
  milkmaid: {
    summary: 'One NFT',
    as: 'viewer',
    path: { classId: 'cls_01M80E1QQC00000XSEBEBT7YZD', instanceId: 'milkmaid' },
    answer: {
      status: 200,
      body: {
        class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        instance_id: 'milkmaid',
        owner: 'bob@example',
        status: 'active',
        metadata: { artist: 'Vermeer', year: 1658 },
        minted_at: '2026-11-22T01:31:06.919Z',
      },
    },
  },
}

export const LIST_NFT_HISTORY_EXAMPLES: Examples = {
  milkmaid: {
    summary: 'Its owners',
    as: 'viewer',
    path: { classId: 'cls_01M80E1QQC00000XSEBEBT7YZD', instanceId: 'milkmaid' },
    answer: {
      status: 200,
      body: {
        class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        instance_id: 'milkmaid',
        history: [
          {
            from: null,
            to: 'alice@example',
            txn_id: 'txn_01M80E1QRR000010T4D94D379G',
            type: 'mint',
            timestamp: '2026-11-22T01:31:06.919Z',
          },
          {
            from: 'alice@example',
            to: 'bob@example',
            txn_id: 'txn_01M80E1QVB000010VWCDV49AWT',
            type: 'transfer',
            timestamp: '2026-11-22T01:31:07.020Z',
          },
        ],
        next_page_token: '',
      },
    },
  },
}

export const LIST_ACCOUNT_NFTS_EXAMPLES: Examples = {
  bob: {
    summary: 'The NFTs of an account',
    as: 'viewer',
    path: { accountId: 'bob@example' },
    answer: {
      status: 200,
      body: {
        account_id: 'bob@example',
        nfts: [
          {
            class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
            instance_id: 'milkmaid',
            class_name: 'Paintings',
            status: 'active',
            metadata: { artist: 'Vermeer', year: 1658 },
            acquired_at: '2026-11-22T01:31:07.020Z',
          },
        ],
        next_page_token: '',
      },
    },
  },
}

export const LIST_NFT_PROVENANCE_EXAMPLES: Examples = {
  milkmaid: {
    summary: 'Everything that is known of an NFT',
    as: 'viewer',
    path: { classId: 'cls_01M80E1QQC00000XSEBEBT7YZD', instanceId: 'milkmaid' },
    answer: {
      status: 200,
      body: {
        class_id: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        instance_id: 'milkmaid',
        provenance: [
          {
            depth: 0,
            event: 'mint',
            actor: 'alice@example',
            txn_id: 'txn_01M80E1QRR000010T4D94D379G',
            timestamp: '2026-11-22T01:31:06.919Z',
          },
          {
            depth: 1,
            event: 'transfer',
            actor: 'alice@example',
            txn_id: 'txn_01M80E1QVB000010VWCDV49AWT',
            timestamp: '2026-11-22T01:31:07.020Z',
          },
          {
            depth: 1,
            event: 'attestation',
            actor: 'museum@example',
            attestation_id: 'att_01M80E1QZ5H56R01RVKPD6PAEY',
            timestamp: '2026-11-22T01:31:07.109Z',
            details: 'Examined and found in good condition.',
          },
          {
            depth: 1,
            event: 'attestation',
            actor: 'bob@example',
            attestation_id: 'att_01M80E1QZZCDG0P9ZSK0HHW0XG',
            timestamp: '2026-11-22T01:31:07.135Z',
            details: 'In our vault.',
          },
          {
            depth: 1,
            event: 'revocation',
            actor: 'bob@example',
            attestation_id: 'att_01M80E1QZZCDG0P9ZSK0HHW0XG',
            timestamp: '2026-11-22T01:31:07.163Z',
            revoked_by: 'payments-backend',
            details: 'moved to another vault',
          },
        ],
        next_page_token: '',
      },
    },
  },
}
