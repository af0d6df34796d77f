/** Goal: on every path through its life a group does what its parties were told it would, by the steps of the domain alone. */
import { expect, test } from 'vitest'
import { stepActor, type StepActor } from '../../actors/step-actor.ts'
import { follow } from './group-driver.ts'
import { SCENES } from './group-model.ts'
import { allPaths } from './group-paths.ts'
import { pureStage } from './group-stage-pure.ts'

const WALKS = SCENES.map((scene) => ({ title: scene.title, paths: allPaths(scene) }))

test.for(WALKS)('$title: every path ends as the model says', ({ paths }) => {
  expect(paths.length).toBeGreaterThan(2)
  for (const path of paths) follow(path, pureStage)
})

/** The step, but messages of one type are lost. */
function losing(type: string): StepActor {
  return (...args) => {
    const outcome = stepActor(...args)
    if (outcome.kind !== 'stepped') return outcome
    const effects = outcome.effects.filter(
      (effect) => effect.kind !== 'message_sent' || effect.envelope.message.type !== type,
    )
    return { ...outcome, effects }
  }
}

test.for(['leg_failed', 'leg_reverted', 'leg_settled', 'credit_leg'])('a ledger that loses %s is found out', (type) => {
  const walk = (): void => {
    for (const path of SCENES.filter(({ title }) => title === 'three legs').flatMap(allPaths)) {
      follow(path, (scene) => pureStage(scene, { step: losing(type) }))
    }
  }
  expect(walk).toThrow(/Never|expected|invariant|not|no leg/)
})
