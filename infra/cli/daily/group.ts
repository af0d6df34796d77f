import { collected } from '../../../api/client/collected.ts'
import { type GroupLeg, type SettlementGroup, verifyTerms } from '../../../api/client/index.ts'
import { CommandFailed, type CommandIo, type CommandSetup, ReportedFailure } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { withProgress } from '../common/progress.ts'
import { addSessionOptions, type Session, type SessionOptions, signingKey, withSession } from '../profile/session.ts'
import { refuseOtherTermsThan } from './agreed-terms.ts'
import { assetText } from './asset.ts'
import { createCommand } from './group-create.ts'
import { LEGS, printGroup } from './print-group.ts'
import { addWaitOptions } from './order-options.ts'

const GROUP_ID = 'ded877de-3d43-8ae1-a19c-7d7026c332cf'

interface SignOptions extends SessionOptions {
  readonly key?: string
  readonly termsHash?: string
  readonly terms?: string
}

export const groupCommand: CommandSetup = (command, io) => {
  command.description('Settles legs of several accounts together: all of them, or none.')
  createCommand(command.command('create').summary('register the legs that accounts will settle together'), io)

  const show = command.command('show').summary('show a group and its legs')
  addWaitOptions(
    addSessionOptions(
      show
        .description('Prints a group and its legs. With --wait, once it is settled or reverted.')
        .argument('<group-id>', 'group')
        .option('--wait', 'wait until the group is final'),
    ),
  ).action((groupId: string, options: SessionOptions & { readonly wait?: boolean; readonly timeout: number }) =>
    withSession(options, io, (session) => showGroup(groupId, options, session, io)),
  )
  addExamples(show, [`ledger group show ${GROUP_ID}`, `ledger group show ${GROUP_ID} --wait --timeout 300`])
  signCommand(command.command('sign').summary('sign and submit the legs of an account'), io)
  endCommands(command, io)

  const list = command.command('list').summary('list the legs that groups expect of an account')
  addSessionOptions(
    list.description('Lists the legs that an account has not signed.').argument('<account>', 'account'),
  ).action((account: string, options: SessionOptions) =>
    withSession(options, io, async ({ client, output }) => {
      const expected = await collected(client.list('listExpectations', { path: { accountId: account } }))
      output.table(
        expected,
        [
          { name: 'group_id' },
          { name: 'type', of: ({ terms }) => terms.type },
          { name: 'amount', right: true, of: ({ terms }) => terms.amount },
          { name: 'asset', of: ({ terms }) => assetText(terms) },
          { name: 'to_account_id', of: ({ terms }) => terms.to_account_id },
          { name: 'due_at' },
        ],
        `no group expects a leg of ${account}`,
      )
    }),
  )
  addExamples(list, ['ledger group list bob'])
}

const signCommand: CommandSetup = (command, io) => {
  addSessionOptions(
    command
      .description(
        `Signs the legs of an account in a group, and submits them. Read the legs before: ledger group show prints
them. The hash of the terms is computed here from the legs that the ledger shows. Nothing is signed if it
is not the hash that the ledger names, or not that of --terms-hash.

Another program may have registered legs in a form that the ledger does not show, with members of its own.
Then --terms takes the registered terms: they must have the hash, and the shown legs must mean the same.

The command may be repeated: a leg takes effect at most once.`,
      )
      .argument('<group-id>', 'group')
      .argument('<account>', 'account, whose key signs')
      .option('--key <file>', "private key that signs (PEM); by default the account's key of ledger account create")
      .option('--terms-hash <hash>', 'terms_hash that the parties agreed on, as ledger group create printed it')
      .option('--terms <file>', 'legs and timeout_seconds as they were registered (JSON; - is standard input)'),
  ).action((groupId: string, account: string, options: SignOptions) =>
    withSession(options, io, (session) => signLegs(groupId, account, { ...options, io }, session)),
  )
  addExamples(command, [
    `ledger group sign ${GROUP_ID} alice`,
    `ledger group sign ${GROUP_ID} alice --terms agreed.json`,
  ])
}

