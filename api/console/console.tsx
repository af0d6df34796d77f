import { render } from 'preact'
import { App } from './shell/app.tsx'
import { applyStoredTheme } from './shell/theme.tsx'

applyStoredTheme()
const root = document.querySelector('#console')
if (root !== null) render(<App />, root)
