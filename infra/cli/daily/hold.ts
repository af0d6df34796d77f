import { InvalidArgumentError, Option } from 'commander'
import { collected } from '../../../api/client/collected.ts'
import { type HoldCapture, type HoldOrder, signOrder } from '../../../api/client/index.ts'
import { type CommandIo, type CommandSetup, UsageError } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import type { Column } from '../common/output.ts'
import { addSessionOptions, type SessionOptions, signingKey, withSession } from '../profile/session.ts'
import { addMetadata, addSigningOptions, addWaitOptions, idempotencyKey, type SigningOptions } from './order-options.ts'
import { noteReplay, printOutcome } from './submit-order.ts'

const STATUSES = ['active', 'captured', 'released', 'expired'] as const
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

const COLUMNS: readonly Column[] = [
  { name: 'hold_id' },
  { name: 'status' },
  { name: 'to_account_id' },
  { name: 'amount', right: true },
  { name: 'remaining', right: true },
  { name: 'token_id' },
  { name: 'expires_at' },
]

interface CreateOptions extends SigningOptions {
  readonly expiresIn?: number
  readonly expiresAt?: string
  readonly metadata?: Readonly<Record<string, string>>
}

interface CaptureOptions extends SigningOptions {
  readonly final?: boolean
  readonly timeout: number
}

export const holdCommand: CommandSetup = (command, io) => {
  command.description('Reserves value of a payer for a beneficiary, which captures or releases it.')
  const create = command.command('create').summary('reserve value')
  addSigningOptions(
    create
      .description(
        `Reserves value of the payer, whose key signs. Its available balance falls; its balance does not. At the
expiry, within 90 days, the rest is available again.`,
      )
      .argument('<payer>', 'account whose value is reserved')
      .argument('<beneficiary>', 'account that may capture it')
      .argument('<amount>', 'decimal')
      .argument('[token]', 'token (default: the base unit BASE)')
      .option('--expires-in <time>', 'such as 30m, 12h or 7d', durationMs)
      .option('--expires-at <time>', 'the same as a time (RFC 3339)')
      .option('--metadata <name=value>', 'attach data; repeat it for several', addMetadata),
  ).action((payer: string, beneficiary: string, amount: string, token: string | undefined, options: CreateOptions) => {
    const terms = { account_id: payer, to_account_id: beneficiary, amount }
    return createHold({ ...terms, ...(token === undefined ? {} : { token_id: token }) }, options, io)
  })
  addExamples(create, ['ledger hold create alice shop 100 --expires-in 7d'])

  const capture = command.command('capture').summary('take reserved value, in parts or whole')
  addWaitOptions(
    addSigningOptions(
      capture
        .description(
          `Moves reserved value to the beneficiary, whose key signs, and waits for the outcome. Captures together
never exceed the hold.`,
        )
        .argument('<hold-id>', 'hold')
        .argument('<amount>', 'decimal, at most what remains')
        .option('--final', 'release the rest afterwards'),
    ),
  ).action((holdId: string, amount: string, options: CaptureOptions) => captureHold(holdId, amount, options, io))
  addExamples(capture, [
    'ledger hold capture hld_01M80E1PYK000010SDVFCTVSQW 60',
    'ledger hold capture hld_01M80E1PYK000010SDVFCTVSQW 60 --final',
  ])

  releaseCommand(command.command('release').summary('end a hold'), io)
  listCommands(command, io)
}

const releaseCommand: CommandSetup = (command, io) => {
  addSessionOptions(
    command
      .description(
        `Ends a hold: the rest is available to the payer again. The beneficiary's key signs; an admin gives a
reason instead. Releasing twice is harmless.`,
      )
      .argument('<hold-id>', 'hold')
      .option('--key <file>', "private key of the beneficiary; by default the account's key of ledger account create")
      .option('--reason <text>', 'as an admin, without the key of the beneficiary'),
  ).action((holdId: string, options: SessionOptions & { readonly key?: string; readonly reason?: string }) =>
    withSession(options, io, async ({ client, keyFiles, output, adviseIfUnknown }) => {
      adviseIfUnknown('Run the same command again: releasing twice is harmless.')
      const path = { holdId }
      if (options.reason !== undefined) {
        return output.record(await client.call('releaseHold', { path, body: { reason: options.reason } }))
      }
      const { to_account_id: account } = await client.call('getHold', { path })
      const key = await signingKey(keyFiles.read(account, options.key))
      output.record(await client.releaseHold({ hold_id: holdId, account_id: account }, key))
    }),
  )
  addExamples(command, ['ledger hold release hld_01M80E1PYK000010SDVFCTVSQW'])
}

