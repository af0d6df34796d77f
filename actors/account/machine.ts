/**
 * The machine alone knows an account's status: it decides which commands each state takes and where they lead. The
 * arithmetic is in postings.ts and its neighbors; actor.ts has the refusals of commands that a state does not take.
 */
import { arrivalAnswer } from '../arrival.ts'
import { type StepContext, type Change, IGNORED, JUDGED, type MachineDefinition } from '../define-actor.ts'
import { invariant } from '../result.ts'
import { refuseAbsentCompensation, refuseAbsentLeg, refuseAbsentNft, refuseAbsentTransfer } from './absent.ts'
import {
  arrivalHoldOf,
  arrivesClosed,
  arrivesFrozen,
  dropArrival,
  hasArrived,
  holdArrival,
  noteUsedKeys,
  openArriving,
  takeArrival,
} from './arrival.ts'
import {
  type AccountCommand,
  type AccountCommandOf,
  type ChangeStatusCommand,
  type CreateHoldCommand,
  type DepartCommand,
  keyUseOf,
  type MintCommand,
  type RegisterCommand,
  type SubmitCommand,
} from './commands.ts'
import { compensate, refuseClosedCompensation, refuseErasedCompensation } from './returns/compensation.ts'
import { departed, departToken, departWhole } from './departure.ts'
import { dryRun } from './dry-run.ts'
import type { Evidence } from './evidence.ts'
import {
  creditIssue,
  lacksConsent,
  openClassIssuer,
  openIssuer,
  prepareClass,
  prepareIssue,
  refuseClosedIssuer,
  refuseConsent,
} from './issue.ts'
import { creditLeg, decline, expectLeg, refuseClosedLeg, revertLeg, settleLeg } from './legs.ts'
import { beginMint, concludeMint, mintUnderWay } from './mint.ts'
import { nftHeld, nftReleased, receiveNft, refuseClosedNft } from './nfts.ts'
import { type Answer, FIRST, viewAs } from './outcome.ts'
import { concludeRelease, releaseHold } from './payment-holds/capture.ts'
import { concludeOpening, createHold, freeHold, payCapture } from './payment-holds/creation.ts'
import { pause, refusePaused, resume, showActor } from './pause.ts'
import { conclude, receiveTransfer, refuseClosedTransfer } from './pending.ts'
import { accepted, changeStatus, claim, close, erase, fail, keepStatus, open, post, rotateKey } from './postings.ts'
import { type KeyedCommand, replayOf } from './replay.ts'
import { type AccountData, type AccountStatus, holdsNothing, isUnclaimed } from './state.ts'
import { type AccountChange, Turn } from './turn.ts'

type Context = StepContext<AccountStatus, Evidence>
type Arrival = AccountCommandOf<'take_arrival' | 'drop_arrival' | 'note_used_keys'>

const GUARDS = {
  isReplay: (_account: AccountData, _command: AccountCommand, { evidence }: Context) => evidence.earlier !== undefined,
  isPaused: ({ paused }: AccountData) => paused === true,
  isCredit: (_account: AccountData, { submission: { type } }: SubmitCommand) => type === 'credit',
  isMinting: (account: AccountData, { idempotencyKey }: MintCommand) =>
    mintUnderWay(account, idempotencyKey) !== undefined,
  isOpening: ({ holds }: AccountData, { idempotencyKey }: CreateHoldCommand) =>
    holds.openingOf(idempotencyKey) !== undefined,
  mayClaim,
  hasThisKey: (account: AccountData, { key }: RegisterCommand) => account.key?.keyId === key.keyId,
  freezes: (_account: AccountData, { status }: ChangeStatusCommand) => status === 'frozen',
  activates: (_account: AccountData, { status }: ChangeStatusCommand) => status === 'active',
  closesEmpty: (account: AccountData, { status }: ChangeStatusCommand) => status === 'closed' && holdsNothing(account),
  keepsStatus,
  changesNothing: (account: AccountData, command: ChangeStatusCommand, context: Context) =>
    keepsStatus(account, command, context) &&
    account.incoming === (command.incoming ?? account.incoming) &&
    keyUseOf(command) === undefined,
  hasArrived: (account: AccountData, { importId }: Arrival) => hasArrived(account, importId),
  arrivesFrozen,
  arrivesClosed,
  departsWhole: (_account: AccountData, { tokenId }: DepartCommand) => tokenId === null,
  hasDepartedThere: ({ moved }: AccountData, { audience }: DepartCommand) => moved?.audience === audience,
  lacksConsent: (account: AccountData, command: Prepare, { evidence }: Context) =>
    lacksConsent(account, command, evidence.verdict),
}

