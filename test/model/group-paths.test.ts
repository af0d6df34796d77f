/** Goal: on every path through its life a group does what its parties were told it would, by the steps of the domain alone. */
import { describe, expect, test } from 'vitest'
import { stepActor, type StepActor } from '../../actors/step-actor.ts'
import { follow } from './group-driver.ts'
import { SCENES } from './group-model.ts'
import { allPaths, chosenPaths, coveringPaths } from './group-paths.ts'
import { pureStage } from './group-stage-pure.ts'

describe.for(SCENES)('$title', (scene) => {
  const paths = allPaths(scene)

  test('every path ends as the model says', async () => {
    expect(paths.length).toBeGreaterThan(2)
    for (const path of paths) await follow(path, pureStage())
  })

  test('the covering paths are fewer, and walk every pair of actions that any path walks', () => {
    const pairsOf = (some: readonly { readonly pairs: readonly string[] }[]) =>
      new Set(some.flatMap(({ pairs }) => pairs))
    const covering = coveringPaths(paths)
    expect(pairsOf(covering)).toEqual(pairsOf(paths))
    expect(covering.length).toBeLessThanOrEqual(paths.length)
  })
})

const three = SCENES.filter(({ title }) => title === 'three legs').flatMap(chosenPaths)

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

test.for(['leg_failed', 'leg_reverted', 'leg_settled', 'credit_leg'])(
  'a ledger that loses %s is found out',
  async (type) => {
    const scene = SCENES.find(({ title }) => title === 'three legs') ?? SCENES[0]
    if (scene === undefined) throw new Error('There is no scene.')
    const walk = async (): Promise<void> => {
      for (const path of three) await follow(path, pureStage({ step: losing(type) }))
    }
    await expect(walk()).rejects.toThrow(/Never|expected|invariant|not|no leg/)
  },
)
