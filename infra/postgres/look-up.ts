/**
 * The one look for everything that waits. The statements go out together, those with nothing to ask left out, and each
 * is one snapshot, taken after it was sent (D4).
 */
import { actorKey } from '../../actors/address.ts'
import type { ActorState } from '../../actors/actor-state.ts'
import type { HomedActor, LookUpAnswer, LookUpQuestion } from '../../runtime/ports/ledger-store.ts'
import type { Sql } from './connection.ts'
import { findAccounts, findExisting } from './look-up-accounts.ts'
import { findActors } from './look-up-actors.ts'
import { findKeys } from './look-up-keys.ts'
import { findClasses, findMinted } from './look-up-nfts.ts'
import { findGroupUses, findTransactions } from './look-up-transactions.ts'

export async function lookUp(sql: Sql, question: LookUpQuestion): Promise<LookUpAnswer> {
  const [accounts, keys, actors, transactions, groupUses, existing, classes, instances] = await Promise.all([
    findAccounts(sql, question.accounts),
    findKeys(sql, question.keys),
    findActors(sql, [...question.actors, ...question.tokens]),
    findTransactions(sql, question.transactions),
    findGroupUses(sql, question.groupUses),
    findExisting(sql, question.existing),
    findClasses(sql, question.classes),
    findMinted(sql, question.instances),
  ])
  return {
    accounts,
    keys,
    actors: asked(actors, question.actors),
    tokens: asked(actors, question.tokens),
    transactions,
    groupUses,
    existing,
    classes,
    instances,
  }
}

function asked(found: ReadonlyMap<string, ActorState>, actors: readonly HomedActor[]): Map<string, ActorState> {
  const answers = new Map<string, ActorState>()
  for (const { address } of actors) {
    const key = actorKey(address)
    const state = found.get(key)
    if (state !== undefined) answers.set(key, state)
  }
  return answers
}