type Prepare = AccountCommandOf<'prepare_issue' | 'prepare_class'>
type Compensate = AccountCommandOf<'compensate'>
type Conclusion = AccountCommandOf<'conclude_transfer' | 'conclude_exchange' | 'conclude_supply'>

function answering<Command extends AccountCommand>(
  answer: (account: AccountData, command: Command, context: Context) => Answer | 'deferred',
) {
  return (data: AccountData, command: Command, context: Context): Change<AccountData> => ({
    data,
    answer: answer(data, command, context),
  })
}

/** Writes the account once, with all changes of the turn. */
function inTurn<Command extends AccountCommand>(run: (turn: Turn, command: Command, context: Context) => void) {
  return (account: AccountData, command: Command, context: Context): AccountChange => {
    const turn = new Turn(account, command)
    run(turn, command, context)
    return turn.done()
  }
}

function accepting(run: (turn: Turn, command: SubmitCommand, context: Context) => void) {
  const change = inTurn(run)
  return (account: AccountData, command: SubmitCommand, context: Context) =>
    accepted(change(account, command, context), command)
}

const ACTIONS = {
  replay: answering((_account, command: KeyedCommand, { evidence: { earlier } }) => {
    invariant(earlier !== undefined, 'a new command is replayed')
    return replayOf(earlier, command)
  }),
  defer: answering(() => 'deferred'),
  showStatus: answering((account, _command, { status }) => ({
    kind: 'status_changed',
    account: viewAs(account, status),
  })),
  showRegistered: answering(showRegistered),
  showDeparted: answering((account, _command, { status }) => departed(account, status)),
  answerArrival: answering((_account, command: Arrival) => arrivalAnswer(command)),
  claim,
  post: accepting((turn, command, { evidence }) => post(turn, command, evidence)),
  failFrozen: accepting((turn, command) => fail(turn, command, 'account_frozen')),
  failClosed: accepting((turn, command) => fail(turn, command, 'account_closed')),
  dryRun: answering(dryRun(post)),
  dryRunFrozen: answering(dryRun((turn, command) => fail(turn, command, 'account_frozen'))),
  dryRunClosed: answering(dryRun((turn, command) => fail(turn, command, 'account_closed'))),
  pause,
  resume,
  refusePaused,
  showActor,
  mint: beginMint,
  createHold,
  releaseHold,
  decline,
  rotateKey,
  changeStatus,
  keepStatus,
  close,
  erase,
  holdArrival,
  noteUsedKeys,
  takeArrival,
  dropArrival,
  departToken,
  departWhole,
  prepareIssue,
  prepareClass,
  refuseConsent,
  refuseClosedIssuer: inTurn(refuseClosedIssuer),
  creditIssue: inTurn(creditIssue),
  receiveTransfer: inTurn((turn, command: AccountCommandOf<'receive_transfer'>, { evidence }) =>
    receiveTransfer(turn, command, evidence),
  ),
  refuseClosedTransfer: inTurn(refuseClosedTransfer),
  conclude: inTurn((turn, command: Conclusion, { evidence }) => conclude(turn, command, evidence)),
  concludeMint: inTurn(concludeMint),
  concludeOpening: inTurn(concludeOpening),
  concludeRelease: inTurn(concludeRelease),
  payCapture: inTurn(payCapture),
  freeHold: inTurn(freeHold),
  receiveNft: inTurn(receiveNft),
  refuseClosedNft: inTurn(refuseClosedNft),
  nftHeld: inTurn(nftHeld),
  nftReleased: inTurn(nftReleased),
  expectLeg: inTurn(expectLeg),
  refuseClosedLeg: inTurn(refuseClosedLeg),
  creditLeg: inTurn(creditLeg),
  settleLeg: inTurn(settleLeg),
  revertLeg: inTurn(revertLeg),
  compensate: inTurn((turn, command: Compensate, { evidence }) => compensate(turn, command, evidence.transaction)),
  refuseClosedCompensation: inTurn((turn, command: Compensate, { evidence }) =>
    refuseClosedCompensation(turn, command, evidence.transaction),
  ),
  refuseErasedCompensation: inTurn(refuseErasedCompensation),
}

