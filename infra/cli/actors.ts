/** `ledger actors describe KIND`: the machine of a kind of actor, as it runs. */
import { ACTOR_KINDS } from '../../actors/address.ts'
import { type Command, EXIT_OK, readArgs, UsageError } from './common/command.ts'
import { actorText, describeActor } from './describe-actor.ts'

export const actorsCommand: Command = {
  summary: 'show the states, commands and guards of a kind of actor',
  help: `Usage: ledger actors describe KIND

Prints what an actor of that kind does with each command in each state, and a Mermaid diagram of its states:

    command [guard]: action -> state

Of a command's lines the first counts whose guard holds; without an arrow the state stays.
KIND: ${ACTOR_KINDS.join(', ')}
`,
  run: async (args, io) => {
    const { positionals } = readArgs(args, {}, { least: 2, most: 2, what: 'describe KIND' })
    const [verb, name] = positionals
    if (verb !== 'describe') throw new UsageError(`there is no ${verb ?? ''}: ledger actors describe KIND`)
    const kind = ACTOR_KINDS.find((one) => one === name)
    if (kind === undefined) throw new UsageError(`there is no kind ${name ?? ''}: ${ACTOR_KINDS.join(', ')}`)
    io.out(actorText(describeActor(kind)))
    return EXIT_OK
  },
}
