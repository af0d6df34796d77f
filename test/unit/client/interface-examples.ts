/** The recorded examples of the OpenAPI document, which a ledger gave, for tests that change them. */
import { expect } from 'vitest'
import type { Json } from '../../../actors/canonical-json.ts'
import type {
  AuditEntry,
  KeySet,
  LiabilitiesAssertion,
  LiabilityProof,
  Receipt,
  Statement,
} from '../../../api/client/index.ts'
import { EXAMPLES } from '../../../api/openapi/examples.ts'

type Fields = Record<string, Json>

/** The body of a recorded reply. */
export function exampleOf<Shown>(operation: string, name: string): Shown {
  const example = EXAMPLES.find((one) => one.operation === operation && one.name === name)
  if (example?.answer?.body === undefined) throw new Error(`there is no example ${name}`)
  return structuredClone(example.answer.body) as object as Shown
}

/** Documents that anybody can verify, and the keys that signed them. */
export function provedExamples() {
  const { entries } = exampleOf<{ entries: readonly AuditEntry[] }>('listAuditChain', 'alice')
  return {
    keySet: exampleOf<KeySet>('getKeySet', 'keys'),
    receipt: exampleOf<Receipt>('getReceipt', 'completed'),
    failed: exampleOf<Receipt>('getReceipt', 'failed'),
    entries,
    statement: exampleOf<Statement>('getStatement', 'bob'),
    assertion: exampleOf<LiabilitiesAssertion>('proveLiabilities', 'auditor'),
    proof: exampleOf<LiabilityProof>('getLiabilityProof', 'alice'),
  }
}

/** The same with a member at a path, such as `receipt.amount`, changed. */
export function changed<Value extends object>(value: Value, path: string, by: Json): Value {
  const copy = structuredClone(value)
  const names = path.split('.')
  const last = names.pop() ?? ''
  let at = copy as object as Fields
  for (const name of names) at = at[name] as Fields
  expect(at).toHaveProperty([last])
  at[last] = by
  return copy
}
