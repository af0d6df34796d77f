/**
 * The order in which test files begin: what takes longest first, so that nothing long is left to run alone at the end;
 * what takes a moment each comes last and fills the gaps. What is measured is told by `vitest run --reporter=json`.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** By the time that they take, the longest first. */
const SLOWEST = [
  'e2e/running-ledger.e2e',
  'e2e/many-nodes.e2e',
  'e2e/scaling.e2e',
  'e2e/failover.e2e',
  'e2e/master-key-rotation.e2e',
  'simulation/mutations.sim',
  'integration/private-logs',
  'e2e/conformance.e2e',
  'contract/ledger-store-postgres.contract',
  'integration/loader',
  'e2e/value-moves.e2e',
  'e2e/',
  'integration/',
  'simulation/',
  'contract/',
  'model/',
]

export class SlowestFirst extends BaseSequencer {
  /** Files that stand at the same place stay as they come. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

function placeOf({ moduleId, project }: TestSpecification): number {
  // Between two of the others it would end the process that runs them.
  if (project.config.isolate) return SLOWEST.length + 1
  const place = SLOWEST.findIndex((path) => moduleId.includes(`/test/${path}`))
  return place === -1 ? SLOWEST.length : place
}
