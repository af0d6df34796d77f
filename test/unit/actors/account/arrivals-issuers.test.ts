/** An account that issues assets stays claimed, whether its imports are applied or dropped. */
import { expect, test } from 'vitest'
import type { AccountMessageCommand } from '../../../../actors/account/commands.ts'
import { CALLER, OTHER_KEY, registerCommand } from '../../../support/accounts.ts'
import {
  accountOf,
  ADMIN,
  ARRIVING,
  ask,
  drop,
  hold,
  LATER,
  OF_ACCOUNT,
  STAMP,
  walked,
} from '../../../support/arriving-accounts.ts'

const CLASS_OF_ANOTHER = {
  type: 'prepare_class',
  name: 'cards',
  clientId: 'another',
  consentNeeded: false,
  payload: '',
  signature: '',
} as const

test('an issuer stays claimed, whether its imports are applied or dropped', () => {
  const stranger = registerCommand({ caller: { ...CALLER, clientId: 'stranger' }, key: OTHER_KEY })
  const issuing: AccountMessageCommand = { ...STAMP, ...OF_ACCOUNT, ...CLASS_OF_ANOTHER }
  const elsewhere = { ...LATER, ledgerId: 'elsewhere' }
  const issuers = {
    'named before it came, and dropped': walked(hold(null), hold(ARRIVING, LATER), drop(LATER)),
    'dropped, and named then': walked(hold(), drop(), hold(null, LATER)),
    'named by another import while it was held': walked(hold(), hold(null, LATER), drop()),
    'named here while it was held': walked(hold(), issuing, drop()),
    'dropped, held again and named here meanwhile': walked(hold(), drop(), hold(ARRIVING, LATER), issuing, drop(LATER)),
  }
  for (const [how, issuer] of Object.entries(issuers)) {
    expect(ask(issuer, stranger), how).toBe('answered public_key_conflict')
    expect(ask(issuer, hold(ARRIVING, elsewhere)), how).toBe('answered account_exists')
    expect(ask(issuer, hold(null, elsewhere)), how).toBe('answered account_exists')
    expect(accountOf(issuer).registeredBy, how).toBe(ADMIN.clientId)
  }
})

test("a dropped account becomes the client's that names it as an issuer", () => {
  const issuing: AccountMessageCommand = { ...STAMP, ...OF_ACCOUNT, ...CLASS_OF_ANOTHER }
  const named = walked(hold(), drop(), issuing)
  expect(accountOf(named).registeredBy).toBe('another')
  expect(ask(named, hold(ARRIVING, LATER))).toBe('answered account_exists')
})
