/** The headers of pages and of the files that they load, against scripts and frames of others. The frame adds `nosniff`. */

const NOTHING_ALLOWED = {
  'default-src': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
} as const

const ISOLATION = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

/**
 * `allowed`: sources by directive of the Content-Security-Policy. Nothing else may be loaded, run, framed or submitted. A page
 * is asked for each time, because the files that it names are those of one release.
 */
export function pageHeaders(allowed: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const policy = Object.entries({ ...NOTHING_ALLOWED, ...allowed }).map((directive) => directive.join(' '))
  return { ...ISOLATION, 'cache-control': 'no-cache', 'content-security-policy': policy.join('; ') }
}

/** For files that are no pages, when a browser shows one as if it were. */
export const RESOURCE_HEADERS = pageHeaders({})
