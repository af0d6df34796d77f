/** The dependencies of the edge, which reads no environment, clock or randomness itself. */
import type { AccessStore, ClientRecord } from '../../runtime/ports/access-store.ts'
import type { AdministrativeChain } from '../../runtime/ports/administrative-chain.ts'
import type { AssertionSource } from '../../runtime/ports/assertion-source.ts'
import type { AttestationStore } from '../../runtime/ports/attestation-store.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { IdempotencyStore } from '../../runtime/ports/idempotency-store.ts'
import type { LedgerEvents } from '../../runtime/ports/ledger-events.ts'
import type { LedgerExports } from '../../runtime/ports/ledger-exports.ts'
import type { ClientLimits } from '../../runtime/edge/client-limits.ts'
import type { LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import type { LedgerLog } from '../../runtime/ports/ledger-log.ts'
import type { LedgerImports } from '../../runtime/ports/ledger-imports.ts'
import type { LedgerReads } from '../../runtime/ports/ledger-reads.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { EventMetrics, HttpMetrics } from '../../runtime/ports/metrics.ts'
import type { ReadPublicKey } from '../../runtime/ports/public-keys.ts'
import type { Random } from '../../runtime/ports/random.ts'
import type { SchemaValidator } from '../../runtime/ports/schema-validator.ts'
import type { AllowedOrigins } from './cors.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import type { ShardHealth } from '../../runtime/ports/shard-health.ts'
import type { Signer } from '../../runtime/ports/signer.ts'
import type { Tracing } from '../../runtime/ports/tracing.ts'
import type { WebhookSender } from '../../runtime/ports/webhook-sender.ts'
import type { WebhookStore } from '../../runtime/ports/webhook-store.ts'

export interface EdgeDependencies {
  readonly gateway: LedgerGateway
  readonly reads: LedgerReads
  readonly shardHealth: ShardHealth
  readonly attestations: AttestationStore
  readonly idempotency: IdempotencyStore
  readonly webhooks: WebhookStore
  /** Sends test messages. */
  readonly webhookSender: WebhookSender
  readonly assertions: AssertionSource
  readonly events: LedgerEvents
  readonly ledgerLog: LedgerLog
  readonly exports: LedgerExports
  readonly imports: LedgerImports
  readonly schemas: SchemaValidator
  readonly access: AccessStore
  readonly administrativeChain: AdministrativeChain
  readonly clientLimits: ClientLimits
  readonly serviceKeys: ServiceKeys
  /** Checks what no owner checks: signatures under what edges write themselves. */
  readonly signatures: Pick<Signer, 'verifyMany'>
  readonly clock: Clock
  /** Whether the machine's clock agrees with the ledger's time. While it does not, no token is issued or accepted. */
  readonly clockTrusted: () => boolean
  readonly random: Random
  readonly log: Log
  /** undefined: no metrics. */
  readonly metrics?: HttpMetrics | undefined
  readonly eventMetrics?: EventMetrics | undefined
  /** undefined: tracing is off. */
  readonly tracing?: Tracing | undefined
  readonly secrets: ClientSecrets
  /** The sender's address, from the connection's peer and the header X-Forwarded-For. */
  readonly clientAddress: (peer: string, forwardedFor: string | undefined) => string
  /** Equal for all addresses that one sender may have. */
  readonly networkOf: (address: string) => string
  readonly readPublicKey: ReadPublicKey
  /** Whether a text can be decoded as a signature (D6). */
  readonly isSignature: (text: string) => boolean
  /** The JWK of a compressed point in base64url. */
  readonly jwkOf: (publicKey: string) => object
  /**
   * 32 bytes, the same on every edge of the ledger, so that each accepts the others' page tokens, and a retry finds
   * the group whose ID another edge chose. Each use derives from it under a label of its own.
   */
  readonly pageTokenKey: Uint8Array
  /** 32 bytes, the same on every edge of the ledger: what refresh tokens are hashed with. */
  readonly refreshTokenKey: Uint8Array
  readonly settings: EdgeSettings
  readonly readiness: () => Promise<Readiness>
}

export interface ClientSecrets {
  /** A new secret, and its hash as the access store keeps it. */
  readonly create: (clientId: string) => Promise<{ readonly secret: string; readonly secretHash: string }>
  /**
   * Does the same work whether there is a record or not. `address`: where the secret came from. Rejects when too many
   * checks are under way, of that address or of all.
   */
  readonly verify: (record: ClientRecord | undefined, secret: string, address: string) => Promise<boolean>
}

/** Pages with scripts, which an operator may switch off: the console, and the form in `/docs` that sends requests. */
export const SCRIPTED_PAGES = ['console', 'docs'] as const
export type ScriptedPage = (typeof SCRIPTED_PAGES)[number]

export interface EdgeSettings {
  /** Where clients reach the ledger, without a slash at the end. */
  readonly baseUrl: string
  /** Where the types of problems are explained, without a slash at the end. */
  readonly errorBase: string
  readonly environment: 'sandbox' | 'production'
  readonly corsOrigins: AllowedOrigins
  /** The pages that are served. Without `docs`, `/docs` is the page without scripts. */
  readonly pages: readonly ScriptedPage[]
  readonly ledgerId: string
  readonly accessTokenTtlMs: number
  readonly refreshTokenTtlMs: number
}

export interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, boolean>>
  /** None when left out. */
  readonly warnings?: readonly ReadinessWarning[]
}

/** A limit that is near or exceeded. The process still serves. */
export interface ReadinessWarning {
  readonly code: string
  readonly detail: string
}
