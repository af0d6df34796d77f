/**
 * Account.
 *   S1. A refused or repeated command changes nothing.
 *   S2. Checks run in this order: the account, the signature, the replay, the rest.
 *   S3. A signature verdict counts only for the key that this step sees, or the key that accepted the original.
 *   S4. Every message is consumed: the account reports a refusal of its content in a message of its own.
 */
import { authorizeArrival, NOT_HELD, ofAdministrators } from '../arrival.ts'
import { defineActor, type Refusals } from '../define-actor.ts'
import { EXISTS } from './arrival.ts'
import { authenticate } from './authentication.ts'
import type { AccountClientCommand, AccountCommand } from './commands.ts'
import { DEPARTING } from './departure.ts'
import type { Evidence } from './evidence.ts'
import { judgeCommand } from './judgement.ts'
import { accountMachine } from './machine.ts'
import type { AccountState, AccountStatus } from './state.ts'
const NOT_FOUND = { code: 'account_not_found', detail: 'There is no such account.', field: 'account_id' } as const
const CLOSED = { code: 'account_closed', detail: 'The account is closed.' } as const
const OTHER_KEY = {
  code: 'public_key_conflict',
  detail: 'The account exists with another key.',
  field: 'public_key',
} as const
const NOT_YOURS = {
  code: 'public_key_conflict',
  detail: 'Only the client that created this account, or an admin, may register its key.',
  field: 'public_key',
} as const
const NOT_EMPTY = {
  code: 'account_not_empty',
  detail: 'The account still holds something.',
  field: 'status',
} as const

const conflict = ({ key }: AccountState) => (key === null ? NOT_YOURS : OTHER_KEY)
const notActive = ({ status }: AccountState) => ({
  code: 'account_not_active' as const,
  detail: `The account is ${status}.`,
})
const notClosed = ({ status }: AccountState) => ({
  code: 'account_not_closed' as const,
  detail: `The account is ${status}: only a closed account can be erased.`,
})
const notFrozen = ({ status, moved }: AccountState) =>
  moved === undefined
    ? { code: 'account_not_frozen' as const, detail: `The account is ${status}.`, field: 'account_ids' }
    : DEPARTING

const REFUSALS = {
  absent: {
    submit: NOT_FOUND,
    dry_run: NOT_FOUND,
    mint: NOT_FOUND,
    create_hold: NOT_FOUND,
    release_hold: NOT_FOUND,
    rotate_key: NOT_FOUND,
    decline_legs: NOT_FOUND,
    change_status: NOT_FOUND,
    erase: NOT_FOUND,
    pause: NOT_FOUND,
    resume: NOT_FOUND,
    show_actor: NOT_FOUND,
    take_arrival: NOT_HELD,
    note_used_keys: NOT_HELD,
    depart: { ...NOT_FOUND, field: 'account_ids' },
  },
  active: { register: conflict, change_status: NOT_EMPTY, erase: notClosed, depart: notFrozen },
  frozen: {
    register: conflict,
    mint: notActive,
    create_hold: notActive,
    rotate_key: notActive,
    change_status: NOT_EMPTY,
    erase: notClosed,
  },
  closed: {
    register: conflict,
    mint: notActive,
    create_hold: notActive,
    release_hold: CLOSED,
    rotate_key: notActive,
    decline_legs: CLOSED,
    change_status: CLOSED,
    pause: CLOSED,
    resume: CLOSED,
    hold_arrival: EXISTS,
    take_arrival: NOT_HELD,
    note_used_keys: NOT_HELD,
    depart: notFrozen,
  },
  erased: {
    register: {
      code: 'public_key_conflict',
      detail: 'The ID belonged to an account that was erased.',
      field: 'account_id',
    },
    submit: CLOSED,
    dry_run: CLOSED,
    mint: CLOSED,
    create_hold: CLOSED,
    release_hold: CLOSED,
    rotate_key: CLOSED,
    decline_legs: CLOSED,
    change_status: CLOSED,
    pause: CLOSED,
    resume: CLOSED,
    hold_arrival: EXISTS,
    depart: notFrozen,
  },
} as const satisfies Refusals<AccountState, AccountStatus, AccountClientCommand['type']>

export const accountActor = defineActor<AccountState, AccountCommand, Evidence>({
  kind: 'account',
  machine: accountMachine,
  refusals: REFUSALS,
  authorize: (command) => (command.type === 'depart' ? ofAdministrators(command) : authorizeArrival(command)),
  prepare: authenticate,
  judge: judgeCommand,
})
