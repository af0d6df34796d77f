/** Composition of the log at an edge: one edge at a time extends and publishes it, each serves it. */
import type { LedgerLog } from '../../runtime/ports/ledger-log.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { LogSequencer } from '../../runtime/log/sequencer.ts'
import type { Configuration } from '../config/configuration.ts'
import { registerLogGauges } from '../metrics/edge-metrics.ts'
import type { DeriveKey } from '../keys/root-secret.ts'
import { askWitness } from '../log/ask-witness.ts'
import { createLedgerLog } from '../log/ledger-log-postgres.ts'
import { LogPublisher } from '../log/log-publisher.ts'
import { createNoteSigner } from '../log/log-signer.ts'
import { createLogStore } from '../log/log-store-postgres.ts'
import { readWitnesses, reportWitnesses } from '../log/witness-policy.ts'
import type { RowVault } from '../vault/row-vault.ts'
import type { ServiceProcess } from './service-process.ts'
import type { Watching } from './watching.ts'

export interface LogContext {
  readonly configuration: Pick<Configuration, 'logOrigin' | 'witnesses'>
  readonly url: string
  readonly ledgerId: string
  /** Names this edge in the lease. */
  readonly holder: string
  readonly vault: RowVault
  readonly shardOf: (accountId: string) => number
  readonly derive: DeriveKey
  readonly service: ServiceProcess
  readonly clock: Clock
  readonly log: Log
  readonly watching: Watching
}

/** Starts to extend the log. Throws WitnessesUnusable. */
export async function openLog(context: LogContext): Promise<LedgerLog> {
  const { configuration, url, ledgerId, holder, vault, shardOf, derive, service, clock, log, watching } = context
  const logKey = derive('log-entries')
  const policy = configuration.witnesses === undefined ? undefined : await readWitnesses(configuration.witnesses)
  reportWitnesses(log, policy)
  const origin = configuration.logOrigin ?? `ledger/${ledgerId}`
  const signer = await createNoteSigner(origin, 'log', derive('log-heads'))
  const store = service.keep('log', createLogStore({ url, logKey }))
  const publisher = new LogPublisher({ store, signer, policy, ask: askWitness, clock, log })
  const sequencer = new LogSequencer({ store, holder, clock, log, onHead: (head) => publisher.take(head) })
  if (watching.registry !== undefined) {
    registerLogGauges(watching.registry, () => ({ ...sequencer.measures(), ...publisher.measures() }))
  }
  service.onStop('log publisher', () => publisher.stop())
  service.onStop('log sequencer', () => sequencer.stop())
  sequencer.start()
  return service.keep('log proofs', createLedgerLog({ url, logKey, key: signer.key, vault, shardOf, clock, log }))
}
