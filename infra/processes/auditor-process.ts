/** Composition root of the auditor. */
import type { Log } from '../../runtime/ports/log.ts'
import { Auditor } from '../audit/auditor.ts'
import type { Configuration } from '../config/configuration.ts'
import { registerAuditGauges } from '../metrics/auditor-metrics.ts'
import { createSystemClock } from '../system/clock-system.ts'
import { processStepsBack } from '../system/step-back.ts'
import { findLedger, refuseOtherProperties } from '../ledger/ledger-found.ts'
import { openPartKeys, openVault } from '../ledger/ledger-secrets.ts'
import { auditorReadiness } from './readiness.ts'
import { runService, type ServiceProcess } from './service-process.ts'
import { startWatching } from './watching.ts'

export function runAuditor(configuration: Configuration, databaseUrl: string, log: Log): Promise<number> {
  // Requests on the same machine come first.
  processStepsBack()
  return runService(log, (service) => startAuditor(configuration, databaseUrl, log, service))
}

async function startAuditor(
  configuration: Configuration,
  url: string,
  log: Log,
  service: ServiceProcess,
): Promise<void> {
  const watching = await startWatching(configuration, log, service)
  const ring = await openPartKeys(configuration, 'auditor')
  const ledger = await findLedger(url, log, service.stopping)
  if (ledger === undefined) return
  refuseOtherProperties(ledger, configuration)
  const { ledgerId } = ledger
  const vault = openVault(ring, ledger)
  const share = configuration.auditorShare
  const auditor = new Auditor({ url, ledgerId, vault, share, clock: createSystemClock(), log })
  if (watching.registry !== undefined) registerAuditGauges(watching.registry, () => auditor.measures())
  watching.serves(ledgerId, () => auditorReadiness(() => auditor.isWorking()))
  service.onStop('auditor', () => auditor.stop())
  auditor.start()
  log.info('auditor_started', { ledger_id: ledgerId, share })
}
