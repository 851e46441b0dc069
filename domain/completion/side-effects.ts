import type { Phase } from '../../contracts/common';
import type { CompletionResult, HarnessEvidence, SideEffect } from '../../contracts/runs/completion';
import type { AllowedSideEffect, RecordedTaskEnvelope } from '../../contracts/runs/launch/contract';
import { isDenied, isWithin } from '../contract/path-scope';
import type { CheckedClaims } from './evidence';
import type { HeldAuthority, Judgement } from './retained-work';

/** The most unauthorized paths that are named one by one. */
const namedPaths = 50;

/** What a run did without permission: by which rule, with its message. */
export type Violation = 'phase-violated' | 'sandbox-violated' | 'side-effect-unauthorized' | 'commit-policy-violated';
export type JudgedEffect = SideEffect & { violation?: Violation };

/** What the harness saw between two changes of phase, and everything the run was allowed meanwhile. */
interface Span {
  seen: Pick<HarnessEvidence, 'changedFiles' | 'commits'>;
  held: HeldAuthority[];
}

/**
 * What the run did, classified, and whether it was allowed to: by its task, by the phase it was in at the time, and by its
 * sandbox preset. Where nothing shows when something was done, everything that the run was allowed at some time counts.
 */
export function sideEffectsOf(
  envelope: RecordedTaskEnvelope | undefined,
  harness: HarnessEvidence,
  { checked: { artifacts }, judgement }: { checked: Pick<CheckedClaims, 'artifacts'>; judgement?: Judgement },
): JudgedEffect[] {
  const held = judgement?.held ?? [recordedAuthority(envelope)];
  const denied = judgement?.deniedPaths ?? [];
  const worktreePath = envelope?.workspace?.path ?? null;
  const spans = spansOf(harness, held);
  const isForbidden = (path: string) => isDenied(path, denied, worktreePath);
  return [...writes(harness, spans, isForbidden), ...commits(harness, spans), ...artifactEffects(artifacts, held)];
}

/**
 * Whether a change of a file may be a violation: its path is denied, or something that the run held at some time does not allow it
 * to be written. These are listed before others where not all are.
 */
export function mayViolate(
  envelope: RecordedTaskEnvelope | undefined,
  judgement: Judgement | undefined,
): (path: string) => boolean {
  const held = judgement?.held ?? [recordedAuthority(envelope)];
  const denied = judgement?.deniedPaths ?? [];
  const worktreePath = envelope?.workspace?.path ?? null;
  return (path) =>
    isDenied(path, denied, worktreePath) || held.some(({ allowed }) => !allows(allowed, 'filesystem-write', path));
}

/** What an envelope itself allows, of a run whose phase was not recorded. */
function recordedAuthority(envelope: RecordedTaskEnvelope | undefined): HeldAuthority {
  const phase: Phase = envelope?.phase ?? 'implement';
  // Envelopes of early releases listed what the task stated and bound only the commit.
  if (envelope?.policy) {
    return { sequence: 0, phase, allowed: envelope.allowedSideEffects, byPhase: null };
  }
  const bound = envelope?.commitPolicy === 'forbidden';
  return { sequence: 0, phase, allowed: bound ? everythingBut('git-commit') : everythingBut(), byPhase: null };
}

const kinds: AllowedSideEffect['kind'][] = [
  ...(['filesystem-write', 'process-execute', 'network-egress', 'git-commit'] as const),
  ...(['external-write', 'artifact-write', 'task-mutate'] as const),
];

const everythingBut = (left?: AllowedSideEffect['kind']): AllowedSideEffect[] =>
  kinds.filter((kind) => kind !== left).map((kind) => ({ kind, scope: kind === 'filesystem-write' ? '.' : '*' }));

/** Each part of the run that was seen on its own, with what was held in it. */
function spansOf(harness: HarnessEvidence, held: HeldAuthority[]): Span[] {
  const observed = harness.phaseSpans ?? [];
  if (observed.length === 0) {
    return [{ seen: harness, held }];
  }
  return observed.map(({ fromSequence, toSequence, ...seen }) => ({
    seen,
    held: held.filter(({ sequence }) => sequence >= fromSequence && sequence <= toSequence),
  }));
}

