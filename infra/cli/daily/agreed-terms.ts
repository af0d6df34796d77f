/** Terms of a settlement group that the parties keep in a file, as they were registered. */
import { canonicalJson, type Json, type JsonObject } from '../../../actors/canonical-json.ts'
import { DEFAULT_TIMEOUT_SECONDS, readTerms, type Terms } from '../../../actors/group/terms.ts'
import type { SettlementGroup } from '../../../api/client/index.ts'
import { CommandFailed, type CommandIo } from '../common/command.ts'
import { jsonObjectOf, readGivenText } from '../common/given-file.ts'

/**
 * Throws CommandFailed unless the file has the terms of the group, and the ledger shows legs with the same meaning.
 * `file`: the body of POST /v1/settlement-groups; `-` is standard input.
 */
export async function refuseOtherTermsThan(file: string, group: SettlementGroup, io: CommandIo): Promise<void> {
  const given = jsonObjectOf(await readGivenText(file, io))
  if (given === undefined) throw new CommandFailed(`${file} is not a JSON object with the legs`)
  const { legs = null, timeout_seconds: timeout } = given
  const { group_id: groupId } = group
  const agreed = termsOf({ group_id: groupId, legs, timeout_seconds: timeout ?? DEFAULT_TIMEOUT_SECONDS }, file)
  if (`sha256:${agreed.termsHash}` !== group.terms_hash) {
    throw new CommandFailed(`group ${groupId} has other terms than ${file}: nothing was signed`)
  }
  const shownLegs = group.legs as object as Json
  const shown = termsOf(
    { group_id: groupId, legs: shownLegs, timeout_seconds: agreed.timeoutSeconds },
    `group ${groupId}`,
  )
  if (meaningOf(shown) !== meaningOf(agreed)) {
    throw new CommandFailed(`the ledger shows other legs of group ${groupId} than ${file}: nothing was signed`)
  }
}

function termsOf(fields: JsonObject, name: string): Terms {
  const read = readTerms(fields)
  if (read.ok) return read.value
  const [problem] = read.error
  throw new CommandFailed(`${name} has no valid terms: ${problem?.field ?? 'legs'} ${problem?.message ?? 'is wrong'}`)
}

/** Equal for legs that differ only in members that mean nothing, such as `boundary: false`. */
function meaningOf({ legs }: Terms): string {
  return canonicalJson(legs as object as Json)
}