const endCommands: CommandSetup = (command, io) => {
  const decline = command.command('decline').summary('decline the legs of an account: the group reverts')
  addSessionOptions(
    decline
      .description('Declines the legs that a group expects of an account, whose key signs. The group reverts.')
      .argument('<group-id>', 'group')
      .argument('<account>', 'account')
      .option('--key <file>', "private key that signs (PEM); by default the account's key of ledger account create"),
  ).action((groupId: string, account: string, options: SignOptions) =>
    withSession(options, io, async ({ client, keyFiles, output, adviseIfUnknown }) => {
      adviseIfUnknown('Run the same command again: declining twice is harmless.')
      const key = await signingKey(keyFiles.read(account, options.key))
      const group = registered(await client.call('getSettlementGroup', { path: { groupId } }))
      if (group.group_id !== groupId.toLowerCase()) {
        throw new CommandFailed(`the ledger sent group ${group.group_id} in place of ${groupId}: nothing was signed`)
      }
      output.record(await client.declineGroup(group, account, key))
    }),
  )
  addExamples(decline, [`ledger group decline ${GROUP_ID} bob`])

  const revert = command.command('revert').summary('revert an open group')
  addSessionOptions(
    revert
      .description(
        'Reverts an open group that this client registered, and waits until it is reverted. An admin may revert any.',
      )
      .argument('<group-id>', 'group')
      .requiredOption('--reason <text>', 'reason'),
  ).action((groupId: string, { reason, ...options }: SessionOptions & { readonly reason: string }) =>
    withSession(options, io, async ({ client, output, adviseIfUnknown }) => {
      adviseIfUnknown('Run the same command again: reverting twice is harmless.')
      await client.call('revertSettlementGroup', { path: { groupId }, body: { reason } })
      printGroup(
        await withProgress(
          () => `waiting for group ${groupId}`,
          io,
          () => client.waitForGroup(groupId),
        ),
        output,
      )
    }),
  )
  addExamples(revert, [`ledger group revert ${GROUP_ID} --reason 'agreed by phone'`])
}

async function showGroup(
  groupId: string,
  { wait = false, timeout }: { readonly wait?: boolean; readonly timeout: number },
  { client, output, adviseIfUnknown }: Session,
  io: CommandIo,
): Promise<void> {
  adviseIfUnknown('Run the same command again to wait longer.')
  const group = wait
    ? await withProgress(
        () => `waiting for group ${groupId}`,
        io,
        () => client.waitForGroup(groupId, { timeoutMs: timeout * 1_000 }),
      )
    : await client.call('getSettlementGroup', { path: { groupId } })
  printGroup(group, output)
  if (wait && group.status === 'reverted') throw new ReportedFailure('the group is reverted')
}

async function signLegs(
  groupId: string,
  account: string,
  { key: file, io, ...agreed }: SignOptions & { readonly io: CommandIo },
  { client, keyFiles, output, adviseIfUnknown }: Session,
): Promise<void> {
  const path = { groupId }
  const group = registered(await client.call('getSettlementGroup', { path }))
  await refuseOtherTerms(group, groupId, agreed, io)
  const legs = [...group.legs.entries()].filter(([, leg]) => leg.account_id === account)
  if (legs.length === 0) throw new CommandFailed(`the group has no leg of ${account}`)
  const key = await signingKey(keyFiles.read(account, file))
  adviseIfUnknown('Run the same command again: a leg takes effect at most once.')
  const signed: GroupLeg[] = []
  for (const [index, shown] of legs) {
    const { leg_status: status, txn_id: _, ...leg } = shown
    if (status !== 'expected') {
      signed.push(shown)
      continue
    }
    // The key of a leg is always the same, so that a repeated command submits the same order.
    const order = { ...leg, idempotency_key: `leg-${group.group_id}-${index}` }
    const { txn_id: txnId } = await client.submitLeg(group, order, key)
    const { status: outcome, failure } = await client.waitForTransaction(txnId)
    if (failure !== undefined) output.note(`the leg failed: ${failure.detail}`)
    signed.push({ ...leg, leg_status: outcome, txn_id: txnId })
  }
  output.table(signed, LEGS, 'no legs')
  if (signed.some(({ leg_status: status }) => status === 'failed')) throw new ReportedFailure('a leg failed')
}

/** Throws CommandFailed unless the terms hash is the agreed one, and that of the legs that are signed. */
async function refuseOtherTerms(
  group: SettlementGroup,
  groupId: string,
  { termsHash, terms }: Pick<SignOptions, 'termsHash' | 'terms'>,
  io: CommandIo,
): Promise<void> {
  const expected = { group_id: groupId.toLowerCase(), ...(termsHash === undefined ? {} : { terms_hash: termsHash }) }
  const verdict = await verifyTerms(group, { expected })
  if (!verdict.ok && (terms === undefined || verdict.reason !== 'incomplete')) {
    const advice = verdict.reason === 'incomplete' ? ': give the registered terms with --terms' : ''
    throw new CommandFailed(`the group has other terms: ${verdict.problem}: nothing was signed${advice}`)
  }
  if (terms !== undefined) await refuseOtherTermsThan(terms, group, io)
}

/** Throws CommandFailed: legs of a linked group were not agreed on. */
function registered(group: SettlementGroup): SettlementGroup & { readonly terms_hash: string } {
  const { terms_hash: termsHash } = group
  if (termsHash !== null) return { ...group, terms_hash: termsHash }
  throw new CommandFailed(`no settlement group ${group.group_id} is registered`)
}
