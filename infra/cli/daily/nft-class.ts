import { collected } from '../../../api/client/collected.ts'
import { signMembers } from '../../../api/client/signing/sign-order.ts'
import { CommandFailed, type CommandIo, type CommandSetup } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { jsonObjectOf, readGivenText } from '../common/given-file.ts'
import type { Column } from '../common/output.ts'
import { addSessionOptions, type SessionOptions, signingKey, withSession } from '../profile/session.ts'
import { addSigningOptions, idempotencyKey, type SigningOptions } from './order-options.ts'
import { noteReplay } from './submit-order.ts'

const COLUMNS: readonly Column[] = [{ name: 'class_id' }, { name: 'name' }, { name: 'issuer' }, { name: 'created_at' }]

interface CreateOptions extends SigningOptions {
  readonly issuer: string
  readonly description: string
  readonly schema?: string
}

export const classCommand: CommandSetup = (command, io) => {
  command.description('Registers classes of NFTs, and shows them.')
  const create = command.command('create').summary('register a class')
  addSigningOptions(
    create
      .description(
        `Registers a class of NFTs. Its issuer alone can mint. The issuer's key signs the registration if it is
here; in production it must, unless the client is an admin.`,
      )
      .argument('<name>', 'name, unique')
      .requiredOption('--issuer <account>', 'account that issues')
      .requiredOption('--description <text>', 'description, for people')
      .option('--schema <file>', 'JSON Schema of the metadata (default: any object)'),
  ).action((name: string, options: CreateOptions) => createClass(name, options, io))
  addExamples(create, [
    "ledger nft class create Paintings --issuer gallery --description 'Oil on canvas' --schema painting.json",
  ])

  const show = command.command('show').summary('show a class')
  addSessionOptions(
    show.description('Prints a class with the schema of its metadata.').argument('<class-id>', 'class'),
  ).action((classId: string, options: SessionOptions) =>
    withSession(options, io, async ({ client, output }) =>
      output.record(await client.call('getNftClass', { path: { classId } })),
    ),
  )
  addExamples(show, ['ledger nft class show cls_01M80E1PYK000010SDVFCTVSQW'])

  const list = command.command('list').summary('list the classes')
  addSessionOptions(list.description('Lists all classes.')).action((options: SessionOptions) =>
    withSession(options, io, async ({ client, output }) =>
      output.table(await collected(client.list('listNftClasses')), COLUMNS, 'there are no classes'),
    ),
  )
  addExamples(list, ['ledger nft class list'])
}

async function createClass(name: string, options: CreateOptions, io: CommandIo): Promise<void> {
  const { issuer, description, schema, key: file } = options
  const text = schema === undefined ? '{"type":"object"}' : await readGivenText(schema, io)
  const metadataSchema = jsonObjectOf(text)
  if (metadataSchema === undefined) throw new CommandFailed(`${schema ?? ''} is not a JSON object`)
  await withSession(options, io, async (session) => {
    const { client, keyFiles, output } = session
    const found = file === undefined ? keyFiles.find(issuer) : keyFiles.read(issuer, file)
    const given = { name, description, issuer, metadata_schema: metadataSchema }
    const body = found === undefined ? given : await signMembers(given, await signingKey(found))
    const reply = await client.respond('createNftClass', { body, idempotencyKey: idempotencyKey(options, session) })
    noteReplay(reply.headers, session)
    output.record(reply.body)
  })
}
