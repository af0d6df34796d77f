/** Examples of attestations. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const CREATE_ATTESTATION_EXAMPLES: Examples = {
  condition: {
    summary: 'A statement about an NFT',
    as: 'transactor',
    headers: { 'Idempotency-Key': 'report-1658' },
    body: {
      attester: 'museum@example',
      subject_class: 'cls_01M80E1QQC00000XSEBEBT7YZD',
      subject_instance: 'milkmaid',
      attestation_type: 'condition',
      statement: 'Examined and found in good condition.',
      evidence_url: 'https://museum.example/reports/1658',
    },
    answer: {
      status: 201,
      body: {
        attestation_id: 'att_01M80E1QZ5H56R01RVKPD6PAEY',
        attester: 'museum@example',
        subject_class: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        subject_instance: 'milkmaid',
        attestation_type: 'condition',
        statement: 'Examined and found in good condition.',
        evidence_url: 'https://museum.example/reports/1658',
        created_at: '2026-11-22T01:31:07.109Z',
        status: 'active',
        submitted_by: 'payments-backend',
        attester_verified: false,
        key_id: 'xCjmv75d4-Hcl_yy1txG-s-69zQSSIRboKQYph0letg',
        signature: 'MEQCIHkC1Xt8dPZWIHPK82rTkOcaWZEZxVDqbzLbJ0vSSw+sAiBb0RgppM1SpwHJJhJlSacRLR+okIL79FQbyxqbv83sug==',
      },
    },
  },
  signed: {
    summary: 'A statement that its attester signed',
    as: 'transactor',
    body: {
      attester: 'bob@example',
      subject_class: 'cls_01M80E1QQC00000XSEBEBT7YZD',
      subject_instance: 'milkmaid',
      attestation_type: 'custody',
      statement: 'In our vault.',
      signature: 'PVtagyyhWad6i-sXG7j25fr4fQjZVDaTslB3EeYEnXq4aj1FjTI42ug52OXljzmEzWb-0eZIDYJkmsrMHywtjQ',
    },
    answer: {
      status: 201,
      body: {
        attestation_id: 'att_01M80E1QZZCDG0P9ZSK0HHW0XG',
        attester: 'bob@example',
        subject_class: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        subject_instance: 'milkmaid',
        attestation_type: 'custody',
        statement: 'In our vault.',
        created_at: '2026-11-22T01:31:07.135Z',
        status: 'active',
        submitted_by: 'payments-backend',
        attester_verified: true,
        key_id: 'xCjmv75d4-Hcl_yy1txG-s-69zQSSIRboKQYph0letg',
        signature: 'MEUCIQDmM6F5C73pF7Wfpy+Mj4Q7K9762C2/WAfo6kcLSgbKbwIgB3U5p5y6PVn8ZtJDcfKZbh3kMXQS3RIXbhBupkfB1Wk=',
      },
    },
  },
  unknownSubject: {
    summary: 'A statement about nothing',
    as: 'transactor',
    body: {
      attester: 'museum@example',
      subject_class: 'cls_01M80E1QQC00000XSEBEBT7YZD',
      subject_instance: 'unknown',
      attestation_type: 'condition',
      statement: 'Examined and found in good condition.',
      evidence_url: 'https://museum.example/reports/1658',
    },
    answer: {
      kind: 'problem',
      type: 'not-found',
      detail: 'The class has no such instance.',
      codes: ['ERR_NOT_FOUND'],
      errors: [{ field: 'subject_instance', message: 'The class has no such instance.' }],
      outcome: null,
      headers: {},
    },
  },
}

export const GET_ATTESTATION_EXAMPLES: Examples = {
  condition: {
    summary: 'One attestation',
    as: 'viewer',
    path: { attestationId: 'att_01M80E1QZ5H56R01RVKPD6PAEY' },
    answer: {
      status: 200,
      body: {
        attestation_id: 'att_01M80E1QZ5H56R01RVKPD6PAEY',
        attester: 'museum@example',
        subject_class: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        subject_instance: 'milkmaid',
        attestation_type: 'condition',
        statement: 'Examined and found in good condition.',
        evidence_url: 'https://museum.example/reports/1658',
        created_at: '2026-11-22T01:31:07.109Z',
        status: 'active',
        submitted_by: 'payments-backend',
        attester_verified: false,
        key_id: 'xCjmv75d4-Hcl_yy1txG-s-69zQSSIRboKQYph0letg',
        signature: 'MEQCIHkC1Xt8dPZWIHPK82rTkOcaWZEZxVDqbzLbJ0vSSw+sAiBb0RgppM1SpwHJJhJlSacRLR+okIL79FQbyxqbv83sug==',
      },
    },
  },
}

export const REVOKE_ATTESTATION_EXAMPLES: Examples = {
  custody: {
    summary: 'A statement is taken back',
    as: 'transactor',
    path: { attestationId: 'att_01M80E1QZZCDG0P9ZSK0HHW0XG' },
    body: { reason: 'moved to another vault' },
    answer: {
      status: 200,
      body: {
        attestation_id: 'att_01M80E1QZZCDG0P9ZSK0HHW0XG',
        attester: 'bob@example',
        subject_class: 'cls_01M80E1QQC00000XSEBEBT7YZD',
        subject_instance: 'milkmaid',
        attestation_type: 'custody',
        statement: 'In our vault.',
        created_at: '2026-11-22T01:31:07.135Z',
        status: 'revoked',
        submitted_by: 'payments-backend',
        attester_verified: true,
        revoked_at: '2026-11-22T01:31:07.163Z',
        revoked_by: 'payments-backend',
        revocation_reason: 'moved to another vault',
        key_id: 'xCjmv75d4-Hcl_yy1txG-s-69zQSSIRboKQYph0letg',
        signature: 'MEUCIQD0PZa99Upk1Ecb5r8WHyYYSQ+4DgU/Lwc0c2OpEX6DoAIgVm+HL6s1UATP5PG5sjRZZU7C8FeWXXUAsyrrTd9G+kc=',
      },
    },
  },
}

export const LIST_ATTESTATIONS_EXAMPLES: Examples = {
  active: {
    summary: 'What is stated of an NFT',
    as: 'viewer',
    query: {
      subject_class: 'cls_01M80E1QQC00000XSEBEBT7YZD',
      subject_instance: 'milkmaid',
      status: 'active',
    },
    answer: {
      status: 200,
      body: {
        attestations: [
          {
            attestation_id: 'att_01M80E1QZ5H56R01RVKPD6PAEY',
            attester: 'museum@example',
            subject_class: 'cls_01M80E1QQC00000XSEBEBT7YZD',
            subject_instance: 'milkmaid',
            attestation_type: 'condition',
            statement: 'Examined and found in good condition.',
            created_at: '2026-11-22T01:31:07.109Z',
            status: 'active',
            submitted_by: 'payments-backend',
            attester_verified: false,
          },
        ],
        next_page_token: '',
      },
    },
  },
}
