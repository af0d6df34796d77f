/**
 * How commands name the lines of files: `line 5 (counted from 0)`, as the lines of an export number themselves and the
 * interface does. Whoever opens the file in an editor finds it one further.
 */

export function lineName(line: number): string {
  return `line ${line} (counted from 0)`
}

/** Names lines so in a message that was made elsewhere. `from`: the line that stands at `records[0]`. */
export function inLineNames(message: string, from = 0): string {
  const places = message
    .replaceAll(/\brecords\[(\d+)\]/g, (_, index: string) => `line ${from + Number(index)}`)
    .replaceAll(/\blines\[(\d+)\]/g, (_, line: string) => `line ${line}`)
  return (
    places
      .replaceAll(/\bline (\d+)\.(?=\w)/g, 'line $1, ')
      .replaceAll(/\bline (\d+)(?! \(counted)/g, (_, line: string) => lineName(Number(line)))
      // The interface names the line in the place and once more in what is wrong there.
      .replaceAll(/(line \d+ \(counted from 0\))((?:, \S+)?): \1: /g, '$1$2: ')
  )
}
