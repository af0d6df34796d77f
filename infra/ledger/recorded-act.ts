/** Acts of operators, who are no client of the API, in the administrative chain. */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { showOwnRate } from '../../actors/rate.ts'
import type { ClientRecord } from '../../runtime/ports/access-store.ts'
import { AdministrativeChainUnavailable } from '../../runtime/ports/administrative-chain.ts'
import { jwkOf, thumbprintOf } from '../keys/public-key.ts'
import {
  type AdministrativeChainOptions,
  createAdministrativeChain,
} from '../postgres/access/administrative-chain-postgres.ts'

export interface OperatorAct {
  /** Name of the command. */
  readonly act: string
  readonly details: JsonObject
}

/**
 * Does the work between the entry of the act and that of its outcome. Throws AdministrativeChainUnavailable before the work
 * if the act cannot be recorded. `isRefusal`: whether an error of the work proves that nothing was changed.
 */
export async function recordedAct<T>(
  options: AdministrativeChainOptions,
  { act, details }: OperatorAct,
  work: () => Promise<T>,
  isRefusal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const chain = createAdministrativeChain(options)
  const common = { clientId: null, act, accountId: null }
  try {
    const sequence = await chain.record({ ...common, details, of: null })
    const outcomeIs = async (outcome: 'done' | 'failed' | 'unknown'): Promise<void> => {
      try {
        await chain.record({ ...common, details: { outcome }, of: sequence })
      } catch (error) {
        // An act without an outcome may have been done.
        if (!(error instanceof AdministrativeChainUnavailable)) throw error
      }
    }
    let result: T
    try {
      result = await work()
    } catch (error) {
      await outcomeIs(isRefusal(error) ? 'failed' : 'unknown')
      throw error
    }
    await outcomeIs('done')
    return result
  } finally {
    await chain.close()
  }
}

/** Members of an entry about a client. Of its accounts it has the number, and so it names none. */
export function clientDetails({ clientId, publicKey, role, boundary, accounts, rate }: ClientRecord): JsonObject {
  return {
    client_id: clientId,
    key_id: publicKey === null ? null : thumbprintOf(jwkOf(publicKey)),
    role,
    boundary: typeof boundary === 'boolean' ? boundary : [...boundary],
    accounts: accounts === null ? null : accounts.length,
    rate: showOwnRate(rate),
  }
}
