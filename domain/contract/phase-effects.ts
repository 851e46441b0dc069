import type { AllowedSideEffect } from '../../contracts/runs/launch/contract';
import { type Authority, everything, type Scoped } from '../phases/authority';
import { clampToWorktree, overlap } from './path-scope';

/**
 * A side effect as an authority limits it: the only function that maps the dimensions of a phase to effects, so that a contract
 * cannot allow what its phase does not. Artifacts that are reported and changes of tasks on the board are in no dimension. A
 * scope that needs an approval counts as allowed: it is requested when the agent needs it.
 *
 * @param worktreePath absolute; `null` for a run without a worktree
 */
export function effectWithin(
  effect: AllowedSideEffect,
  authority: Authority,
  worktreePath: string | null,
): AllowedSideEffect[] {
  switch (effect.kind) {
    case 'filesystem-write':
      return overlap(writablePaths(authority, worktreePath), effect.scope).map((scope) => ({
        kind: effect.kind,
        scope,
      }));
    case 'git-commit':
      // A commit is a write to the repository; the one file of a plan is none.
      return effectsIf(authority['filesystem.write'].scopes.length > 0, effect);
    case 'process-execute':
      return effectsIf(authority['command.execute'].scopes.length > 0, effect);
    case 'network-egress':
      return scopesOf(authority['network.egress'], effect);
    case 'external-write':
      return effectsIf(allowsAny(authority['external.action'], ['mutate']), effect);
    case 'artifact-write':
    case 'task-mutate':
      return [effect];
  }
}

const effectsIf = (allowed: boolean, effect: AllowedSideEffect): AllowedSideEffect[] => (allowed ? [effect] : []);

const allowsAny = ({ scopes }: Scoped, operations: readonly string[]): boolean =>
  scopes.includes(everything) || operations.some((scope) => scopes.includes(scope));

/** Paths of the worktree that may be written, `.` being all of it. A plan is one exact path, never everything. */
export function writablePaths(authority: Authority, worktreePath: string | null): string[] {
  const plans = authority['artifact.plan.write'].scopes.filter((scope) => scope !== everything);
  const scopes = [...authority['filesystem.write'].scopes, ...plans];
  const paths = scopes.flatMap((scope) => clampToWorktree(scope, worktreePath) ?? []);
  return paths.includes('.') ? ['.'] : [...new Set(paths)];
}

function scopesOf({ scopes }: Scoped, effect: AllowedSideEffect): AllowedSideEffect[] {
  if (scopes.includes(everything) || scopes.includes(effect.scope)) {
    return [effect];
  }
  return effect.scope === everything ? scopes.map((scope) => ({ kind: effect.kind, scope })) : [];
}
