import { collected } from '../../../api/client/collected.ts'
import { type NftMint, type Order, signOrder } from '../../../api/client/index.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { CommandFailed, type CommandIo, type CommandSetup, UsageError } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { jsonObjectOf, readGivenText } from '../common/given-file.ts'
import type { Column } from '../common/output.ts'
import { addSessionOptions, type SessionOptions, signingKey, withSession } from '../profile/session.ts'
import { classCommand } from './nft-class.ts'
import {
  addOrderOptions,
  addSigningOptions,
  idempotencyKey,
  type OrderOptions,
  type SigningOptions,
} from './order-options.ts'
import { noteReplay, submitOrder } from './submit-order.ts'

const CLASS_ID = 'cls_01M80E1PYK000010SDVFCTVSQW'

const OWNED: readonly Column[] = [
  { name: 'class_id' },
  { name: 'instance_id' },
  { name: 'class_name' },
  { name: 'status' },
  { name: 'acquired_at' },
  { name: 'metadata' },
]
const HISTORY: readonly Column[] = [
  { name: 'timestamp' },
  { name: 'type' },
  { name: 'from' },
  { name: 'to' },
  { name: 'txn_id' },
]

interface MintOptions extends SigningOptions {
  readonly owner?: string
  readonly metadata?: string
  readonly metadataFile?: string
}

export const nftCommand: CommandSetup = (command, io) => {
  command.description('Mints, shows, transfers and burns NFTs, and registers their classes.')
  classCommand(command.command('class').summary('register and show classes'), io)
  const mint = command.command('mint').summary('mint an NFT')
  addSigningOptions(
    mint
      .description("Mints an instance of a class. The key of the class's issuer signs.")
      .argument('<class-id>', 'class')
      .argument('<instance-id>', 'ID of the new instance, unique in its class')
      .option('--owner <account>', 'first owner (default: the issuer)')
      .option('--metadata <json>', 'metadata, an object that satisfies the schema of the class (default: {})')
      .option('--metadata-file <file>', 'the same from a file; - for standard input'),
  ).action((classId: string, instanceId: string, options: MintOptions) => mintNft(classId, instanceId, options, io))
  addExamples(mint, [`ledger nft mint ${CLASS_ID} painting-1 --owner alice --metadata '{"title":"Dawn"}'`])

  const show = command.command('show').summary('show an NFT, or its past owners')
  addSessionOptions(
    show
      .description('Prints an NFT. With --history, its owners from the mint on.')
      .argument('<class-id>', 'class')
      .argument('<instance-id>', 'instance')
      .option('--history', 'print its owners, the first one first'),
  ).action(
    (classId: string, instanceId: string, { history = false, ...options }: SessionOptions & { history?: boolean }) =>
      withSession(options, io, async ({ client, output }) => {
        const path = { classId, instanceId }
        if (!history) return output.record(await client.call('getNftInstance', { path }))
        output.table(await collected(client.list('listNftHistory', { path })), HISTORY, 'it has no history')
      }),
  )
  addExamples(show, [`ledger nft show ${CLASS_ID} painting-1`, `ledger nft show ${CLASS_ID} painting-1 --history`])

  const list = command.command('list').summary('list the NFTs of an account')
  addSessionOptions(list.description('Lists the NFTs of an account.').argument('<account>', 'owner')).action(
    (account: string, options: SessionOptions) =>
      withSession(options, io, async ({ client, output }) => {
        const owned = await collected(client.list('listAccountNfts', { path: { accountId: account } }))
        output.table(owned, OWNED, `${account} has no NFTs`)
      }),
  )
  addExamples(list, ['ledger nft list alice'])
  orderCommands(command, io)
}

const orderCommands: CommandSetup = (command, io) => {
  const transfer = command.command('transfer').summary('transfer an NFT to another account')
  addOrderOptions(
    transfer
      .description('Transfers an NFT, and waits until it has changed hands.')
      .argument('<from>', 'owner, whose key signs')
      .argument('<to>', 'account that receives')
      .argument('<class-id>', 'class')
      .argument('<instance-id>', 'instance'),
  ).action((from: string, to: string, classId: string, instanceId: string, options: OrderOptions) =>
    submitOrder({ ...orderOf('transfer', from, classId, instanceId), to_account_id: to } as Order, options, io),
  )
  addExamples(transfer, [`ledger nft transfer alice bob ${CLASS_ID} painting-1`])

  const burn = command.command('burn').summary('destroy an NFT')
  addOrderOptions(
    burn
      .description('Burns an NFT for good. It stays readable, with its last owner.')
      .argument('<owner>', 'owner, whose key signs')
      .argument('<class-id>', 'class')
      .argument('<instance-id>', 'instance'),
  ).action((owner: string, classId: string, instanceId: string, options: OrderOptions) =>
    submitOrder(orderOf('burn', owner, classId, instanceId) as Order, options, io),
  )
  addExamples(burn, [`ledger nft burn bob ${CLASS_ID} painting-1`])
}

function orderOf(type: 'transfer' | 'burn', owner: string, classId: string, instanceId: string): object {
  return { account_id: owner, type, amount: '1', class_id: classId, instance_id: instanceId }
}

async function mintNft(classId: string, instanceId: string, options: MintOptions, io: CommandIo): Promise<void> {
  const metadata = await metadataOf(options, io)
  await withSession(options, io, async (session) => {
    const { client, keyFiles, output, profile } = session
    const path = { classId }
    const { issuer } = await client.call('getNftClass', { path })
    const key = await signingKey(keyFiles.read(issuer, options.key))
    const orderKey = idempotencyKey(options, session)
    const owner = options.owner === undefined ? {} : { owner: options.owner }
    const mint = { class_id: classId, instance_id: instanceId, account_id: issuer, ...owner, metadata }
    const named = { ...mint, ledger_id: profile.ledgerId, idempotency_key: orderKey }
    const reply = await client.respond('mintNft', { path, body: await signOrder<NftMint>(named, key) })
    noteReplay(reply.headers, session)
    output.record({ ...reply.body, idempotency_key: orderKey })
  })
}

async function metadataOf({ metadata, metadataFile }: MintOptions, io: CommandIo): Promise<JsonObject> {
  if (metadata !== undefined && metadataFile !== undefined) {
    throw new UsageError('give --metadata or --metadata-file, not both')
  }
  const text = metadataFile === undefined ? (metadata ?? '{}') : await readGivenText(metadataFile, io)
  const found = jsonObjectOf(text)
  if (found === undefined) throw new CommandFailed('the metadata is not a JSON object')
  return found
}
