/** On every path a group behaves as the model predicts, by the actors' steps alone. */
import { expect, test } from 'vitest'
import { follow } from './group-driver.ts'
import { SCENES } from './group-model.ts'
import { allPaths } from './group-paths.ts'
import { pureStage } from './group-stage-pure.ts'

test.for(SCENES)('$title: every path ends as the model says', async (scene) => {
  const paths = allPaths(scene)
  expect(paths.length).toBeGreaterThan(2)
  for (const path of paths) await follow(path, pureStage())
})
