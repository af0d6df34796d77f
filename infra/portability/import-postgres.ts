/** Imports over PostgreSQL and the actors of their records: Z1 to Z4 of the port. */
import type { AttestationStore } from '../../runtime/ports/attestation-store.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import type { LedgerImports } from '../../runtime/ports/ledger-imports.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { ImportKeys, ServiceKeys } from '../../runtime/ports/service-keys.ts'
import type { TrustedLedgers } from '../config/trusted-ledgers.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { createImportedAttestations } from './import-attestations.ts'
import { createImportIntake } from './import-intake.ts'
import { createImportStore } from './import-store.ts'
import { createImportTakeup } from './import-takeup.ts'

export interface PostgresLedgerImports extends LedgerImports {
  /** Begins to take over imports that no edge drives. */
  readonly start: () => void
  readonly close: () => Promise<void>
}

export interface LedgerImportsOptions {
  readonly url: string
  readonly ledgerId: string
  readonly vault: RowVault
  readonly trusted: TrustedLedgers
  readonly keys: ImportKeys
  readonly serviceKeys: ServiceKeys
  readonly gateway: LedgerGateway
  readonly attestations: Pick<AttestationStore, 'attestation'>
  readonly clock: Clock
  readonly log: Log
}

export function createLedgerImports(options: LedgerImportsOptions): PostgresLedgerImports {
  const { url, ledgerId, vault, trusted, keys, serviceKeys, gateway, clock, log } = options
  const store = createImportStore({ url, vault })
  const attestations = createImportedAttestations({
    url,
    vault,
    attestations: options.attestations,
    serviceKeys,
    clock,
  })
  const takeup = createImportTakeup({ store, gateway, attestations, clock, log })
  const intake = createImportIntake({ store, context: { ledgerId, trusted, keys }, keys, clock, drive: takeup.drive })
  return {
    ...intake,
    start: takeup.start,
    close: async () => {
      await takeup.stop()
      await Promise.all([store.close(), attestations.close()])
    },
  }
}
