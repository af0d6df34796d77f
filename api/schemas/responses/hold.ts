/** Responses about holds (D25). */
import * as v from 'valibot'
import { HOLD_STATUSES } from '../../../actors/hold/state.ts'
import { define } from '../named-schema.ts'
import { accountIdField, tokenIdField } from '../fields.ts'
import { holdId, minimalDecimal, pageToken, timestamp, transactionMetadata } from '../values.ts'

export const holdResponse = define('Hold', 'Value of a payer that its beneficiary may capture.', {
  hold_id: holdId,
  status: [
    v.picklist(HOLD_STATUSES),
    '`active`; `captured`: nothing remains; `released`; `expired`. All but `active` are final.',
  ],
  account_id: [accountIdField, 'The payer.'],
  to_account_id: [accountIdField, 'The beneficiary.'],
  token_id: tokenIdField,
  amount: [minimalDecimal, 'How much was put on hold.'],
  captured: [minimalDecimal, 'The sum of its captures.'],
  remaining: [minimalDecimal, 'How much can still be captured.'],
  metadata: [v.exactOptional(transactionMetadata), 'As it was signed; absent once the hold has ended.'],
  expires_at: [timestamp, 'When it expires, unless it has ended.'],
  created_at: timestamp,
  ended_at: [v.exactOptional(timestamp), 'When it ended. Absent while it is active.'],
})

export const holdListResponse = define('HoldList', 'One page of holds.', {
  account_id: accountIdField,
  holds: [v.array(holdResponse), 'The holds of this page.'],
  next_page_token: pageToken,
})
