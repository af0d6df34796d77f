/** The look-up of the simulated database: several statements, each of which sees the commits at its execution (D4). */
import type { EarlierUse } from '../../../actors/account/outcome.ts'
import type { AccountState } from '../../../actors/account/state.ts'
import type { CompensableTransaction } from '../../../actors/account/transaction.ts'
import type { ActorState } from '../../../actors/actor-state.ts'
import { actorKey } from '../../../actors/address.ts'
import type { ClassFacts } from '../../../actors/nft-class/state.ts'
import {
  addressOf,
  creditNameOf,
  type GroupUse,
  groupUseAddressOf,
  type HomedActor,
  type KeyAddress,
  keyAddressOf,
  type LookUpAnswer,
  type LookUpQuestion,
} from '../../../runtime/ports/ledger-store.ts'
import type { Rows } from './rows.ts'
import type { Statements, StatementWorld } from './statements.ts'

/** Only requested parts have a statement. */
export function lookUpStatements(world: StatementWorld, question: LookUpQuestion): Statements<LookUpAnswer> {
  const answer = {
    accounts: new Map<string, AccountState>(),
    keys: new Map<string, EarlierUse>(),
    actors: new Map<string, ActorState>(),
    transactions: new Map<string, CompensableTransaction>(),
    credits: new Map<string, CompensableTransaction>(),
    groupUses: new Map<string, readonly GroupUse[]>(),
    tokens: new Map<string, ActorState>(),
    existing: new Set<string>(),
    classes: new Map<string, ClassFacts>(),
    instances: new Set<string>(),
    unreadable: new Map<number, string>(),
  }
  const statements: (() => void)[] = []
  const ask = <T extends { readonly shardId: number }>(
    items: readonly T[],
    find: (item: T, rows: Rows) => void,
  ): void => {
    if (items.length === 0) return
    statements.push(() => {
      for (const item of world.shuffled(items)) find(item, world.rowsOf(item.shardId))
    })
  }
  const use = (address: KeyAddress, rows: Rows): void => {
    const found = rows.earlierUse(address)
    if (found !== undefined) answer.keys.set(keyAddressOf(address), found)
  }
  const actorInto = (into: Map<string, ActorState>) => (actor: HomedActor, rows: Rows) => {
    const found = rows.actors.state(actor)
    if (found !== undefined) into.set(actorKey(actor.address), found)
  }
  ask(question.accounts, (address, rows) => {
    const found = rows.account(address)
    if (found !== undefined) answer.accounts.set(addressOf(address), found)
  })
  ask(question.keys.filter(isTransaction), use)
  ask(
    question.keys.filter((key) => !isTransaction(key)),
    use,
  )
  ask(question.actors, actorInto(answer.actors))
  ask(question.transactions, (name, rows) => {
    const found = rows.transactionTable.compensable(name)
    if (found !== undefined && !rows.isErased({ shardId: name.shardId, accountId: found.accountId }))
      answer.transactions.set(name.txnId, found)
  })
  ask(question.credits, (name, rows) => {
    const found = rows.transactionTable.credit(name)
    if (found !== undefined && !rows.isErased(name)) answer.credits.set(creditNameOf(name), found)
  })
  ask(question.groupUses, (address, rows) => {
    const found = rows.transactionTable.groupUses(address)
    const at = groupUseAddressOf(address)
    if (found.length > 0) answer.groupUses.set(at, world.shuffled([...(answer.groupUses.get(at) ?? []), ...found]))
  })
  ask(question.tokens, actorInto(answer.tokens))
  ask(question.existing, (address, rows) => {
    if (rows.accounts.has(addressOf(address))) answer.existing.add(addressOf(address))
  })
  if (question.classes.length > 0) {
    statements.push(() => {
      const { actors } = world.allRows()
      for (const classId of world.shuffled(question.classes)) {
        const found = actors.classFacts(classId)
        if (found !== undefined) answer.classes.set(classId, found)
      }
    })
  }
  ask(question.instances, (instance, rows) => {
    if (rows.actors.isMinted(instance)) answer.instances.add(instance.address.id)
  })
  return { statements, answer: () => answer }
}

function isTransaction(key: KeyAddress): boolean {
  return key.operation === 'transaction'
}
