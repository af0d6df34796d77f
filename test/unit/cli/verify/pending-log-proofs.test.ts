/** A receipt has its own verdict while no published head of the log has its entry. */
import { expect, test } from 'vitest'
import { LedgerError, parsePolicy } from '../../../../api/client/index.ts'
import { checkLogProofs } from '../../../../infra/cli/verify/check-log-proofs.ts'
import { logProofsOf } from '../../../../infra/cli/verify/fetched.ts'
import { chainOf, shown } from './signed-chain.ts'

test('a proof that does not come in time is pending, and the others are fetched', async () => {
  const late = () => Promise.reject(new LedgerError('late', { codes: ['ERR_WAIT_TIMEOUT'], outcome: undefined }))
  const client = {
    logProof: late,
    receiptLogProof: (txnId: string) => (txnId === 'txn_1' ? late() : Promise.resolve('a proof')),
  }
  const request = { account: 'alice', txnIds: ['txn_1', 'txn_2'] }
  expect(await logProofsOf(request, 3, client)).toEqual({
    given: [{ name: 'txn_2.tlog-proof', text: 'a proof' }],
    pending: ['chain.tlog-proof', 'txn_1.tlog-proof'],
  })
  const refusing = { ...client, logProof: () => Promise.reject(new Error('refused')) }
  await expect(logProofsOf(request, 3, refusing)).rejects.toThrow('refused')
})

test('a pending proof is incomplete, also without anything that it could be of', async () => {
  const policy = await parsePolicy('quorum none')
  const proofs = { policy, given: [], pending: ['chain.tlog-proof'], accountKeys: new Map<string, Uint8Array>() }
  const entries = chainOf(1).map((entry) => ({ ...shown(entry), fields: null }))
  for (const given of [[], entries]) {
    const byNumber = new Map(given.map((entry) => [entry.sequence, entry]))
    const chains = [{ ok: true, proved: [], accountId: 'alice', entries: byNumber, erased: 0, tip: '' } as const]
    expect(await checkLogProofs(proofs, { receipts: [], chains })).toEqual([
      {
        verdict: 'INCOMPLETE',
        detail: 'chain.tlog-proof: the entry is not yet in a published head of the log; verify again later',
      },
    ])
  }
})
