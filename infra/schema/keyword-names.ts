/** Keywords of ours, which stand only in what the compiler is given. */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'

/** Its value is what a look at the schema costs, in steps. */
export const STEPS = 'ledgerSteps'
/** Stands for `unevaluatedProperties` and `unevaluatedItems`; its value is a place in `ReducedSchema.nodes`. */
export const UNEVALUATED = 'ledgerUnevaluated'
/** Stands for `contains`, `minContains` and `maxContains`; its value is a place in `ReducedSchema.nodes`. */
export const CONTAINS = 'ledgerContains'

/** What a look at the schema costs, without the schemas in it. */
export function stepsOf(schema: JsonObject): number {
  return 1 + Object.values(schema).reduce((sum: number, value) => sum + membersOf(value), 0)
}

function membersOf(value: Json): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1
}
