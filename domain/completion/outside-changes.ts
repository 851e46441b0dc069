import type { HarnessEvidence } from '../../contracts/runs/completion';

/** One change outside the worktree of a run while it was active. */
export type OutsideChange = NonNullable<HarnessEvidence['outside']>[number];

/** What a repository was like around a worktree. */
export interface Around {
  primary: { path: string; headSha: string; branch: string | null; files: string } | null;
  refs: { name: string; sha: string }[] | null;
  settings?: { name: string; digest: string }[];
  worktrees: { path: string; headSha: string | null; branch: string | null }[];
}

/** What others may have changed with good reason: the worktrees and branches of other tasks, and what was merged into. */
export interface OwnedByOthers {
  branches: ReadonlySet<string>;
  paths: ReadonlySet<string>;
}

/** The most changes that are named. */
const maxNamed = 50;

/**
 * What changed outside the worktree of a run and no other manifest owns. That does not prove that the agent did it: a person at
 * work in the primary checkout causes the same changes.
 */
export function changedOutside(before: Around, after: Around, others: OwnedByOthers): OutsideChange[] {
  return [
    ...primaryChanges(before.primary, after.primary, others),
    ...refChanges(before.refs, after.refs, others),
    ...settingChanges(before.settings, after.settings),
    ...worktreeChanges(before.worktrees, after.worktrees, others),
  ].slice(0, maxNamed);
}

function primaryChanges(before: Around['primary'], after: Around['primary'], others: OwnedByOthers): OutsideChange[] {
  if (!before) {
    return [];
  }
  if (!after) {
    return [{ what: 'primary-checkout', target: before.path, before: before.headSha, after: null }];
  }
  // A merge moves the branch that is checked out there, and with it how its files differ from HEAD.
  if (after.branch === before.branch && after.branch !== null && others.branches.has(after.branch)) {
    return [];
  }
  const head = (at: NonNullable<Around['primary']>) => `${at.branch ?? 'detached'} ${at.headSha}`;
  const changes: OutsideChange[] = [];
  if (head(before) !== head(after)) {
    changes.push({ what: 'primary-head', target: before.path, before: head(before), after: head(after) });
  }
  if (before.files !== after.files) {
    changes.push({ what: 'primary-files', target: before.path, before: before.files, after: after.files });
  }
  return changes;
}

function refChanges(before: Around['refs'], after: Around['refs'], { branches }: OwnedByOthers): OutsideChange[] {
  if (!before || !after) {
    return [];
  }
  const isOthers = (name: string) => name.startsWith('refs/heads/') && branches.has(name.slice('refs/heads/'.length));
  const then = new Map(before.map(({ name, sha }) => [name, sha]));
  const now = new Map(after.map(({ name, sha }) => [name, sha]));
  return [...new Set([...then.keys(), ...now.keys()])]
    .filter((name) => then.get(name) !== now.get(name) && !isOthers(name))
    .map((name) => ({ what: 'ref', target: name, before: then.get(name) ?? null, after: now.get(name) ?? null }));
}

/** Settings that run programs for every user of git there; the harness's git does not read what was changed. */
function settingChanges(before: Around['settings'], after: Around['settings']): OutsideChange[] {
  if (!before || !after) {
    return [];
  }
  const then = new Map(before.map(({ name, digest }) => [name, digest]));
  const now = new Map(after.map(({ name, digest }) => [name, digest]));
  return [...new Set([...then.keys(), ...now.keys()])]
    .filter((name) => then.get(name) !== now.get(name))
    .map((name) => ({
      what: name.startsWith('hooks/') ? ('hook' as const) : ('repository-setting' as const),
      target: name,
      before: then.get(name) ?? null,
      after: now.get(name) ?? null,
    }));
}

function worktreeChanges(
  before: Around['worktrees'],
  after: Around['worktrees'],
  { paths }: OwnedByOthers,
): OutsideChange[] {
  const state = ({ headSha, branch }: Around['worktrees'][number]) => `${branch ?? 'detached'} ${headSha ?? ''}`;
  const then = new Map(before.map((worktree) => [worktree.path, state(worktree)]));
  const now = new Map(after.map((worktree) => [worktree.path, state(worktree)]));
  return [...new Set([...then.keys(), ...now.keys()])]
    .filter((path) => then.get(path) !== now.get(path) && !paths.has(path))
    .map((path) => ({ what: 'worktree', target: path, before: then.get(path) ?? null, after: now.get(path) ?? null }));
}
