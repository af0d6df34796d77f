/** Events as the interface shows them (D23): CloudEvents 1.0 in JSON. */
import { showHash } from '../../actors/audit-chain.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { EventContent, EventEntry, EventName, LedgerEvent } from '../../runtime/ports/ledger-events.ts'
import { attestationMembers } from './attestation-views.ts'
import { nftEventMembers } from './nft-views.ts'
import { groupMembers, transactionDetailMembers } from './views.ts'

/** The type of an event in its envelope. */
export function eventType(name: EventName): string {
  return `ledger.${name}.v1`
}

export function eventMembers({ id, name, subject, timeMs, content }: LedgerEvent, ledgerId: string): object {
  return {
    specversion: '1.0',
    id,
    source: `urn:ledger:${ledgerId}`,
    type: eventType(name),
    subject,
    ...(timeMs === null ? {} : { time: isoTimestamp(timeMs) }),
    datacontenttype: 'application/json',
    data: dataMembers(content),
  }
}

function dataMembers(content: EventContent): object {
  switch (content.kind) {
    case 'transaction': {
      const { payload, signature } = content.receipt
      return {
        transaction: transactionDetailMembers(content.transaction),
        receipt: { receipt: JSON.parse(payload) as object, signature },
      }
    }
    case 'erased_transaction': {
      const { txnId, auditHash } = content.transaction
      const hash = auditHash === null ? null : showHash(auditHash)
      return { account_id: content.accountId, txn_id: txnId, audit_hash: hash, erased: true }
    }
    case 'entry':
      return { account_id: content.accountId, ...entryMembers(content.entry) }
    case 'group':
      return groupMembers(content.group)
    case 'nft':
      return {
        class_id: content.nft.classId,
        instance_id: content.nft.instanceId,
        number: content.event.number,
        ...nftEventMembers(content.event),
        event_hash: showHash(content.event.eventHash),
      }
    case 'attestation':
      return attestationMembers(content.attestation)
  }
}

function entryMembers({ sequence, previousHash, auditHash, payload }: EventEntry): object {
  return {
    sequence,
    previous_hash: showHash(previousHash),
    audit_hash: showHash(auditHash),
    payload,
    ...(payload === null ? { erased: true } : {}),
  }
}
