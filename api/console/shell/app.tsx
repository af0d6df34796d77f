import { useEffect, useRef, useState } from 'preact/hooks'
import { Navigation } from './navigation.tsx'
import type { Place } from '../session/place.ts'
import { pageAt } from './routes.tsx'
import { type Session, SessionContext } from '../session/session.ts'
import { SignIn } from './sign-in.tsx'
import { usePlace } from '../session/use-place.ts'

export function App() {
  const [session, setSession] = useState<Session>()
  const place = usePlace()
  useEffect(() => {
    if (session === undefined) document.title = 'Sign in - Ledger console'
  }, [session])
  if (session === undefined) return <SignIn onSession={setSession} />
  return (
    <SessionContext.Provider value={session}>
      <Shell place={place} onSignOut={() => setSession(undefined)} />
    </SessionContext.Provider>
  )
}

function Shell({ place, onSignOut }: { readonly place: Place; readonly onSignOut: () => void }) {
  const main = useRef<HTMLElement>(null)
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The address behind # is the place.
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to the content
      </a>
      <Navigation place={place} onSignOut={onSignOut} />
      <main ref={main} id="main" tabIndex={-1}>
        {/* Another place is another page, with a state of its own. */}
        <div key={place.path.join('/')}>{pageAt(place)}</div>
      </main>
    </div>
  )
}
