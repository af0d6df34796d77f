/** On every path a group behaves as the model predicts, by the actors' steps alone. */
import { expect, test } from 'vitest'
import { walk } from './group-driver.ts'
import { SCENES } from './group-model.ts'
import { allPaths } from './group-paths.ts'
import { pureStage } from './group-stage-pure.ts'

test.for(SCENES)('$title: every path ends as the model says', (scene) => {
  const paths = allPaths(scene)
  expect(paths.length).toBeGreaterThan(2)
  for (const { steps } of paths) walk(steps, pureStage(scene))
})
