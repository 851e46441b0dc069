import type { RunEventKind } from '../../contracts/runs/event';
import type { ProgressSignal } from '../../contracts/runs/watchdog';
import { compact } from '../../platform/json/compact';
import { digestOf } from '../../platform/json/digest';
import { budgetEventKey } from '../budgets/event-key';
import { editOf, fields, isFailure } from '../events/file-paths';

/** The part of a run event that the watchdog reads. */
export interface WatchedEvent {
  kind: RunEventKind;
  payload: Record<string, unknown>;
  sequence: number;
  receivedAt: string;
  turnId?: string | undefined;
  dedupeKey?: string | undefined;
}

/** What one event shows about the progress of a run. */
export interface Observation {
  sequence: number;
  /** Milliseconds since 1970. */
  at: number;
  turnId: string | null;
  /** The same for the same action; nothing for what is no action. */
  action?: string;
  /** The file whose edit failed, and the one whose edit worked. */
  failedEdit?: string;
  progress?: ProgressSignal;
  /** Whether the event counts as something the agent did. */
  counts: boolean;
  tokens: number;
  costUsd: number;
}

/** Prefix of the keys of events that the watchdog itself appends: it does not watch itself. */
export const watchdogKey = 'watchdog/';
/** Prefix of the keys of events of a person's decision on a finding. */
export const overrideKey = 'watchdog-override/';

/** The actor of the watchdog's commands: they are no operator input. */
export const watchdogActor = 'system:watchdog';

/** What differs between two calls that are otherwise the same. */
const volatile = new Set([
  'id',
  'itemId',
  'callId',
  'toolCallId',
  'requestId',
  'turnId',
  'sessionId',
  'timestamp',
  'startedAt',
  'completedAt',
  'receivedAt',
  'durationMs',
  'elapsedMs',
  'percent',
]);

const actions: ReadonlySet<RunEventKind> = new Set<RunEventKind>([
  'tool.completed',
  'command.completed',
  'message.assistant',
  'run.error',
]);

/** Events that mean that the agent acts, also when the action is unknown. */
const activity: ReadonlySet<RunEventKind> = new Set<RunEventKind>([...actions, 'progress', 'file.changed']);

const operatorInput: ReadonlySet<RunEventKind> = new Set<RunEventKind>([
  'message.operator',
  'conversation.steered',
  'conversation.resumed',
  'conversation.followed-up',
  'approval.resolved',
]);

const passed = new Set(['passed', 'success', 'succeeded']);
/** Reads one event. An agent's statements about itself are no progress; its effects are. */
export function observe(event: WatchedEvent): Observation {
  const { kind, payload, sequence, receivedAt, dedupeKey = '' } = event;
  const base = { sequence, at: Date.parse(receivedAt), turnId: event.turnId ?? null, tokens: 0, costUsd: 0 };
  if (dedupeKey.startsWith(overrideKey)) {
    return { ...base, counts: false, progress: 'operator-input' };
  }
  if (dedupeKey.startsWith(watchdogKey) || dedupeKey.startsWith(budgetEventKey)) {
    return { ...base, counts: false };
  }
  const failure = failedEditOf(kind, payload);
  const progress = failure === undefined ? progressOf(kind, payload) : undefined;
  return {
    ...base,
    ...usageOf(kind, payload),
    counts: activity.has(kind),
    ...(actions.has(kind) ? { action: signatureOf(kind, payload) } : {}),
    ...(failure === undefined ? {} : { failedEdit: failure }),
    ...compact({ progress }),
  };
}

function progressOf(kind: RunEventKind, payload: Record<string, unknown>): ProgressSignal | undefined {
  if (operatorInput.has(kind)) {
    return payload.delivered === false || payload.sentBy === watchdogActor ? undefined : 'operator-input';
  }
  if (kind === 'artifact.created') {
    return 'artifact';
  }
  if (kind === 'file.changed') {
    return isFailure(payload.status) ? undefined : 'workspace-delta';
  }
  if (kind === 'workspace.checkpoint.created') {
    return payload.changedPaths === 0 ? undefined : 'workspace-delta';
  }
  if (kind !== 'tool.completed' && kind !== 'command.completed') {
    return undefined;
  }
  const verification = fields(payload.verification);
  if (typeof verification.gateId === 'string' && passed.has(word(verification.status))) {
    return 'verification-passed';
  }
  const evidence = fields(payload.externalEvidence);
  return typeof evidence.reference === 'string' ? 'external-evidence' : undefined;
}

function usageOf(kind: RunEventKind, payload: Record<string, unknown>): { tokens: number; costUsd: number } {
  if (kind !== 'usage.updated') {
    return { tokens: 0, costUsd: 0 };
  }
  const { inputTokens, outputTokens, totalTokens, cost } = payload;
  const tokens = amount(totalTokens) > 0 ? amount(totalTokens) : amount(inputTokens) + amount(outputTokens);
  return { tokens, costUsd: amount(cost) };
}

/** An edit that worked is progress; one that did not is only ever counted. */
function failedEditOf(kind: RunEventKind, payload: Record<string, unknown>): string | undefined {
  const edit = editOf({ kind, payload });
  return edit?.worked === false ? edit.path : undefined;
}

const signatureOf = (kind: RunEventKind, payload: Record<string, unknown>): string =>
  digestOf({ kind, payload: stable(payload, 0) });

/** The payload without what differs from call to call; as deep as a payload may be. */
function stable(value: unknown, depth: number): unknown {
  if (depth > 12 || typeof value !== 'object' || value === null) {
    return value ?? null;
  }
  if (Array.isArray(value)) {
    return value.map((item) => stable(item, depth + 1));
  }
  const stableEntries = Object.entries(value).filter(([name, item]) => !volatile.has(name) && item !== undefined);
  return Object.fromEntries(stableEntries.map(([name, item]) => [name, stable(item, depth + 1)]));
}

const word = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '');
const amount = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
