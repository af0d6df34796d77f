/** A group behaves over HTTP as the model predicts, on covering paths. */
import { describe, expect, test } from 'vitest'
import type { LedgerClient } from '../support/client/client.ts'
import { follow } from './group-driver.ts'
import { SCENES } from './group-model.ts'
import { allPaths, coveringPaths, type GroupPath } from './group-paths.ts'
import { httpStage } from './group-stage-http.ts'

/** Paths that are walked at once. */
const WALKERS = 6

export function groupPathsSuite(getClient: () => LedgerClient): void {
  describe.for(SCENES)('group paths: $title', (scene) => {
    test('every covering path ends as the model says', async () => {
      const paths = coveringPaths(allPaths(scene))
      expect(await walked(paths, getClient())).toBe(paths.length)
    })
  })
}

/** Those that wait first, so that none waits alone at the end. */
async function walked(paths: readonly GroupPath[], client: LedgerClient): Promise<number> {
  const left = [...paths].sort((one, other) => Number(waits(one)) - Number(waits(other)))
  let count = 0
  const walk = async (): Promise<void> => {
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      await follow(path, httpStage(client))
      count += 1
    }
  }
  await Promise.all(Array.from({ length: WALKERS }, walk))
  return count
}

function waits({ steps }: GroupPath): boolean {
  return steps.some(({ action }) => action.type === 'time_out')
}
