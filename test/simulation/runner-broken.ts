/** A rule switched off by name, to see how it is found: `--break replyBeforeCommit`. */
import type { ClusterOptions } from './cluster.ts'
import { DOMAIN_MUTATIONS, type DomainMutation } from './cluster-mutations-domain.ts'
import { NO_RUNTIME_MUTATIONS } from './cluster-mutations.ts'
import { NO_STORE_MUTATIONS } from './sim-ledger-store-faults.ts'

const DOMAIN = Object.keys(DOMAIN_MUTATIONS) as readonly DomainMutation[]

export const BREAKABLE: readonly string[] = [
  ...namesOf(NO_RUNTIME_MUTATIONS),
  ...DOMAIN,
  ...namesOf(NO_STORE_MUTATIONS),
]

export type Mutations = Pick<ClusterOptions, 'storeMutations' | 'runtimeMutations'>

/** None for null. */
export function mutationsOf(name: string | null): Mutations {
  if (name === null) return {}
  const domain = DOMAIN.find((known) => known === name) ?? null
  return {
    runtimeMutations: { ...switched(NO_RUNTIME_MUTATIONS, name), domain },
    storeMutations: switched(NO_STORE_MUTATIONS, name),
  }
}

function namesOf(rules: object): readonly string[] {
  return Object.entries(rules)
    .filter(([, value]) => typeof value === 'boolean')
    .map(([name]) => name)
}

function switched<T extends object>(rules: T, name: string): T {
  const value: unknown = Reflect.get(rules, name)
  return typeof value === 'boolean' ? { ...rules, [name]: !value } : rules
}
