/**
 * Checks that value is conserved (I4) in one snapshot of the whole ledger. Per asset: balances + holds + messages in transit =
 * supply + credits - debits of external accounts. The rows are sealed, so they are decrypted and summed here in batches.
 */
import { type Hold, valueOf } from '../../actors/account/state.ts'
import type { Finding } from '../../runtime/audit/finding.ts'
import { balanceFrom } from '../postgres/rows/account-parts.ts'
import { openCrossings, type CrossingsRow } from '../postgres/rows/boundary-crossings.ts'
import { keyNameOfActorRow } from '../postgres/rows/actor-documents.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import { accountKeyName, LEDGER_KEY_NAME, shardKeyName } from '../vault/key-name.ts'
import type { Moment } from './audit-reads.ts'
import { keyFindings } from './key-findings.ts'
import { readUndelivered } from './in-transit.ts'
import { type Opened, opened } from './opened.ts'
import { openToken, TOKEN_COLUMNS, type TokenRow } from './token-rows.ts'
import { createValueTally, type ValueTally } from './value-tally.ts'
import type { Look, Step, Walk } from './walk.ts'

const BALANCES = 'SELECT shard_id, account_id, token_id, document FROM balances'
const HOLDS = 'SELECT shard_id, account_id, hold_id, document FROM holds'
const TOKENS = `SELECT ${TOKEN_COLUMNS} FROM actors WHERE kind = 'token'`
const CROSSINGS = 'SELECT session, number, shards, document FROM boundary_crossings'

/** Keys made at the ledger's creation: one for each shard, and the ledger's own (`shard_id` null). */
const FIRST_KEYS = `
SELECT first.shard_id, k.ref IS NOT NULL AS is_there
  FROM (SELECT n AS shard_id, 'shard' AS scope, n::text AS ref
          FROM ledger CROSS JOIN generate_series(0, shard_count - 1) n
         UNION ALL SELECT NULL, 'ledger', '') first
  LEFT JOIN data_keys k ON k.scope = first.scope AND k.ref = first.ref`

export const conservationWalk: Walk<null> = {
  name: 'conservation',
  subjects: ['value_is_conserved'],
  start: null,
  step,
}

async function step(look: Look): Promise<Step<null>> {
  const tally = await look.wholeMoment(async (moment) => {
    const begun = createValueTally()
    for (const add of [addKeys, addBalances, addHolds, addMessages, addTokens, addCrossings]) await add(moment, begun)
    return begun
  })
  const findings = tally.wrong().map(([place, problem]): Finding => ({ subject: 'value_is_conserved', place, problem }))
  return { next: null, checked: { value_is_conserved: tally.assets() }, findings }
}

async function addKeys({ inBatches, fetchKeys, vault }: Moment, tally: ValueTally): Promise<void> {
  await inBatches<{ shard_id: number | null; is_there: boolean }>(FIRST_KEYS, [], async (rows) => {
    const keys = rows.map(({ shard_id: shardId, is_there: isThere }) =>
      shardId === null
        ? { name: LEDGER_KEY_NAME, of: 'the ledger', isThere }
        : { name: shardKeyName(shardId), of: `shard ${shardId}`, isThere },
    )
    await fetchKeys(keys.map(({ name }) => name))
    for (const key of keys) {
      for (const { place, problem } of keyFindings(vault, 'value_is_conserved', key)) tally.unread(place, problem)
    }
  })
}

interface AccountPart {
  readonly shard_id: number
  readonly account_id: string
  readonly document: Buffer
}

function addBalances({ inBatches, fetchKeys, vault }: Moment, tally: ValueTally): Promise<void> {
  return inBatches<AccountPart & { readonly token_id: string }>(BALANCES, [], async (rows) => {
    await fetchKeys(rows.map((row) => accountKeyName(row.account_id)))
    for (const { shard_id: shardId, account_id: ref, token_id: tokenId, document } of rows) {
      const place = PLACES.balance(shardId, ref, tokenId)
      const balance = opened(() => balanceFrom(vault.open(accountKeyName(ref), place, document)))
      taken(tally, `account ${ref}, ${tokenId}`, balance, (value) => tally.add(tokenId, value.balance))
    }
  })
}

function addHolds({ inBatches, fetchKeys, vault }: Moment, tally: ValueTally): Promise<void> {
  return inBatches<AccountPart & { readonly hold_id: string }>(HOLDS, [], async (rows) => {
    await fetchKeys(rows.map((row) => accountKeyName(row.account_id)))
    for (const { shard_id: shardId, account_id: ref, hold_id: holdRef, document } of rows) {
      const place = PLACES.hold(shardId, ref, holdRef)
      const held = opened(() => valueOf(JSON.parse(vault.open(accountKeyName(ref), place, document)) as Hold))
      taken(tally, `account ${ref}, hold ${holdRef}`, held, (value) => {
        if (value !== undefined) tally.add(value.tokenId, value.quantity)
      })
    }
  })
}

function addMessages(moment: Moment, tally: ValueTally): Promise<void> {
  return readUndelivered(moment, (place, envelope) => {
    taken(tally, place, envelope, ({ carries }) => {
      for (const { tokenId, quantity } of carries) tally.add(tokenId, quantity)
    })
  })
}

function addTokens({ inBatches, fetchKeys, vault }: Moment, tally: ValueTally): Promise<void> {
  return inBatches<TokenRow>(TOKENS, [], async (rows) => {
    await fetchKeys(rows.map(keyNameOfActorRow))
    for (const row of rows) {
      taken(
        tally,
        `token ${row.actor_id}`,
        opened(() => openToken(row, vault)),
        ({ status, tokenId, totalSupply }) => {
          if (status !== 'preparing') tally.take(tokenId, totalSupply)
        },
      )
    }
  })
}

async function addCrossings({ inBatches, fetchKeys, vault }: Moment, tally: ValueTally): Promise<void> {
  await fetchKeys([LEDGER_KEY_NAME])
  await inBatches<CrossingsRow>(CROSSINGS, [], (rows) => {
    for (const row of rows) {
      const place = `boundary crossing ${row.session} ${row.number}`
      taken(
        tally,
        place,
        opened(() => openCrossings(row, vault)),
        (crossings) => {
          for (const { tokenId, credited, debited } of crossings) {
            tally.take(tokenId, credited)
            tally.add(tokenId, debited)
          }
        },
      )
    }
    return Promise.resolve()
  })
}

function taken<T>(tally: ValueTally, place: string, row: Opened<T>, take: (value: T) => void): void {
  if (!row.isOpen) {
    tally.unread(place, row.problem)
    return
  }
  try {
    take(row.value)
  } catch {
    // A malformed quantity: the ledger does not write such rows.
    tally.unread(place, 'it cannot be read')
  }
}
