import { type Command, InvalidArgumentError } from 'commander'
import { type CommandSetup, exitUnless } from '../common/command.ts'
import { givenPublicKey } from '../common/given-public-key.ts'
import {
  configurationOf,
  refuseMissingInProduction,
  warnOfUnsupportedNode,
  withRunningServers,
} from '../common/configured.ts'
import { processLog } from '../process-commands.ts'

interface PublishOptions {
  readonly subject: string
  readonly recipientKey: string
  readonly restart?: boolean
}

const MAX_PREFIX = 100
const PREFIX = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/
/** Subjects of nodes begin with it. */
const NODES = 'ledger.node'

export const publishCommand: CommandSetup = (command: Command, io) => {
  command
    .description(
      `Publishes the event log to a JetStream stream, encrypted for the holder of one key: each event once and
in order, as a compact JWE of the CloudEvent. Subjects are PREFIX and the type of the event, such as
PREFIX.ledger.transaction.completed.v1. The stream has the name of PREFIX with _ for each dot. The
command creates it if it is missing.

The last message of the stream has the position from which the command continues after a restart. Two
publishers of one stream do no harm.

Needs LEDGER_DATABASE_URL and LEDGER_NATS_URL, or a ledger up that runs in the same LEDGER_DATA_DIR;
and the part key of the auditor or the master key. The rights of the role ledger_auditor suffice. Logs
JSON lines to standard output. SIGTERM stops it.`,
    )
    .requiredOption('--subject <prefix>', 'beginning of the subjects, such as events', prefixOf)
    .requiredOption('--recipient-key <file>', 'public key of the reader: a P-256 key as a JWK or PEM')
    .option('--restart', 'publish all events again if the stream has no position of this database')
    .action(async ({ subject: prefix, recipientKey, restart = false }: PublishOptions) => {
      const recipient = await givenPublicKey(recipientKey, io)
      const given = configurationOf(io)
      refuseMissingInProduction(given, false)
      warnOfUnsupportedNode(io)
      const { configuration, databaseUrl } = withRunningServers(given)
      const { runPublisher } = await import('../../processes/publisher-process.ts')
      const log = processLog(configuration, 'publisher', io)
      exitUnless((await runPublisher(configuration, databaseUrl, log, { prefix, recipient, restart })) === 0)
    })
}

function prefixOf(text: string): string {
  if (text === 'ledger' || text === NODES || text.startsWith(`${NODES}.`)) {
    throw new InvalidArgumentError(`Its subjects must not include those of nodes, ${NODES}.`)
  }
  if (text.length <= MAX_PREFIX && PREFIX.test(text)) return text
  throw new InvalidArgumentError(
    `It must be letters, digits, _ and -, with dots between them, up to ${MAX_PREFIX} characters.`,
  )
}
