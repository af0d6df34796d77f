/** The first migration. Each part stands alone: none refers to a table of another. */
import { ACCESS } from './access.ts'
import { ACCOUNTS } from './accounts.ts'
import { ACTORS } from './actors.ts'
import { ASSERTIONS } from './assertions.ts'
import { AUDIT } from './audit.ts'
import { FOUNDATION } from './foundation.ts'
import { PORTABILITY } from './portability.ts'
import { TRANSACTIONS } from './transactions.ts'

export const BASELINE = [FOUNDATION, ACCOUNTS, TRANSACTIONS, ACTORS, ACCESS, AUDIT, ASSERTIONS, PORTABILITY].join('')
