import type { EdgeSettings } from '../../../../api/http/dependencies.ts'

const HOUR_MS = 3_600_000

export const SANDBOX_SETTINGS: Omit<EdgeSettings, 'ledgerId'> = {
  baseUrl: 'https://ledger.example',
  errorBase: 'https://ledger.example/errors',
  environment: 'sandbox',
  corsOrigins: 'any',
  pages: ['console', 'docs'],
  accessTokenTtlMs: HOUR_MS,
  refreshTokenTtlMs: 30 * 24 * HOUR_MS,
}
