/**
 * The page `/console` and the files that it loads, from the build.
 *   CP1. The page runs its own script alone, and its script makes no markup from text (Trusted Types).
 *   CP2. It connects to the ledger that serves it, and to no other place.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createKnownContent, type KnownContent } from '../http/known-content.ts'
import { pageHeaders } from '../http/page-headers.ts'
import { createStaticFiles, type StaticFiles } from '../http/static-files.ts'
import { html } from './page-markup.ts'

const ALLOWED = {
  'script-src': "'self'",
  'style-src': "'self'",
  'connect-src': "'self'",
  'img-src': 'data:',
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
}

export function createConsoleAssets(): StaticFiles {
  const names = ['console.js', 'console.css']
  return createStaticFiles('/console/assets', new Map(names.map((name) => [name, () => readFile(pathOf(name))])))
}

/** Rejects unless the console is built. */
export async function createConsolePage(assets: StaticFiles): Promise<KnownContent> {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Ledger console</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${await assets.urlOf('console.css')}" />
        <script type="module" src="${await assets.urlOf('console.js')}"></script>
      </head>
      <body>
        <div id="console"></div>
        <noscript
          ><p>
            The console needs JavaScript. The interface is described at <a href="/docs/plain">/docs/plain</a>.
          </p></noscript
        >
      </body>
    </html> `
  return createKnownContent('text/html; charset=utf-8', page.text, pageHeaders(ALLOWED))
}

/** This module runs from `dist/api/docs`, or from the sources. */
function pathOf(name: string): string {
  const built = join(import.meta.dirname, '..', '..', 'console', name)
  return existsSync(built) ? built : join(import.meta.dirname, '..', '..', 'dist', 'console', name)
}
