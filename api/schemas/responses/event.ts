/** Responses about events (D23). */
import * as v from 'valibot'
import { EVENT_NAMES } from '../../../runtime/ports/ledger-events.ts'
import { define } from '../named-schema.ts'
import { jsonObject, text, timestamp } from '../values.ts'

const TYPES = EVENT_NAMES.map((name) => `ledger.${name}.v1` as const)

export const eventResponse = define('Event', 'One event of the ledger: CloudEvents 1.0.', {
  specversion: [v.literal('1.0'), 'The version of CloudEvents.'],
  id: [v.pipe(v.string(), v.regex(/^evt_[0-9a-f]{32}$/)), 'The same each time that the event is delivered.'],
  source: [text, '`urn:ledger:` and the ID of the ledger.'],
  type: [v.picklist(TYPES), 'New types may come.'],
  subject: [text, 'The account, the group, or the NFT as `class/instance`. An erased account has a pseudonym.'],
  time: [v.exactOptional(timestamp), 'The time of the fact. Absent if it was erased or is unknown.'],
  datacontenttype: [v.literal('application/json'), 'The media type of `data`.'],
  data: [
    jsonObject,
    'Of a transaction: `transaction` and its signed `receipt`. Of an account or a hold: the entry of the account’s chain. Of a group, an NFT or an attestation: its resource. `erased` is true if the account was erased since.',
  ],
})

export const eventListResponse = define('EventList', 'One page of events.', {
  events: [v.array(eventResponse), 'The events of this page, oldest first.'],
  next_cursor: [v.pipe(v.string(), v.nonEmpty(), v.maxLength(512)), 'To be sent as `after`. Never absent.'],
})
