/** A source of assertions with settable findings, which records the questions. */
import type {
  AssertionSource,
  ComplianceFindings,
  Liabilities,
  LiabilityProof,
  LiabilityProofQuestion,
  ProvenanceFindings,
} from '../../../../runtime/ports/assertion-source.ts'

export interface FakeAssertions extends AssertionSource {
  found: {
    liabilities: Liabilities
    provenance: ProvenanceFindings
    compliance: ComplianceFindings
    proof: LiabilityProof | undefined
  }
  readonly asked: LiabilityProofQuestion[]
  /** Thrown by every call while it is set. */
  failure: Error | null
}

export const AS_OF_MS = 1_760_000_000_077

export function createFakeAssertions(): FakeAssertions {
  const fake: FakeAssertions = {
    found: {
      liabilities: {
        totalLiabilities: '12345678901234567890.5',
        byToken: [
          { tokenId: 'BASE', total: '12345678901234567890' },
          { tokenId: 'EUR.x', total: '0.5' },
        ],
        merkleRoot: 'ab'.repeat(32),
        asOfMs: AS_OF_MS,
      },
      provenance: { assetsVerified: 7, provenanceValid: true, asOfMs: AS_OF_MS, lastFullPassAtMs: AS_OF_MS - 1_000 },
      compliance: {
        compliant: true,
        frameworks: ['ledger-integrity-1'],
        controls: [{ name: 'chains_verify', passed: true, checked: 12, failed: 0 }],
        asOfMs: AS_OF_MS,
        lastFullPassAtMs: null,
      },
      proof: undefined,
    },
    asked: [],
    failure: null,
    liabilities: async () => working().liabilities,
    provenance: async () => working().provenance,
    compliance: async () => working().compliance,
    liabilityProof: async (question) => {
      fake.asked.push(question)
      return working().proof
    },
  }
  function working(): FakeAssertions['found'] {
    if (fake.failure !== null) throw fake.failure
    return fake.found
  }
  return fake
}
