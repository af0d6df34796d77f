/** Ann has a ruby, which she issued; Bob has an opal of hers and 100; Cid has nothing. */
import { expect } from 'vitest'
import type { Submission } from '../../../../actors/account/commands.ts'
import { handing, type LegFields, World } from '../../../model/mini-clients.ts'
import { countAtRest } from '../../../model/mini-ledger-count.ts'

type Fields = Partial<Submission> & Pick<Submission, 'accountId'>

/** Another group than that of most tests. */
export const ELSEWHERE = '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33'
/** A leg that pays for an NFT. */
export const PAYS = { account_id: 'bob', type: 'transfer', amount: '30', to_account_id: 'ann' }

export class Gems {
  readonly ledger = new World()
  readonly classId: string
  readonly ruby: string
  readonly opal: string

  constructor() {
    this.ledger.open('ann', 'bob', 'cid')
    this.classId = this.ledger.classOf('ann')
    this.ruby = this.minted('ruby')
    this.opal = this.minted('opal', 'bob')
    this.ledger.fund('bob', '100')
  }

  minted(instanceId: string, owner = 'ann'): string {
    return this.ledger.minted({ accountId: 'ann', classId: this.classId, instanceId, owner })
  }

  /** A leg that hands an NFT over. */
  gives(from = 'ann', to = 'bob', instanceId = 'ruby'): LegFields {
    const nft = { class_id: this.classId, instance_id: instanceId, amount: '1' }
    return { account_id: from, type: 'transfer', to_account_id: to, ...nft }
  }

  /** A leg that burns the ruby. */
  burns(from = 'ann'): LegFields {
    return { account_id: from, type: 'burn', class_id: this.classId, instance_id: 'ruby', amount: '1' }
  }
}

/** No message is in transit, no account has a hold, and each account's counts match. */
export function expectAtRest({ ledger, ruby, opal }: Gems, rubys: string, opals = 'bob'): void {
  expect(ledger.undelivered()).toEqual([])
  expect(ledger.nftSeen(ruby)).toMatchObject({ owner: rubys, status: 'active' })
  expect(ledger.nftSeen(opal)).toMatchObject({ owner: opals, status: 'active' })
  for (const { accountId, holds } of ledger.accounts()) {
    const owned = [rubys, opals].filter((owner) => owner === accountId).length
    expect([accountId, holds.size, ledger.counts(accountId)]).toEqual([accountId, 0, { owned, promised: 0 }])
  }
  countAtRest(ledger)
}

/** Fields of the submission that burns an NFT. */
export function burning(id: string, accountId: string): Fields {
  return { accountId, type: 'burn', amount: '1', tokenId: id }
}

/** Fields of the submission that offers an NFT for an amount of the base unit. */
export function offering(id: string, accountId: string, toAccountId: string, amount = '1'): Fields {
  const receive = { tokenId: 'BASE', amount }
  return { ...handing(id, accountId, toAccountId), type: 'exchange', groupId: ELSEWHERE, receive }
}