const CREATIONS = {
  open,
  openIssuer,
  openClassIssuer,
  openArriving,
  answerAbsent: (command: Arrival) => ({ data: null, answer: arrivalAnswer(command) }),
  refuseAbsentTransfer,
  refuseAbsentNft,
  refuseAbsentLeg,
  refuseAbsentCompensation,
}

const REPLAYED = { guard: 'isReplay', actions: 'replay' } as const
const SHOWN = { actions: 'showActor' } as const
const PAUSED = { guard: 'isPaused', actions: 'refusePaused' } as const
const MINTING = { guard: 'isMinting', actions: 'defer' } as const
const OPENING = { guard: 'isOpening', actions: 'defer' } as const
const ARRIVED = { guard: 'hasArrived', actions: 'answerArrival' } as const
const WITHOUT_CONSENT = { guard: 'lacksConsent', actions: 'refuseConsent' } as const

/** Commands of an open account, frozen or not. */
const OPEN = {
  register: [REPLAYED, { guard: 'mayClaim', actions: 'claim' }, { guard: 'hasThisKey', actions: 'showRegistered' }],
  decline_legs: [JUDGED, { actions: 'decline' }],
  release_hold: [JUDGED, { actions: 'releaseHold' }],
  show_actor: SHOWN,
  pause: [{ guard: 'isPaused', ...SHOWN }, { actions: 'pause' }],
  resume: [{ guard: 'isPaused', actions: 'resume' }, SHOWN],
  hold_arrival: [JUDGED, { actions: 'holdArrival' }],
  note_used_keys: [JUDGED, { actions: 'noteUsedKeys' }],
  take_arrival: [
    JUDGED,
    { guard: 'arrivesFrozen', target: 'frozen', actions: 'takeArrival' },
    { guard: 'arrivesClosed', target: 'closed', actions: 'takeArrival' },
    { actions: 'takeArrival' },
  ],
  drop_arrival: [JUDGED, { actions: 'dropArrival' }],
  change_status: [
    REPLAYED,
    { guard: 'changesNothing', actions: 'showStatus' },
    { guard: 'keepsStatus', actions: 'keepStatus' },
    { guard: 'freezes', target: 'frozen', actions: 'changeStatus' },
    { guard: 'activates', target: 'active', actions: 'changeStatus' },
    { guard: 'closesEmpty', target: 'closed', actions: 'close' },
  ],
  prepare_issue: [WITHOUT_CONSENT, { actions: 'prepareIssue' }],
  prepare_class: [WITHOUT_CONSENT, { actions: 'prepareClass' }],
  receive_transfer: { actions: 'receiveTransfer' },
  receive_nft: { actions: 'receiveNft' },
  expect_leg: { actions: 'expectLeg' },
  compensate: { actions: 'compensate' },
  // Messages that end a hold. A binding hold keeps the account from closing.
  conclude_transfer: { actions: 'conclude' },
  conclude_exchange: { actions: 'conclude' },
  conclude_supply: { actions: 'conclude' },
  conclude_mint: { actions: 'concludeMint' },
  hold_opened: { actions: 'concludeOpening' },
  pay_capture: { actions: 'payCapture' },
  free_hold: { actions: 'freeHold' },
  hold_ended: { actions: 'concludeRelease' },
  nft_held: { actions: 'nftHeld' },
  nft_released: { actions: 'nftReleased' },
  credit_issue: { actions: 'creditIssue' },
  credit_leg: { actions: 'creditLeg' },
  settle_leg: { actions: 'settleLeg' },
  revert_leg: { actions: 'revertLeg' },
} as const

/** Messages to a closed account. */
const ENDED = {
  prepare_issue: { actions: 'refuseClosedIssuer' },
  prepare_class: { actions: 'refuseClosedIssuer' },
  receive_transfer: { actions: 'refuseClosedTransfer' },
  receive_nft: { actions: 'refuseClosedNft' },
  expect_leg: { actions: 'refuseClosedLeg' },
} as const

