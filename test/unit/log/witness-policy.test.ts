/** An edge starts only with witnesses that can sign as its policy demands. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parsePolicy } from '../../../api/client/log/trust-policy.ts'
import { verifierKeyText } from '../../../api/client/log/signed-note.ts'
import { createNoteSigner } from '../../../infra/log/log-signer.ts'
import { readWitnesses, reportWitnesses } from '../../../infra/log/witness-policy.ts'

const URL = 'https://witness.example/one'

/** A file with a witness for each URL, all of which must sign unless there is another quorum. */
async function policyOf(urls: readonly string[], quorum?: string): Promise<string> {
  const lines = await Promise.all(
    urls.map(async (url, index) => {
      const { key } = await createNoteSigner(`witness.example/${index}`, 'witness', Buffer.alloc(32, index))
      return `witness w${index} ${verifierKeyText(key)} ${url}`
    }),
  )
  const file = join(mkdtempSync(join(tmpdir(), 'ledger-policy-')), 'policy')
  const group = `group all all ${urls.map((_, index) => `w${index}`).join(' ')}`
  writeFileSync(file, [...lines, group, `quorum ${quorum ?? 'all'}`].join('\n'))
  return file
}

test('witnesses without a URL may be in the policy as long as the others meet the quorum', async () => {
  const policy = await readWitnesses(await policyOf([URL, 'http://127.0.0.1:81/w/', ''], 'w1'))
  expect([...policy.witnesses.keys()]).toEqual(['w0', 'w1', 'w2'])
  await expect(readWitnesses(await policyOf([URL, '']))).rejects.toThrow('cannot meet the quorum')
  await expect(readWitnesses(await policyOf([URL, ''], 'w1'))).rejects.toThrow('cannot meet the quorum')
})

test('a policy without a quorum is refused with both ways to write one', async () => {
  const file = await policyOf([URL])
  writeFileSync(file, readFileSync(file, 'utf8').replace('quorum all', ''))
  await expect(readWitnesses(file)).rejects.toThrow(
    `${file}: the line "quorum <name>" of a witness or group is missing ("quorum none": no witness must sign).`,
  )
})

test('a head has no room for the signatures of more than 63 witnesses', async () => {
  const urls = Array.from({ length: 63 }, () => URL)
  expect((await readWitnesses(await policyOf(urls))).witnesses.size).toBe(63)
  expect((await readWitnesses(await policyOf([...urls, ''], 'w0'))).witnesses.size).toBe(64)
  await expect(readWitnesses(await policyOf([...urls, URL], 'w0'))).rejects.toThrow('more than 63 witnesses')
})

test.for(['witness.example', 'ftp://witness.example', 'https:'])('%s is no URL of a witness', async (url) => {
  await expect(readWitnesses(await policyOf([URL, url], 'w0'))).rejects.toThrow('the URL of the witness w1')
})

test('an edge reports at its start how many witnesses it has and needs', async () => {
  const reports: unknown[] = []
  const log = { info: (event: string, fields: unknown) => void reports.push([event, fields]) }
  const file = await policyOf([URL, URL, URL, ''], 'nested')
  const text = readFileSync(file, 'utf8').replace(
    /group .*\n/,
    'group pair all w0 w1\ngroup one any w2 w3\ngroup nested all pair one\n',
  )
  reportWitnesses(log, await parsePolicy(text))
  reportWitnesses(log, await parsePolicy('quorum none'))
  reportWitnesses(log, undefined)
  expect(reports).toEqual([
    ['log_opened', { witnesses: 4, must_sign: 3 }],
    ['log_opened', { witnesses: 0, must_sign: 0 }],
    ['log_opened', { witnesses: 0, must_sign: 0, note: 'the ledger signs alone: LEDGER_WITNESSES is not set' }],
  ])
})
