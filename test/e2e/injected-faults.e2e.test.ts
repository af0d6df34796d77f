/** One fault of each kind that clients or logs can distinguish. The others: injected-faults.full.test.ts. */
import { INJECTED_FAULTS } from '../support/processes/injected-faults.ts'
import { injectedFaultsSuite, kindsOf } from './suites/injected-faults.suite.ts'

injectedFaultsSuite(kindsOf(INJECTED_FAULTS).first)
