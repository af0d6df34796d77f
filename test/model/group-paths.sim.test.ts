/**
 * Goal: on covering paths through its life a group does in a cluster what the model says, over nodes, messages and stores as
 * they run, and the checkers of the simulation find nothing. Time and chance are virtual: one seed, one run.
 */
import { describe, expect, test } from 'vitest'
import { follow } from './group-driver.ts'
import { SCENES } from './group-model.ts'
import { allPaths, coveringPaths } from './group-paths.ts'
import { LONG_SECONDS, simulatedStage } from './group-stage-simulated.ts'
import { startSimulatedLedger } from './simulated-ledger.ts'

describe.for(SCENES)('$title', (scene) => {
  test('every covering path ends as the model says', async () => {
    const ledger = await startSimulatedLedger(1)
    for (const path of coveringPaths(allPaths(scene))) await follow(path, simulatedStage(ledger))
    // Open groups are reverted meanwhile.
    expect(await ledger.findingsAfter(2 * LONG_SECONDS * 1_000)).toEqual([])
  })
})
