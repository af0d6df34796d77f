/** Heads of logs that `ledger monitor` is given: signed notes, and the file in which a witness keeps pairs of heads. */
import type { OtherHead } from '../../log/monitor/other-heads.ts'
import { type CommandIo, UsageError } from '../common/command.ts'
import { jsonObjectOf, readGivenText } from '../common/given-file.ts'

export interface GivenHead extends OtherHead {
  /** Name of the log, as the file of a witness tells it; undefined for a note. */
  readonly origin: string | undefined
}

/** Throws UsageError and CommandFailed. */
export async function readGivenHeads(names: readonly string[], io: CommandIo): Promise<readonly GivenHead[]> {
  const heads = await Promise.all(names.map(async (name) => headsIn(await readGivenText(name, io), name)))
  return heads.flat()
}

/** The file of a witness has a JSON object a line, with the name of the log and two notes. A note is no JSON. */
function headsIn(text: string, name: string): readonly GivenHead[] {
  if (!text.startsWith('{')) return [{ name, note: text, origin: undefined }]
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    const { log: origin, notes } = jsonObjectOf(line) ?? {}
    if (typeof origin !== 'string' || !Array.isArray(notes)) {
      throw new UsageError(`${name}, line ${index + 1}: this is no pair of heads that a witness wrote`)
    }
    return notes.map((note, at) => ({ name: `${name}, line ${index + 1}, note ${at + 1}`, note: String(note), origin }))
  })
}
