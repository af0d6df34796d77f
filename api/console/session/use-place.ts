import { useEffect, useState } from 'preact/hooks'
import { parsePlace, type Place } from './place.ts'

/** The present place. */
export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = (): void => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return parsePlace(hash)
}

/** Goes to a link of `hrefOf`. */
export function goTo(href: string): void {
  location.hash = href
}