const allows = (effects: readonly AllowedSideEffect[], kind: AllowedSideEffect['kind'], path?: string): boolean =>
  effects.some((effect) => effect.kind === kind && (path === undefined || isWithin(path, effect.scope)));

/** The rule that forbids it; `undefined` when an authority that was held allows it. */
function violationOf(
  held: readonly HeldAuthority[],
  kind: AllowedSideEffect['kind'],
  path?: string,
): { violation: Violation; phase: Phase } | undefined {
  if (held.some(({ allowed }) => allows(allowed, kind, path))) {
    return undefined;
  }
  const last = held.at(-1);
  const phase = last?.phase ?? 'implement';
  const byPhase = last?.byPhase && !allows(last.byPhase, kind, path);
  if (byPhase) {
    return { violation: 'phase-violated', phase };
  }
  return { violation: kind === 'git-commit' ? 'commit-policy-violated' : 'side-effect-unauthorized', phase };
}

const pathsOf = ({ changedFiles = [] }: Pick<HarnessEvidence, 'changedFiles'>): string[] =>
  changedFiles.flatMap(({ path, previousPath }) => (previousPath ? [previousPath, path] : [path]));

function writes(harness: HarnessEvidence, spans: Span[], isForbidden: (path: string) => boolean): JudgedEffect[] {
  const kind = 'filesystem-write' as const;
  const outside = new Map<string, JudgedEffect>();
  const everyPath = new Set([harness, ...spans.map(({ seen }) => seen)].flatMap(pathsOf));
  const refuse = (target: string, violation: Violation, description: string): void => {
    if (!outside.has(target)) {
      outside.set(target, { kind, description, target, authorized: false, verified: true, violation });
    }
  };
  for (const path of everyPath) {
    if (isForbidden(path)) {
      refuse(path, 'sandbox-violated', 'a file was changed that the sandbox preset denies');
    }
  }
  for (const { seen, held } of spans) {
    for (const path of pathsOf(seen)) {
      const breach = violationOf(held, kind, path);
      if (!breach) {
        continue;
      }
      const rule = breach.violation === 'phase-violated' ? `phase ${breach.phase}` : 'policy';
      refuse(path, breach.violation, `a file was changed that the ${rule} does not allow to be written`);
    }
  }
  const inside = everyPath.size - outside.size;
  return [
    ...(inside > 0 ? [{ kind, description: `${inside} files changed`, authorized: true, verified: true }] : []),
    ...[...outside.values()].slice(0, namedPaths),
  ];
}

function commits({ commits: all = [] }: HarnessEvidence, spans: Span[]): JudgedEffect[] {
  const kind = 'git-commit' as const;
  const refused = spans.flatMap(({ seen, held }) => {
    const breach = (seen.commits ?? []).length > 0 ? violationOf(held, kind) : undefined;
    return breach ? [{ ...breach, count: seen.commits?.length ?? 0 }] : [];
  });
  const [first] = refused;
  const total = Math.max(
    all.length,
    refused.reduce((sum, { count }) => sum + count, 0),
  );
  if (total === 0) {
    return [];
  }
  if (!first) {
    return [{ kind, description: `${total} commits`, authorized: true, verified: true }];
  }
  const { violation, phase } = first;
  const description = violation === 'phase-violated' ? `${total} commits in the phase ${phase}` : `${total} commits`;
  return [{ kind, description, authorized: false, verified: true, violation }];
}

const artifactEffects = (
  artifacts: NonNullable<CompletionResult['artifacts']>,
  held: readonly HeldAuthority[],
): JudgedEffect[] =>
  artifacts.map(({ kind: artifactKind, name, reference, verified }) => {
    const kind = artifactKind === 'url' ? ('external-write' as const) : ('artifact-write' as const);
    const breach = violationOf(held, kind);
    const effect = { kind, description: `artifact ${name}`, target: reference, authorized: !breach, verified };
    return breach ? { ...effect, violation: breach.violation } : effect;
  });
