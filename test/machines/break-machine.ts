/** Set-up of a run of tests on a broken machine: `LEDGER_BROKEN_MACHINE` names what it lacks. */
import { ACTORS } from '../../actors/step-actor.ts'
import { brokenActor, mutationNamed } from './mutations.ts'

const name = process.env['LEDGER_BROKEN_MACHINE']
if (name !== undefined && name !== '') {
  const mutation = mutationNamed(name)
  Object.assign(ACTORS[mutation.kind], { step: brokenActor(mutation).step })
}
