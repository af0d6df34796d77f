/**
 * The conformance suite: the interface over HTTP, in the order of its specification, with a test for every row of every
 * table in it. One ledger serves all chapters. At the end stands a table of the error codes and what provoked each.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountsChapter } from './conformance/accounts.ts'
import { assertionsChapter } from './conformance/assertions.ts'
import { attestationsChapter } from './conformance/attestations.ts'
import { authenticationChapter } from './conformance/authentication.ts'
import { authorizationChapter } from './conformance/authorization.ts'
import { bearerTokensChapter } from './conformance/bearer-tokens.ts'
import { CodeTable } from './conformance/code-table.ts'
import { conventionsChapter } from './conformance/conventions.ts'
import { accountOperationsChapter } from './conformance/decisions-accounts.ts'
import { groupOperationsChapter } from './conformance/decisions-groups.ts'
import { operationChapters } from './conformance/decisions-operation.ts'
import { typesChapter } from './conformance/decisions-types.ts'
import { fieldChapters } from './conformance/fields.ts'
import { errorCodesChapter } from './conformance/error-codes.ts'
import { problemChapter } from './conformance/errors.ts'
import { limitsChapter } from './conformance/limits.ts'
import { nftsChapter } from './conformance/nfts.ts'
import { outageChapters } from './conformance/outage.ts'
import { queryChapter } from './conformance/query-parameters.ts'
import { serviceChapter } from './conformance/service.ts'
import { signingChapter } from './conformance/signing.ts'
import { SPECIFICATION } from './conformance/specification.ts'
import { closeStage, openStage, type Stage } from './conformance/stage.ts'
import { statesChapters } from './conformance/states.ts'
import { statusChapter } from './conformance/status-codes.ts'
import { Suite } from './conformance/suite.ts'
import { tokensChapter } from './conformance/tokens.ts'
import { transactionsChapter } from './conformance/transactions.ts'
import { validationChapter } from './conformance/validation.ts'
import { versioningChapter } from './conformance/versioning.ts'

let stage: Stage | undefined
const codes = new CodeTable()
const getStage = (): Stage => {
  if (stage === undefined) throw new Error('the ledger does not run')
  return stage
}
const suite = new Suite(getStage)

beforeAll(async () => {
  stage = await openStage()
})

afterAll(async () => {
  process.stdout.write(`\n${codes.toString()}\n\n`)
  if (stage !== undefined) await closeStage(stage)
})

serviceChapter(suite)

conventionsChapter(suite)
fieldChapters(suite)

statesChapters(suite)

authenticationChapter(suite)
transactionsChapter(suite)
queryChapter(suite)
accountsChapter(suite)
tokensChapter(suite)
nftsChapter(suite)
assertionsChapter(suite)
attestationsChapter(suite)

bearerTokensChapter(suite)
authorizationChapter(suite)
signingChapter(suite)

problemChapter(suite)
statusChapter(suite)
errorCodesChapter(suite, codes)
limitsChapter(suite)
versioningChapter(suite)
validationChapter(suite)

accountOperationsChapter(suite)
typesChapter(suite)
groupOperationsChapter(suite)
operationChapters(suite)

outageChapters(suite, codes, getStage)

test('every row of the specification is claimed by a test, chapter by chapter in its order', () => {
  expect(suite.unclaimed()).toEqual([])
  expect(suite.claimedChapters()).toEqual(suite.chapters())
})

test('each of the 33 error codes of the specification was provoked', () => {
  expect(SPECIFICATION['Error codes']).toHaveLength(33)
  expect(codes.unprovoked()).toEqual([])
})
