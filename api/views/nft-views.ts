/** NFT classes and instances as the interface shows them. */
import type { ClassView } from '../../actors/nft-class/state.ts'
import type { InstanceView, NftEvent } from '../../actors/nft-instance/state.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { OwnedNft } from '../../runtime/ports/ledger-reads.ts'
import { notFound, type Problem } from '../http/problem.ts'

export function classMembers(nftClass: ClassView): object {
  return {
    class_id: nftClass.classId,
    name: nftClass.name,
    description: nftClass.description,
    issuer: nftClass.issuer,
    metadata_schema: nftClass.metadataSchema,
    created_at: isoTimestamp(nftClass.createdAtMs),
  }
}

/** As lists show it. */
export function listedClassMembers({ classId, name, issuer, createdAtMs }: ClassView): object {
  return { class_id: classId, name, issuer, created_at: isoTimestamp(createdAtMs) }
}

export function instanceMembers(instance: InstanceView): object {
  return { class_id: instance.classId, ...listedInstanceMembers(instance) }
}

/** As the list of a class shows it. */
export function listedInstanceMembers({ instanceId, owner, status, metadata, mintedAtMs }: InstanceView): object {
  return { instance_id: instanceId, owner, status, metadata, minted_at: isoTimestamp(mintedAtMs) }
}

export function ownedNftMembers(nft: OwnedNft): object {
  return {
    class_id: nft.classId,
    instance_id: nft.instanceId,
    class_name: nft.className,
    status: nft.status,
    metadata: nft.metadata,
    acquired_at: isoTimestamp(nft.acquiredAtMs),
  }
}

export function nftEventMembers({ from, to, txnId, type, atMs }: NftEvent): object {
  return { from, to, txn_id: txnId, type, timestamp: isoTimestamp(atMs) }
}

export function noSuchClass(): Problem {
  return notFound('There is no such NFT class.')
}

export function noSuchInstance(): Problem {
  return notFound('There is no such NFT.')
}
