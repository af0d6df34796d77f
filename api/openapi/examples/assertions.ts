/** Examples of assertions. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const PROVE_LIABILITIES_EXAMPLES: Examples = {
  auditor: {
    summary: 'What the ledger owes in all',
    as: 'viewer',
    body: { requester: 'Example Audit Ltd' },
    answer: {
      status: 200,
      body: {
        assertion_type: 'proof-of-liabilities',
        requester: 'Example Audit Ltd',
        result: {
          total_liabilities: '1610.5',
          merkle_root: 'sha256:125cc43e47bf5ae3987799c59cb904511e1854bb3a74ac81405469bbf02623b8',
          by_token: [
            { token_id: 'BASE', total: '100.5' },
            { token_id: 'EURX', total: '1500' },
            { token_id: 'GOLD', total: '10' },
          ],
          as_of: '2026-11-22T01:31:07.301Z',
          assertion_type: 'proof-of-liabilities',
          requester: 'Example Audit Ltd',
          ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
          key_id: 'e8xK8y4BjThFvvU6xNWUsDol-ifLmD1Q9cnucbCoZ-U',
          generated_at: '2026-11-22T01:31:07.320Z',
        },
        signature: 'MEYCIQDVb99Nb7+RHJ2Ja5hvzMA8gyLDkPYxoLX6HnXgKML3HwIhAJW7VM97Xo072vfL4W64fQxOwCX91/HMn4AegBg1icjU',
      },
    },
  },
}

export const PROVE_PROVENANCE_EXAMPLES: Examples = {
  auditor: {
    summary: 'Whether every NFT’s history holds',
    as: 'viewer',
    body: { requester: 'Example Audit Ltd' },
    answer: {
      status: 200,
      body: {
        assertion_type: 'proof-of-provenance',
        requester: 'Example Audit Ltd',
        result: {
          assets_verified: 1,
          provenance_valid: true,
          as_of: '2026-11-22T01:31:07.509Z',
          last_full_pass_at: '2026-11-22T01:31:07.525Z',
          assertion_type: 'proof-of-provenance',
          requester: 'Example Audit Ltd',
          ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
          key_id: 'e8xK8y4BjThFvvU6xNWUsDol-ifLmD1Q9cnucbCoZ-U',
          generated_at: '2026-11-22T01:31:07.534Z',
        },
        signature: 'MEQCIH+LEUd/bjUTj2US2DGYVIfn0jf5WBrdBv9eoTSuewSiAiAfQ4N/zJgcCZiBTITrheljXVayXKPztAAgMjqfXyWdoQ==',
      },
    },
  },
}

export const PROVE_COMPLIANCE_EXAMPLES: Examples = {
  auditor: {
    summary: 'Whether the controls pass',
    as: 'viewer',
    body: { requester: 'Example Audit Ltd' },
    answer: {
      status: 200,
      body: {
        assertion_type: 'proof-of-compliance',
        requester: 'Example Audit Ltd',
        result: {
          compliant: true,
          frameworks: ['ledger-integrity-1'],
          controls: [
            { name: 'chains_verify', passed: true, checked: 21, failed: 0 },
            { name: 'value_is_conserved', passed: true, checked: 3, failed: 0 },
            { name: 'receipts_verify', passed: true, checked: 14, failed: 0 },
            { name: 'no_negative_balance', passed: true, checked: 5, failed: 0 },
            { name: 'supply_reconciles', passed: true, checked: 2, failed: 0 },
          ],
          as_of: '2026-11-22T01:31:07.655Z',
          last_full_pass_at: '2026-11-22T01:31:07.702Z',
          assertion_type: 'proof-of-compliance',
          requester: 'Example Audit Ltd',
          ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
          key_id: 'e8xK8y4BjThFvvU6xNWUsDol-ifLmD1Q9cnucbCoZ-U',
          generated_at: '2026-11-22T01:31:07.721Z',
        },
        signature: 'MEUCIQDBEtwJFNybWoBkTr0Ve7WlEfLRNh/XFmw9Prmo7p8/OgIgLTJLWe68+wIisSSF+84ky2q9jb42siVzWLxwv5CqUYs=',
      },
    },
  },
}

export const VERIFY_ASSERTION_EXAMPLES: Examples = {
  valid: {
    summary: 'Anyone who holds a result and its signature can have it verified',
    as: 'viewer',
    body: {
      assertion_type: 'proof-of-liabilities',
      result: {
        total_liabilities: '1610.5',
        merkle_root: 'sha256:125cc43e47bf5ae3987799c59cb904511e1854bb3a74ac81405469bbf02623b8',
        by_token: [
          { token_id: 'BASE', total: '100.5' },
          { token_id: 'EURX', total: '1500' },
          { token_id: 'GOLD', total: '10' },
        ],
        as_of: '2026-11-22T01:31:07.301Z',
        assertion_type: 'proof-of-liabilities',
        requester: 'Example Audit Ltd',
        ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
        key_id: 'e8xK8y4BjThFvvU6xNWUsDol-ifLmD1Q9cnucbCoZ-U',
        generated_at: '2026-11-22T01:31:07.320Z',
      },
      signature: 'MEYCIQDVb99Nb7+RHJ2Ja5hvzMA8gyLDkPYxoLX6HnXgKML3HwIhAJW7VM97Xo072vfL4W64fQxOwCX91/HMn4AegBg1icjU',
    },
    answer: { status: 200, body: { valid: true, verified_at: '2026-11-22T01:31:07.735Z' } },
  },
  changed: {
    summary: 'A result that was changed',
    as: 'viewer',
    body: {
      assertion_type: 'proof-of-liabilities',
      result: {
        total_liabilities: '1',
        merkle_root: 'sha256:125cc43e47bf5ae3987799c59cb904511e1854bb3a74ac81405469bbf02623b8',
        by_token: [
          { token_id: 'BASE', total: '100.5' },
          { token_id: 'EURX', total: '1500' },
          { token_id: 'GOLD', total: '10' },
        ],
        as_of: '2026-11-22T01:31:07.301Z',
        assertion_type: 'proof-of-liabilities',
        requester: 'Example Audit Ltd',
        ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
        key_id: 'e8xK8y4BjThFvvU6xNWUsDol-ifLmD1Q9cnucbCoZ-U',
        generated_at: '2026-11-22T01:31:07.320Z',
      },
      signature: 'MEYCIQDVb99Nb7+RHJ2Ja5hvzMA8gyLDkPYxoLX6HnXgKML3HwIhAJW7VM97Xo072vfL4W64fQxOwCX91/HMn4AegBg1icjU',
    },
    answer: {
      status: 200,
      body: {
        valid: false,
        verified_at: '2026-11-22T01:31:07.737Z',
        reason: 'The signature does not match the result.',
      },
    },
  },
}

export const GET_LIABILITY_PROOF_EXAMPLES: Examples = {
  alice: {
    summary: 'That an account is counted in',
    as: 'viewer',
    path: { accountId: 'alice@example' },
    answer: {
      status: 200,
      body: {
        account_id: 'alice@example',
        merkle_root: 'sha256:125cc43e47bf5ae3987799c59cb904511e1854bb3a74ac81405469bbf02623b8',
        totals: [
          {
            token_id: 'BASE',
            root: 'sha256:27d9072dca98c728ebdf8dc28609f1fcca0d31b63334633cd865d502919a061d',
            total: '100.5',
          },
          {
            token_id: 'EURX',
            root: 'sha256:b2c93e0912e46281623f90fffc3275dc2ded9130cfc5aad682dc5c6f11b156ce',
            total: '1500',
          },
          {
            token_id: 'GOLD',
            root: 'sha256:9930b0cbc4224b97e59365ba3a28ee968e0076a4cc182d0cad858363350d82ee',
            total: '10',
          },
        ],
        proofs: [
          {
            token_id: 'BASE',
            amount: '100.5',
            shares: [
              {
                index: 1,
                amount: '93.973915423435938822',
                nonce: 'e53996886c536dd3c72d1acf80438fab',
                siblings: [
                  {
                    hash: 'sha256:88fcc33cfc0b1e257f447eb01eb25eadc5fbfa899202126506b89bc235edecd7',
                    sum: '6.526084576564061178',
                  },
                ],
              },
              {
                index: 0,
                amount: '6.526084576564061178',
                nonce: 'd178713fb259de201462f089de404f8b',
                siblings: [
                  {
                    hash: 'sha256:f73786ee63664cc88463f6086b0b3a3007dc1142db95d1afb796ec84733aee74',
                    sum: '93.973915423435938822',
                  },
                ],
              },
            ],
          },
          {
            token_id: 'EURX',
            amount: '1460',
            shares: [
              {
                index: 3,
                amount: '1045.036693296691982029',
                nonce: '5eee45ccda4c8196cd035e24da7ea75e',
                siblings: [
                  {
                    hash: 'sha256:7556f4015c16616bdd4972000a5f3b7b6129619a8191ed59ec5f0c2f355ab6ab',
                    sum: '414.963306703308017971',
                  },
                  {
                    hash: 'sha256:0ee9b3daad2611e415bb81dd5f443d681b19f20b5c799dfe0e3bef8e8328400f',
                    sum: '40',
                  },
                ],
              },
              {
                index: 2,
                amount: '414.963306703308017971',
                nonce: '218c91a7e86ce2f729ca3febdd2f7636',
                siblings: [
                  {
                    hash: 'sha256:414960b300e35c9c7012b2b2f511fc9f5b31a4c0242bca5130cd5d87ca8cfcc9',
                    sum: '1045.036693296691982029',
                  },
                  {
                    hash: 'sha256:0ee9b3daad2611e415bb81dd5f443d681b19f20b5c799dfe0e3bef8e8328400f',
                    sum: '40',
                  },
                ],
              },
            ],
          },
          {
            token_id: 'GOLD',
            amount: '1',
            shares: [
              {
                index: 1,
                amount: '0.167252004899709271',
                nonce: '5f6e06ffebc6a1e28c9b25a013ce0980',
                siblings: [
                  {
                    hash: 'sha256:d8856de9e50d2686c2d44c6baf936af37f697d98163413bc259212472a6d4d52',
                    sum: '1.51184792110178308',
                  },
                  {
                    hash: 'sha256:6b9fd63454334dcbccf0b2c06e2a6f840462df211b5fc9a2ecde3cab556d4ecf',
                    sum: '8.320900073998507649',
                  },
                ],
              },
              {
                index: 3,
                amount: '0.832747995100290729',
                nonce: '1ed328f2be2db2588fd7fc956992a18e',
                siblings: [
                  {
                    hash: 'sha256:62a0d2857043b90edbb9f8beb65a66520f7b777d8ed298e3a35b27b7a2d149a0',
                    sum: '7.48815207889821692',
                  },
                  {
                    hash: 'sha256:a96937b6ff084ffadcf92243418af273a813c1160a3f24debbf554ff4163c686',
                    sum: '1.679099926001492351',
                  },
                ],
              },
            ],
          },
        ],
        assertion: {
          assertion_type: 'proof-of-liabilities',
          requester: 'auditor',
          result: {
            total_liabilities: '1610.5',
            merkle_root: 'sha256:125cc43e47bf5ae3987799c59cb904511e1854bb3a74ac81405469bbf02623b8',
            by_token: [
              { token_id: 'BASE', total: '100.5' },
              { token_id: 'EURX', total: '1500' },
              { token_id: 'GOLD', total: '10' },
            ],
            as_of: '2026-11-22T01:31:07.301Z',
            assertion_type: 'proof-of-liabilities',
            requester: 'auditor',
            ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
            key_id: 'e8xK8y4BjThFvvU6xNWUsDol-ifLmD1Q9cnucbCoZ-U',
            generated_at: '2026-11-22T01:31:07.772Z',
          },
          signature: 'MEYCIQD3F4+5u+S3De5ei/YxXN/x9Q0JrZ5/SBnO8wu3K4uW8AIhALNzJkljj4E9cvuhIYL2fK/9n0uXW1BefCBMkagM5IVF',
        },
        next_page_token: '',
      },
    },
  },
}
