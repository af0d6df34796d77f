/**
 * The one look for everything that waits. The statements go out together, those with nothing to ask left out, and each
 * is one snapshot, taken after it was sent (D4). Data keys that are known to be needed are fetched beside them.
 *   U1. A row that cannot be read fails the look for its shard and for no other: its owner must know, and stop.
 */
import { actorKey } from '../../../actors/address.ts'
import type { ActorState } from '../../../actors/actor-state.ts'
import { type HomedActor, type LookUpAnswer, type LookUpQuestion } from '../../../runtime/ports/ledger-store.ts'
import { accountKeyName, classKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { keyNameOfActorRow } from '../rows/actor-documents.ts'
import { keyNameOfAccountRow, openAccount } from '../rows/account-document.ts'
import type { Sql } from '../connection/connection.ts'
import { findErasedRows } from '../rows/erased-accounts.ts'
import { findAccountRows, findExisting, openWholeAccount } from './look-up-accounts.ts'
import { actorOf, classFactsOf, findActorRows, findClassRows, findMinted } from './look-up-actors.ts'
import { findAccountKeyRows, findUseRows, operationUse, publicKeysIn, submissionUse } from './look-up-keys.ts'
import { fetchKeys } from '../rows/opened-rows.ts'
import { compensableOf, creditOf, findCreditRows, findGroupUses, findTransactionRows } from './look-up-transactions.ts'

export async function lookUp(sql: Sql, question: LookUpQuestion, vault: RowVault): Promise<LookUpAnswer> {
  const [, accounts, uses, actors, transactions, credits, groupUses, existing, classes, instances] = await Promise.all([
    fetchAhead(sql, question, vault),
    findAccountRows(sql, question.accounts, vault),
    findUseRows(sql, question.keys, vault),
    findActorRows(sql, [...question.actors, ...question.tokens]),
    findTransactionRows(sql, question.transactions),
    findCreditRows(sql, question.credits, vault),
    findGroupUses(sql, question.groupUses, vault),
    findExisting(sql, question.existing, vault),
    findClassRows(sql, question.classes),
    findMinted(sql, question.instances),
  ])
  // Those of accounts again: one that came into being between the two looks had no key yet at the first.
  const needed = [
    ...accounts.map(keyNameOfAccountRow),
    ...[...uses.submissions, ...uses.operations, ...transactions, ...credits].map((row) =>
      accountKeyName(row.account_id),
    ),
    ...[...actors, ...classes].map(keyNameOfActorRow),
  ]
  const [, accountKeys] = await Promise.all([fetchKeys(sql, needed, vault), findAccountKeyRows(sql, uses)])
  // After all else: what was erased meanwhile says so by then (E2 of erased-accounts.ts).
  const erasedRows = await findErasedRows(sql, refsOf(uses.submissions, uses.operations, transactions, credits), vault)
  const unreadable = new Map<number, string>()
  const opened = <Row extends { readonly shard_id: number }, Value>(
    rows: readonly Row[],
    open: (row: Row) => readonly [string, Value] | undefined,
  ): Map<string, Value> => openAll(rows, open, unreadable)
  const erased = opened(erasedRows, (row) => [row.account_id, openAccount(row, vault)])
  const isThere = (row: { readonly account_id: string }): boolean => !erased.has(row.account_id)
  const states = opened(actors, (row) => actorOf(row, vault))
  const publicKeyOf = publicKeysIn(accountKeys, vault)
  const accountIds = new Map(
    [...question.accounts, ...question.keys].map(({ accountId }) => [vault.accountRef(accountId), accountId]),
  )
  return {
    accounts: opened(accounts, (row) => openWholeAccount(row, vault, accountIds.get(row.account_id) ?? '')),
    keys: new Map([
      ...opened(uses.submissions.filter(isThere), (row) => submissionUse(row, publicKeyOf, vault)),
      ...opened(uses.operations.filter(isThere), (row) =>
        operationUse(row, (ref) => accountIds.get(ref), publicKeyOf, vault),
      ),
    ]),
    actors: asked(states, question.actors),
    tokens: asked(states, question.tokens),
    transactions: opened(transactions.filter(isThere), (row) => compensableOf(row, vault)),
    credits: opened(credits.filter(isThere), (row) => creditOf(row, vault)),
    groupUses,
    existing,
    classes: opened(classes, (row) => classFactsOf(row, vault)),
    instances,
    unreadable,
  }
}

function refsOf(...rows: readonly (readonly { readonly account_id: string }[])[]): readonly string[] {
  return rows.flat().map((row) => row.account_id)
}

/** Fetches the data keys that the question is known to need. */
function fetchAhead(sql: Sql, { accounts, keys, classes }: LookUpQuestion, vault: RowVault): Promise<void> {
  const names = [...accounts, ...keys].map(({ accountId }) => vault.accountKeyName(accountId))
  return fetchKeys(sql, [...names, ...classes.map(classKeyName)], vault)
}

/** U1. `open`: undefined for a row that is not asked for. */
function openAll<Row extends { readonly shard_id: number }, Value>(
  rows: readonly Row[],
  open: (row: Row) => readonly [string, Value] | undefined,
  unreadable: Map<number, string>,
): Map<string, Value> {
  const found = new Map<string, Value>()
  for (const row of rows) {
    try {
      const named = open(row)
      if (named !== undefined) found.set(...named)
    } catch (error) {
      // Others than ours may quote what they could not read.
      const told = error instanceof UnreadableRow ? error.message : 'a row has not the shape of one'
      unreadable.set(row.shard_id, told)
    }
  }
  return found
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