export const accountMachine = {
  guards: GUARDS,
  actions: ACTIONS,
  creations: CREATIONS,
  states: {
    absent: {
      on: {
        register: { target: 'active', actions: 'open' },
        prepare_issue: { target: 'active', actions: 'openIssuer' },
        prepare_class: { target: 'active', actions: 'openClassIssuer' },
        hold_arrival: [JUDGED, { target: 'active', actions: 'openArriving' }],
        drop_arrival: { actions: 'answerAbsent' },
        receive_transfer: { actions: 'refuseAbsentTransfer' },
        receive_nft: { actions: 'refuseAbsentNft' },
        expect_leg: { actions: 'refuseAbsentLeg' },
        compensate: { actions: 'refuseAbsentCompensation' },
      },
    },
    active: {
      on: {
        ...OPEN,
        submit: [REPLAYED, JUDGED, { guard: 'isCredit', actions: 'post' }, PAUSED, { actions: 'post' }],
        dry_run: [JUDGED, { guard: 'isCredit', actions: 'dryRun' }, PAUSED, { actions: 'dryRun' }],
        mint: [REPLAYED, MINTING, JUDGED, PAUSED, { actions: 'mint' }],
        create_hold: [REPLAYED, OPENING, JUDGED, PAUSED, { actions: 'createHold' }],
        rotate_key: [REPLAYED, JUDGED, { actions: 'rotateKey' }],
      },
    },
    frozen: {
      on: {
        ...OPEN,
        submit: [REPLAYED, JUDGED, { guard: 'isCredit', actions: 'post' }, { actions: 'failFrozen' }],
        dry_run: [JUDGED, { guard: 'isCredit', actions: 'dryRun' }, { actions: 'dryRunFrozen' }],
        mint: [REPLAYED, MINTING, JUDGED],
        create_hold: [REPLAYED, OPENING, JUDGED],
        rotate_key: [REPLAYED, JUDGED],
        depart: [
          JUDGED,
          { guard: 'departsWhole', target: 'closed', actions: 'departWhole' },
          { actions: 'departToken' },
        ],
      },
    },
    closed: {
      on: {
        ...ENDED,
        register: [REPLAYED, { guard: 'hasThisKey', actions: 'showRegistered' }],
        submit: [REPLAYED, JUDGED, { actions: 'failClosed' }],
        dry_run: [JUDGED, { actions: 'dryRunClosed' }],
        mint: [REPLAYED, JUDGED],
        create_hold: [REPLAYED, JUDGED],
        rotate_key: [REPLAYED, JUDGED],
        change_status: REPLAYED,
        hold_arrival: JUDGED,
        take_arrival: ARRIVED,
        note_used_keys: ARRIVED,
        drop_arrival: { actions: 'answerArrival' },
        depart: { guard: 'hasDepartedThere', actions: 'showDeparted' },
        show_actor: SHOWN,
        erase: [JUDGED, { target: 'erased', actions: 'erase' }],
        // The reply to a release that the account signed before it closed.
        hold_ended: { actions: 'concludeRelease' },
        // The groups of legs that the account declined on closing end them.
        credit_leg: { actions: 'creditLeg' },
        revert_leg: { actions: 'revertLeg' },
        compensate: { actions: 'refuseClosedCompensation' },
      },
    },
    erased: {
      on: {
        ...ENDED,
        show_actor: SHOWN,
        hold_ended: IGNORED,
        erase: { actions: 'showStatus' },
        // An erased account no longer knows where it came from.
        take_arrival: { actions: 'answerArrival' },
        drop_arrival: { actions: 'answerArrival' },
        note_used_keys: { actions: 'answerArrival' },
        compensate: { actions: 'refuseErasedCompensation' },
      },
    },
  },
} as const satisfies MachineDefinition<AccountData, AccountStatus, AccountCommand, Evidence>

/** A client that could name an issuer could take its assets; a staged account brings its own key. */
function mayClaim(account: AccountData, { caller: { clientId, role } }: RegisterCommand): boolean {
  if (account.key !== null || arrivalHoldOf(account) !== undefined) return false
  return account.registeredBy === clientId || role === 'admin' || isUnclaimed(account)
}

function keepsStatus(_account: AccountData, command: ChangeStatusCommand, { status }: Context): boolean {
  return command.status === null || command.status === status
}

function showRegistered(account: AccountData, command: RegisterCommand, { status }: Context): Answer {
  const sameClient = account.registeredBy === command.caller.clientId
  // The same command, stepped again because its commit outcome was unknown.
  const created = sameClient && account.version === 1 && account.createdAtMs === command.atMs
  return { kind: 'registered', account: viewAs(account, status), created, ...FIRST }
}
