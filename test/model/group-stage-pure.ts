/** The scene at a ledger of pure steps; all messages are delivered after every action. */
import type { Stage } from './group-driver.ts'
import { type Action, type Answered, FUNDS, type Name, type Scene, type Seen } from './group-model.ts'
import { GROUP, type LegFields, legOf, termsOf, World } from './mini-clients.ts'

const TIMEOUT_SECONDS = 900

export function pureStage(scene: Scene): Stage<Action, Seen> {
  const ledger = new World()
  const terms = termsOf(legFieldsOf(scene), { timeoutSeconds: TIMEOUT_SECONDS })
  const enter = (names: readonly Name[]): void => {
    ledger.open(...names)
    for (const name of names) ledger.fund(name, `${FUNDS}`)
  }
  enter(scene.accounts.filter((name) => !scene.missing.includes(name)))
  const take = (leg: number): Answered => {
    const answer = ledger.submission(legOf(terms, leg))
    ledger.drain()
    return answer.kind === 'refused' ? 'refused' : 'accepted'
  }
  const act = (action: Action): Answered => {
    switch (action.type) {
      case 'register':
      case 'register_again':
        return answered(ledger.agree(terms))
      case 'open_missing':
        enter(scene.missing)
        return 'accepted'
      case 'fail': {
        const { accountId } = legOf(terms, action.leg)
        ledger.submit({ accountId, type: 'debit', amount: ledger.balance(accountId).available })
        return take(action.leg)
      }
      case 'take':
      case 'take_again':
        return take(action.leg)
      case 'time_out':
        ledger.pass(TIMEOUT_SECONDS * 1_000)
        ledger.drain()
        return 'accepted'
      case 'revert':
      case 'revert_again':
        return answered(ledger.revert(GROUP))
    }
  }
  return { act, seen: () => seenAt(scene, ledger) }
}

function legFieldsOf({ legs }: Scene): readonly LegFields[] {
  return legs.map(({ account, type, amount, to }) => ({
    account_id: account,
    type,
    amount: `${amount}`,
    ...(to === undefined ? {} : { to_account_id: to }),
  }))
}

function answered({ kind }: { readonly kind: string }): Answered {
  return kind === 'refused' ? 'refused' : 'accepted'
}

function seenAt({ accounts }: Scene, ledger: World): Seen {
  const group = ledger.groupSeen(GROUP)
  return {
    group: group?.status ?? 'absent',
    legs: group?.legs.map(({ status }) => status) ?? [],
    transactions: [...ledger.transactions.values()]
      .filter(({ groupId }) => groupId === GROUP)
      .map(({ accountId, type, amount, status }) => `${accountId} ${type} ${amount} ${status}`)
      .sort(),
    compensations: group?.compensations.length ?? 0,
    partialFailures: group?.partialFailures.length ?? 0,
    balances: Object.fromEntries(accounts.map((name) => [name, ledger.states.has(name) ? ledger.balance(name) : null])),
  }
}