const listCommands: CommandSetup = (command, io) => {
  const show = command.command('show').summary('show a hold')
  addSessionOptions(
    show.description('Prints a hold, with what was captured and what remains.').argument('<hold-id>', 'hold'),
  ).action((holdId: string, options: SessionOptions) =>
    withSession(options, io, async ({ client, output }) =>
      output.record(await client.call('getHold', { path: { holdId } })),
    ),
  )
  addExamples(show, ['ledger hold show hld_01M80E1PYK000010SDVFCTVSQW'])

  const list = command.command('list').summary('list the holds of a payer')
  addSessionOptions(
    list
      .description('Lists the active holds of a payer, or those that ended in one way.')
      .argument('<payer>', 'account')
      .addOption(new Option('--status <status>', 'holds with this status').choices(STATUSES).default('active')),
  ).action((payer: string, { status, ...options }: SessionOptions & { readonly status: (typeof STATUSES)[number] }) =>
    withSession(options, io, async ({ client, output }) => {
      const holds = await collected(client.list('listHolds', { path: { accountId: payer }, query: { status } }))
      output.table(holds, COLUMNS, `${payer} has no holds that are ${status}`)
    }),
  )
  addExamples(list, ['ledger hold list alice', 'ledger hold list alice --status captured --json'])
}

async function createHold(
  terms: Pick<HoldOrder, 'account_id' | 'to_account_id' | 'amount'>,
  options: CreateOptions,
  io: CommandIo,
): Promise<void> {
  const { expiresIn, expiresAt, metadata } = options
  if ((expiresIn === undefined) === (expiresAt === undefined)) throw new UsageError('give --expires-in or --expires-at')
  if (expiresIn !== undefined && options.idempotencyKey !== undefined) {
    throw new UsageError('with --idempotency-key give --expires-at, so that a repeated command is the same order')
  }
  const expiry = expiresAt ?? new Date(Date.now() + (expiresIn ?? 0)).toISOString()
  await withSession(options, io, async (session) => {
    const { client, keyFiles, output, profile, adviseIfUnknown } = session
    const key = await signingKey(keyFiles.read(terms.account_id, options.key))
    const orderKey = idempotencyKey(options, session)
    if (expiresAt === undefined) {
      output.note(`expires at ${expiry}`)
      adviseIfUnknown(
        `Run the same command with --expires-at ${expiry} --idempotency-key ${orderKey}: the hold is created at most once.`,
      )
    }
    const named = { ...terms, expires_at: expiry, ledger_id: profile.ledgerId, idempotency_key: orderKey }
    const body = await signOrder<HoldOrder>({ ...named, ...(metadata === undefined ? {} : { metadata }) }, key)
    const reply = await client.respond('createHold', { body })
    noteReplay(reply.headers, session)
    output.record({ ...reply.body, idempotency_key: orderKey })
  })
}

async function captureHold(holdId: string, amount: string, options: CaptureOptions, io: CommandIo): Promise<void> {
  await withSession(options, io, async (session) => {
    const { client, keyFiles, profile } = session
    const path = { holdId }
    const { to_account_id: account } = await client.call('getHold', { path })
    const key = await signingKey(keyFiles.read(account, options.key))
    const orderKey = idempotencyKey(options, session)
    const capture = { hold_id: holdId, account_id: account, amount, ...(options.final === true ? { final: true } : {}) }
    const named = { ...capture, ledger_id: profile.ledgerId, idempotency_key: orderKey }
    const body = await signOrder<HoldCapture>(named, key)
    const untilMs = performance.now() + options.timeout * 1_000
    const reply = await client.respond('captureHold', { path, body })
    noteReplay(reply.headers, session)
    await printOutcome(session, reply.body, { untilMs, orderKey }, io)
  })
}

function durationMs(text: string): number {
  const [, count = '', unit = ''] = /^([1-9][0-9]{0,5})([mhd])$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  if (unitMs !== undefined) return Number(count) * unitMs
  throw new InvalidArgumentError('It must be a number of minutes, hours or days, such as 30m, 12h or 7d.')
}
