import { canonicalOrder, type KeyRotation, signOrder } from '../../../api/client/index.ts'
import { signText } from '../../../api/client/signing/keys.ts'
import { publicJwkOf } from '../../keys/public-key.ts'
import type { CommandSetup } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { addSessionOptions, type Session, type SessionOptions, signingKey, withSession } from '../profile/session.ts'

const COLUMNS = [{ name: 'key_id' }, { name: 'state' }, { name: 'file' }]

export const keysCommand: CommandSetup = (command, io) => {
  command.description('Lists and rotates the keys of an account.')
  const list = command.command('list').summary('list the keys of an account')
  addSessionOptions(
    list
      .description(
        `Prints the key that is in force, and the files of the account's keys here. "next" is the key of a
rotation whose outcome is unknown: run ledger account keys rotate again.`,
      )
      .argument('<account>', 'account'),
  ).action((account: string, options: SessionOptions) =>
    withSession(options, io, (session) => listKeys(account, session)),
  )
  addExamples(list, ['ledger account keys list alice'])

  const rotate = command.command('rotate').summary('replace the key of an account by a new one')
  addSessionOptions(
    rotate
      .description(
        `Generates a key and makes it the account's key. The current key signs, and the new one proves that it is
here. Orders signed with the current key are refused afterwards. Its file is kept.

After a lost reply run the command again: it continues with the same new key.`,
      )
      .argument('<account>', 'account'),
  ).action((account: string, options: SessionOptions) =>
    withSession(options, io, (session) => rotateKey(account, session)),
  )
  addExamples(rotate, ['ledger account keys rotate alice'])
}

async function listKeys(account: string, { client, keyFiles, output }: Session): Promise<void> {
  const { key_id: inForce } = await client.call('getAccount', { path: { accountId: account } })
  const next = keyFiles.findNext(account)?.keyId
  const stateOf = (keyId: string): string => (keyId === inForce ? 'in force' : keyId === next ? 'next' : 'not in force')
  const files = keyFiles.all(account)
  const rows = files.map(({ keyId, path }) => ({ key_id: keyId, state: stateOf(keyId), file: path }))
  const elsewhere =
    inForce === null || files.some(({ keyId }) => keyId === inForce)
      ? []
      : [{ key_id: inForce, state: 'in force', file: null }]
  output.table([...elsewhere, ...rows], COLUMNS, `${account} has no key`)
}

async function rotateKey(
  account: string,
  { client, keyFiles, output, profile, adviseIfUnknown }: Session,
): Promise<void> {
  const path = { accountId: account }
  const next = keyFiles.findNext(account)
  const { key_id: inForce } = await client.call('getAccount', { path })
  // An earlier run was accepted, and ended before it replaced the file.
  if (next === undefined || next.keyId !== inForce) {
    const current = await signingKey(keyFiles.read(account))
    const renewed = next ?? keyFiles.makeNext(account)
    adviseIfUnknown(`Run ledger account keys rotate ${account} again: it continues with the same new key.`)
    const rotation = {
      account_id: account,
      public_key: { ...publicJwkOf(renewed.key) },
      ledger_id: profile.ledgerId,
      // Another attempt with this new key is the same rotation.
      idempotency_key: `rotation-${renewed.keyId}`,
    }
    const signed = await signOrder<KeyRotation>(rotation, current)
    const proof = await signText(await signingKey(renewed), canonicalOrder(signed))
    await client.call('rotateKey', { path, body: { ...signed, proof } })
  }
  const retired = keyFiles.replace(account)
  const { keyId, path: file } = keyFiles.read(account)
  output.record({ account_id: account, key_id: keyId, key_file: file, retired_key_file: retired })
}
