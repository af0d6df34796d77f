import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where servers are that an ordinary user's PATH may leave out. */
const USUAL_PLACES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** The path of a program, from the PATH or the usual places; undefined when there is none. */
export function findProgram(name: string): string | undefined {
  const places = [...(process.env['PATH'] ?? '').split(':').filter((place) => place.startsWith('/')), ...USUAL_PLACES]
  return places.map((place) => join(place, name)).find(isProgram)
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
