/** No folder has more than thirty files. Folders of the product do not import each other in a circle. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const MOST_FILES = 30
/** Actors send each other's values: what an account replies names the states of all others. `actors` is one folder here. */
const ONE_FOLDER = /^(actors)\/.*/

function sourcesIn(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join(top, file)),
  )
}

const PRODUCT = sourcesIn('actors', 'runtime', 'api', 'infra')

function folderOf(file: string): string {
  return dirname(file).replace(ONE_FOLDER, '$1')
}

function importedFolders(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(/from '(\.{1,2}\/[^']+)'/g)].map(([, path = '']) =>
    folderOf(normalize(join(dirname(file), path))),
  )
}

/** Folders that import each other, directly or by way of others; the first circle that is found. */
function circleIn(imports: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const done = new Set<string>()
  const walk = (folder: string, path: readonly string[]): readonly string[] => {
    if (path.includes(folder)) return [...path.slice(path.indexOf(folder)), folder]
    if (done.has(folder)) return []
    for (const next of imports.get(folder) ?? []) {
      const circle = walk(next, [...path, folder])
      if (circle.length > 0) return circle
    }
    done.add(folder)
    return []
  }
  return [...imports.keys()].map((folder) => walk(folder, [])).find((circle) => circle.length > 0) ?? []
}

describe('folders', () => {
  test('have thirty files at most', () => {
    const sources = [...PRODUCT, ...sourcesIn('test')]
    const crowded = (most: number): readonly string[] => {
      const counts = new Map<string, number>()
      for (const file of sources) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
      return [...counts].filter(([, count]) => count > most).map(([folder]) => folder)
    }
    expect(crowded(MOST_FILES)).toEqual([])
    expect(crowded(2)).not.toEqual([])
  })

  test('of the product do not import each other in a circle', () => {
    const imports = new Map<string, Set<string>>()
    for (const file of PRODUCT) {
      const from = folderOf(file)
      const into = imports.get(from) ?? new Set()
      for (const folder of importedFolders(file)) if (folder !== from) into.add(folder)
      imports.set(from, into)
    }
    expect(circleIn(imports)).toEqual([])
    expect(circleIn(new Map([...imports, ['actors', new Set(['infra/main'])]]))).not.toEqual([])
  })
})
