import type { AssertionSource } from '../../runtime/ports/assertion-source.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { createAuditFindings } from '../audit/audit-findings.ts'
import { createSpotThreads } from '../audit/spot-threads.ts'
import type { Configuration } from '../config/configuration.ts'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import type { LedgerSecrets } from '../ledger/ledger-secrets.ts'
import { createLiabilities, type PostgresLiabilities } from '../liabilities/liabilities-postgres.ts'
import { createLiabilityThreads } from '../liabilities/liability-threads.ts'
import type { ServiceProcess } from './service-process.ts'

interface AssertionsContext {
  readonly configuration: Configuration
  readonly url: string
  readonly log: Log
  readonly service: ServiceProcess
  readonly clock: Clock
}

interface AssertionSecrets extends Pick<LedgerSecrets, 'derive'> {
  readonly readingKeys: KeyRing
}

/** Proofs about the whole ledger: of liabilities, provenance and compliance. */
export function openAssertions(
  { configuration, url, log, service, clock }: AssertionsContext,
  ledgerId: string,
  { derive, readingKeys }: AssertionSecrets,
): AssertionSource & Pick<PostgresLiabilities, 'warnings'> {
  const passes = createSpotThreads(readingKeys)
  const { provenance, compliance, close } = createAuditFindings({
    url,
    ledgerId,
    clock,
    frameworks: configuration.frameworks,
    spotPass: passes.run,
  })
  service.onStop('audit findings', async () => {
    await Promise.all([passes.close(), close()])
  })
  const threads = createLiabilityThreads()
  const liabilities = createLiabilities({ url, readingKeys, key: derive('liability-proofs'), log, run: threads.run })
  service.onStop('liabilities', async () => {
    await threads.close()
    await liabilities.close()
  })
  return { ...liabilities, provenance, compliance }
}
