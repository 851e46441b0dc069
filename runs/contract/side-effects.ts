import { posix } from 'node:path';
import type { CommitPolicy } from '../../contracts/common';
import type { SandboxPreset } from '../../contracts/sandbox';
import type { AllowedSideEffect, ProviderRuntimeManifest } from '../../contracts/run-contract';

/** What a run may do when nobody says otherwise. */
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
  /** What the task allows; `null` when it does not say. */
  allowed: readonly AllowedSideEffect[] | null;
  commitPolicy: CommitPolicy;
  sandbox: SandboxPreset | null;
  runtime: ProviderRuntimeManifest;
  /** Absolute; `null` for a run without a worktree. */
  worktreePath: string | null;
}

/**
 * What a run may do: what its task allows, intersected with what the sandbox and the runtime let through. Path scopes
 * that are wider than the worktree are clamped to it; those that lie elsewhere allow nothing (specification 2, Launch
 * rule 12).
 */
export function effectiveSideEffects(posture: Posture): AllowedSideEffect[] {
  const wanted = posture.allowed ?? everything;
  const effects = wanted.flatMap((effect) => through(effect, posture));
  const known = new Map(effects.map((effect) => [`${effect.kind}\n${effect.scope}`, effect]));
  return [...known.values()];
}

function through(effect: AllowedSideEffect, posture: Posture): AllowedSideEffect[] {
  const { sandbox, runtime, commitPolicy, worktreePath } = posture;
  switch (effect.kind) {
    case 'filesystem-write': {
      if (!mayWrite(runtime, worktreePath)) return [];
      const scope = clampToWorktree(effect.scope, worktreePath);
      if (scope === undefined) return [];
      return narrowed(scope, sandbox?.filesystem.writePaths ?? [], worktreePath).map((path) => ({
        kind: effect.kind,
        scope: path,
      }));
    }
    case 'git-commit':
      return commitPolicy === 'forbidden' ? [] : [effect];
    case 'network-egress': {
      if (sandbox?.network.defaultEgress !== 'deny') return [effect];
      const { allowedHosts } = sandbox.network;
      if (effect.scope === '*') return allowedHosts.map((scope) => ({ kind: effect.kind, scope }));
      return allowedHosts.includes(effect.scope) ? [effect] : [];
    }
    default:
      return [effect];
  }
}

/** A scope of the task within the paths a sandbox lets write; all of it when the sandbox names none. */
function narrowed(scope: string, writePaths: readonly string[], worktreePath: string | null): string[] {
  if (writePaths.length === 0) return [scope];
  return writePaths.flatMap((path) => {
    const allowed = clampToWorktree(path, worktreePath);
    if (allowed === undefined) return [];
    if (isWithin(allowed, scope)) return [allowed];
    return isWithin(scope, allowed) ? [scope] : [];
  });
}

/** An agent elsewhere writes with tools that no manifest knows of; in a worktree, what it wrote is looked at. */
const mayWrite = (runtime: ProviderRuntimeManifest, worktreePath: string | null): boolean =>
  stateOf(runtime, 'filesystem.write') !== 'unsupported' ||
  (runtime.provider === 'remote-callback' && worktreePath !== null);

const stateOf = (runtime: ProviderRuntimeManifest, id: string) =>
  runtime.capabilities.find((capability) => capability.id === id)?.state;

/** Names people write for the whole worktree. */
const wholeWorktree = new Set(['*', '**', '.', './', '/', 'workspace', 'worktree']);

/**
 * A path scope as a path relative to the worktree, `.` for all of it; `undefined` when no part of it lies inside.
 * A trailing wildcard means the directory before it.
 */
export function clampToWorktree(scope: string, worktreePath: string | null): string | undefined {
  const plain = scope.trim().replace(/(?:\/\*{1,2})+$/, '') || '/';
  if (wholeWorktree.has(plain)) return '.';
  if (!posix.isAbsolute(plain)) {
    const path = posix.normalize(plain).replace(/\/$/, '');
    return path === '..' || path.startsWith('../') ? undefined : path;
  }
  if (worktreePath === null) return undefined;
  const inside = posix.relative(worktreePath, posix.normalize(plain));
  if (inside === '' || isAbove(inside)) return '.';
  return inside.startsWith('../') ? undefined : inside;
}

/** `..`, `../..` and so on: a directory that holds the worktree. */
const isAbove = (relative: string): boolean => relative.split('/').every((part) => part === '..');

/** Whether a path of the worktree is the scope or lies in it. */
export const isWithin = (path: string, scope: string): boolean =>
  scope === '.' || path === scope || path.startsWith(`${scope}/`);
