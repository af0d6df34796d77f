/** Imports with a settable outcome, which record the parts. */
import type {
  ImportOutcome,
  ImportPart,
  ImportStatus,
  LedgerImports,
} from '../../../../runtime/ports/ledger-imports.ts'

interface FakeImports extends LedgerImports {
  outcome: ImportOutcome
  readonly statuses: Map<string, ImportStatus>
  readonly taken: ImportPart[]
  /** Thrown by every call while it is set. */
  failure: Error | null
}

export const IMPORT_KEY = {
  keyId: 'Wk2nVtl1xvI2gZk5gR8oVn4iSJFO0SxqLKjJkRJqV3o',
  x: 'vGhnOTDSWWCGDXpjvYMlDv6pvlwVTYKQu8pNSpwVfkE',
  y: '1GJ2yBmYNzoVrbZzcWa5DB4v6XHPl4ZEbA9wYFUtZ9s',
}

export function anImportStatus(changes: Partial<ImportStatus>): ImportStatus {
  return { phase: 'staging', nextPart: 3, lines: 17, done: 0, total: 0, summary: null, refusal: null, ...changes }
}

export function createFakeImports(): FakeImports {
  const working = (): FakeImports => {
    if (fake.failure !== null) throw fake.failure
    return fake
  }
  const fake: FakeImports = {
    outcome: anImportStatus({ nextPart: 1, lines: 1 }),
    statuses: new Map(),
    taken: [],
    failure: null,
    key: () => {
      working()
      return IMPORT_KEY
    },
    take: async (part) => {
      working().taken.push(part)
      return fake.outcome
    },
    status: async (importId) => working().statuses.get(importId),
  }
  return fake
}
