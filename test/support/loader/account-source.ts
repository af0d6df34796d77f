/** Makes what a load consists of, a part at a time, on whichever thread it is. */
import { accountAddress, type ActorAddress, actorKey } from '../../../actors/address.ts'
import type { ClassFacts } from '../../../actors/nft-class/state.ts'
import type { WrappingKeys } from '../../../infra/keys/wrapping-keys.ts'
import { openLedgerSecrets } from '../../../infra/main/ledger-secrets.ts'
import type { Sql } from '../../../infra/postgres/connection.ts'
import type { LedgerRecord } from '../../../infra/postgres/migrate.ts'
import { shardKeyName } from '../../../infra/vault/key-name.ts'
import { createSystemRandom } from '../../../infra/system/random-system.ts'
import type { ServiceKeys } from '../../../runtime/ports/service-keys.ts'
import { AccountStamps, type LifeOptions, openAccount, submitAll } from './account-life.ts'
import { Drafting } from './drafting.ts'
import { foundNfts } from './found-nfts.ts'
import { foundTokens } from './found-tokens.ts'
import { chunkOf, type LoadChunk } from './load-chunk.ts'
import { LoadPlan, type LoadSpan } from './load-plan.ts'
import type { LoadShape } from './load-shape.ts'
import { sharedKeys } from './shared-keys.ts'

/** Passes between threads. */
export interface LoadSetup {
  readonly shape: LoadShape
  readonly span: LoadSpan
  readonly ledger: LedgerRecord
  readonly masterKey: WrappingKeys
  /** What signs the receipts. */
  readonly receiptKeyId: string
  /** Of the client that registers and submits everything. */
  readonly clientId: string
}

export interface AccountSource {
  /**
   * The founders and what they found, a part at a time: all of them before all others, and on one thread, for they write
   * to each other and their messages are counted. `sql`: where the keys of shards are.
   */
  readonly founders: (sql: Sql) => AsyncIterable<LoadChunk>
  /** Accounts by their numbers, without `to`; none of them a founder. */
  readonly accounts: (from: number, to: number) => Promise<LoadChunk>
}

export function createAccountSource(setup: LoadSetup, keys: Pick<ServiceKeys, 'sign'>): AccountSource {
  const { shape, span, ledger, masterKey, receiptKeyId, clientId } = setup
  const { ledgerId } = ledger
  const random = createSystemRandom()
  const plan = new LoadPlan(shape)
  const life: LifeOptions = { plan, span, keys: sharedKeys(shape.seed, shape.keys), random }
  const { shardOf, vault } = openLedgerSecrets({ current: masterKey, previous: [] }, ledger)
  const homeOf = (actor: ActorAddress): number => shardOf(actorKey(actor))
  const tokens = new Map(plan.tokens.map((token) => [token.tokenId, token]))
  const classes = new Map<string, ClassFacts>()
  const facts = {
    token: (tokenId: string) => tokens.get(tokenId),
    nftClass: (classId: string) => classes.get(classId),
    // Nothing is ordered before what it names is there.
    minted: () => true,
    exists: () => true,
  }
  const drafting = new Drafting({ ledgerId, homeOf, facts, random, clientId })
  const sealing = { ledgerId, keyId: receiptKeyId, keys, vault }
  const shardKeys = Array.from({ length: ledger.shardCount }, (_, shardId) => shardKeyName(shardId))

  async function* founders(sql: Sql): AsyncIterable<LoadChunk> {
    const chunk = async (): Promise<LoadChunk> => {
      // Kept for a while only.
      if (vault.encrypts) await vault.keys.fetch(sql, shardKeys)
      return chunkOf(drafting.take(), sealing)
    }
    if (plan.tokens.length > 0) {
      foundTokens(drafting, life)
      yield await chunk()
    }
    for (const planned of plan.classes) {
      foundNfts(drafting, planned, life, (registered) => classes.set(registered.classId, registered))
      yield await chunk()
    }
  }

  return {
    founders,
    accounts: (from, to) => {
      for (let number = from; number < to; number += 1) {
        const shardId = homeOf(accountAddress(plan.accountIdOf(number)))
        const stamps = new AccountStamps(shardId, random, 0)
        openAccount(drafting, number, stamps.next(plan.registeredAtMs(number, span)), life)
        submitAll(drafting, number, stamps, life)
      }
      return chunkOf(drafting.take(), sealing)
    },
  }
}
