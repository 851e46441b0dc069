import type { CompletionResult, HarnessEvidence, SideEffect } from '../../contracts/completion';
import type { AllowedSideEffect, RecordedTaskEnvelope } from '../../contracts/run-contract';
import { isWithin } from '../contract/side-effects';
import type { CheckedClaims } from './evidence';

/** The most unauthorized paths that are named one by one. */
const namedPaths = 50;

/**
 * What the run did, classified, and whether its envelope allows it. The envelope's scopes are clamped to the worktree
 * and intersected with sandbox and runtime already.
 */
export function sideEffectsOf(
  envelope: RecordedTaskEnvelope | undefined,
  harness: HarnessEvidence,
  { artifacts }: Pick<CheckedClaims, 'artifacts'>,
): SideEffect[] {
  const allows = policyOf(envelope);
  return [...writes(harness, allows), ...commits(harness, allows), ...artifactEffects(artifacts, allows)];
}

type Allows = (kind: AllowedSideEffect['kind'], path?: string) => boolean;

function policyOf(envelope: RecordedTaskEnvelope | undefined): Allows {
  // Envelopes of early releases listed what the task said and bound nothing but the commit.
  if (!envelope?.policy) return (kind) => kind !== 'git-commit' || envelope?.commitPolicy !== 'forbidden';
  const { allowedSideEffects } = envelope;
  return (kind, path) =>
    allowedSideEffects.some((effect) => effect.kind === kind && (path === undefined || isWithin(path, effect.scope)));
}

function writes({ changedFiles = [] }: HarnessEvidence, allows: Allows): SideEffect[] {
  const paths = changedFiles.flatMap(({ path, previousPath }) => (previousPath ? [previousPath, path] : [path]));
  const outside = paths.filter((path) => !allows('filesystem-write', path));
  const inside = paths.length - outside.length;
  const kind = 'filesystem-write' as const;
  return [
    ...(inside > 0 ? [{ kind, description: `${inside} files changed`, authorized: true, verified: true }] : []),
    ...outside.slice(0, namedPaths).map((target) => ({
      kind,
      description: 'a file was changed that the policy does not allow to be written',
      target,
      authorized: false,
      verified: true,
    })),
  ];
}

function commits({ commits = [] }: HarnessEvidence, allows: Allows): SideEffect[] {
  if (commits.length === 0) return [];
  const description = `${commits.length} commits`;
  return [{ kind: 'git-commit', description, authorized: allows('git-commit'), verified: true }];
}

const artifactEffects = (artifacts: NonNullable<CompletionResult['artifacts']>, allows: Allows): SideEffect[] =>
  artifacts.map(({ kind: artifactKind, name, reference, verified }) => {
    const kind = artifactKind === 'url' ? ('external-write' as const) : ('artifact-write' as const);
    return { kind, description: `artifact ${name}`, target: reference, authorized: allows(kind), verified };
  });
