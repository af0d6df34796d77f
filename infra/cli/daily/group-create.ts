import { randomUUID } from 'node:crypto'
import { InvalidArgumentError } from 'commander'
import type { GroupLegTerms } from '../../../api/client/index.ts'
import { type CommandIo, type CommandSetup, integerBetween, UsageError } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { addSessionOptions, type SessionOptions, withSession } from '../profile/session.ts'
import { printGroup } from './print-group.ts'

const MAX_TIMEOUT_S = 86_400
const DEFAULT_TIMEOUT_S = 900
const LEG_FORM =
  "It must be written as a command, such as 'debit ACCOUNT AMOUNT [TOKEN]', also credit, mint and burn; 'transfer FROM TO AMOUNT [TOKEN]'; 'nft transfer FROM TO CLASS INSTANCE'; 'nft burn OWNER CLASS INSTANCE'."

interface CreateOptions extends SessionOptions {
  readonly leg?: readonly GroupLegTerms[]
  readonly groupId?: string
  readonly timeout: number
}

export const createCommand: CommandSetup = (command, io) => {
  addSessionOptions(
    command
      .description(
        `Registers the legs that several accounts will settle together. Nothing moves before each account has signed
its legs (ledger group sign). Then all legs take effect; or none, if one fails or the time is over.

A leg is written as the command that would do it. Debits and credits of each asset must be equal.`,
      )
      .option('--leg <words>', "a leg, such as 'debit alice 5 GOLD'; repeat it for each", addLeg)
      .option(
        '--timeout <seconds>',
        'time for all legs to be signed',
        integerBetween(1, MAX_TIMEOUT_S),
        DEFAULT_TIMEOUT_S,
      )
      .option(
        '--group-id <uuid>',
        'ID of the group, random by default; the same legs with the same ID again are one group',
      ),
  ).action(({ leg: legs = [], groupId: given, timeout, ...options }: CreateOptions) => {
    if (legs.length < 2) throw new UsageError('give at least two --leg')
    return create(legs, { given, timeout, options }, io)
  })
  addExamples(command, [
    "ledger group create --leg 'debit alice 5 GOLD' --leg 'credit bob 5 GOLD'",
    "ledger group create --leg 'transfer bob alice 90 EUR' --leg 'nft transfer alice bob cls_01M80E1PYK000010SDVFCTVSQW painting-1'",
  ])
}

interface GivenGroup {
  readonly given: string | undefined
  readonly timeout: number
  readonly options: SessionOptions
}

async function create(
  legs: readonly GroupLegTerms[],
  { given, timeout, options }: GivenGroup,
  io: CommandIo,
): Promise<void> {
  await withSession(options, io, async ({ client, output, adviseIfUnknown }) => {
    const groupId = given ?? randomUUID()
    if (given === undefined) output.note(`group ID ${groupId}`)
    adviseIfUnknown(`Run the same command with --group-id ${groupId}: the group is registered at most once.`)
    printGroup(await client.registerGroup(legs, { groupId, timeoutSeconds: timeout }), output)
  })
}

function addLeg(text: string, found: readonly GroupLegTerms[] = []): readonly GroupLegTerms[] {
  const leg = legOf(text.trim().split(/\s+/))
  if (leg === undefined) throw new InvalidArgumentError(LEG_FORM)
  return [...found, leg]
}

/** `words`: of the command that would do the same. Undefined if there is no such command. */
export function legOf(words: readonly string[]): GroupLegTerms | undefined {
  const [name, ...rest] = words
  switch (name) {
    case 'credit':
    case 'debit':
    case 'mint':
    case 'burn': {
      const [account_id, amount, token_id, ...others] = rest
      if (account_id === undefined || amount === undefined || others.length > 0) return undefined
      return { account_id, type: name, amount, ...(token_id === undefined ? {} : { token_id }) }
    }
    case 'transfer': {
      const [account_id, to_account_id, amount, token_id, ...others] = rest
      if (account_id === undefined || to_account_id === undefined || amount === undefined || others.length > 0) {
        return undefined
      }
      return { account_id, type: 'transfer', to_account_id, amount, ...(token_id === undefined ? {} : { token_id }) }
    }
    case 'nft':
      return nftLegOf(rest)
    default:
      return undefined
  }
}

function nftLegOf([name, account_id, ...rest]: readonly string[]): GroupLegTerms | undefined {
  const [to_account_id, nft] = name === 'transfer' ? [rest[0], rest.slice(1)] : [undefined, rest]
  const [class_id, instance_id] = nft
  const isKnown = name === 'burn' || (name === 'transfer' && to_account_id !== undefined)
  if (!isKnown || account_id === undefined || instance_id === undefined || class_id === undefined || nft.length > 2) {
    return undefined
  }
  const receiver = to_account_id === undefined ? {} : { to_account_id }
  return { account_id, type: name, amount: '1', class_id, instance_id, ...receiver }
}
