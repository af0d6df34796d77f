/** One fault of each kind that a client or a log can tell apart; injected-faults.full.test.ts has the others. */
import { INJECTED_FAULTS } from '../support/processes/injected-faults.ts'
import { injectedFaultsSuite, kindsOf } from './suites/injected-faults.suite.ts'

injectedFaultsSuite(kindsOf(INJECTED_FAULTS).first)
