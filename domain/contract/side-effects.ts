import type { CommitPolicy } from '../../contracts/common';
import type { AllowedSideEffect, ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import type { Authority } from '../phases/authority';
import { clampToWorktree, overlap } from './path-scope';
import { effectWithin } from './phase-effects';

/** What a run may do by default. */
const everything: readonly AllowedSideEffect[] = [
  { kind: 'filesystem-write', scope: '.' },
  { kind: 'process-execute', scope: '*' },
  { kind: 'network-egress', scope: '*' },
  { kind: 'git-commit', scope: '*' },
  { kind: 'external-write', scope: '*' },
  { kind: 'artifact-write', scope: '*' },
  { kind: 'task-mutate', scope: '*' },
];

export interface Posture {
  /** What the task allows; `null` when it does not state it. */
  allowed: readonly AllowedSideEffect[] | null;
  commitPolicy: CommitPolicy;
  sandbox: SandboxPreset | null;
  runtime: ProviderRuntimeManifest;
  /** Absolute; `null` for a run without a worktree. */
  worktreePath: string | null;
  /** What the phase and its sources let the run do; absent where no phase was compiled. */
  authority?: Authority | undefined;
}

/**
 * What a run may do: what its task allows, intersected with its phase and with what sandbox and runtime let through. Path
 * scopes that are wider than the worktree are clamped to it; those that lie elsewhere allow nothing (specification 2, Launch
 * rule 12).
 */
export function effectiveSideEffects(posture: Posture): AllowedSideEffect[] {
  const requested = posture.allowed ?? everything;
  const { authority, worktreePath } = posture;
  const effects = requested
    .flatMap((effect) => through(effect, posture))
    .flatMap((effect) => (authority ? effectWithin(effect, authority, worktreePath) : [effect]));
  const byKey = new Map(effects.map((effect) => [`${effect.kind}\n${effect.scope}`, effect]));
  return [...byKey.values()];
}

function through(effect: AllowedSideEffect, posture: Posture): AllowedSideEffect[] {
  const { sandbox, runtime, commitPolicy, worktreePath } = posture;
  switch (effect.kind) {
    case 'filesystem-write': {
      if (!mayWrite(runtime, worktreePath)) {
        return [];
      }
      const scope = clampToWorktree(effect.scope, worktreePath);
      if (scope === undefined) {
        return [];
      }
      return narrowed(scope, sandbox?.filesystem.writePaths ?? [], worktreePath).map((path) => ({
        kind: effect.kind,
        scope: path,
      }));
    }
    case 'git-commit':
      return commitPolicy === 'forbidden' ? [] : [effect];
    case 'network-egress': {
      if (sandbox?.network.defaultEgress !== 'deny') {
        return [effect];
      }
      const { allowedHosts } = sandbox.network;
      if (effect.scope === '*') {
        return allowedHosts.map((scope) => ({ kind: effect.kind, scope }));
      }
      return allowedHosts.includes(effect.scope) ? [effect] : [];
    }
    default:
      return [effect];
  }
}

/** A scope of the task within the paths a sandbox lets write; all of it when the sandbox names none. */
const narrowed = (scope: string, writePaths: readonly string[], worktreePath: string | null): string[] =>
  writePaths.length === 0
    ? [scope]
    : overlap(
        writePaths.flatMap((path) => clampToWorktree(path, worktreePath) ?? []),
        scope,
      );

/** A remote agent writes with tools that no manifest lists; in a worktree, what it wrote is inspected. */
const mayWrite = (runtime: ProviderRuntimeManifest, worktreePath: string | null): boolean =>
  stateOf(runtime, 'filesystem.write') !== 'unsupported' ||
  (runtime.provider === 'remote-callback' && worktreePath !== null);

const stateOf = (runtime: ProviderRuntimeManifest, id: string) =>
  runtime.capabilities.find((capability) => capability.id === id)?.state;
